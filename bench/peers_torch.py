"""PyTorch as a peer of tern_bench (--torch). Reads requests as lines of JSON and answers each with one line:

{"hello": true}                                    -> {"version": …, "copy_rate": bytes/s}
{"prepare": NAME} -> {"peers": [{"library": …, "values": […], "part": B}…], "notes": […]}
{"measure": LIBRARY, "seconds": S, "processor_time": B}  -> {"seconds_per_call": …}

`prepare` drops what was prepared before. A peer with "part" does a part of the work, and its values are not compared.
(Longer than other files: it has a counterpart of each of tern_bench's workloads.)
Usage: peers_torch.py THREADS DEVICE [--compile] (cpu or cuda; torch.compile as a second peer).
"""
import json
import math
import sys
import time

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
ACTIVATIONS = {"gelu": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "identity": lambda x: x}
CUDA = False


def pattern(shape, dtype, seed, scale=1.0):
    """The values of Buffer::pattern in data.cpp."""
    mask = 0xFFFFFFFF
    h = (torch.arange(math.prod(shape)) * 2654435761 + seed * 974634777) & mask
    h = h ^ (h >> 15)
    h = (h * 2246822519) & mask
    h = h ^ (h >> 13)
    return (((h >> 8).double() / (1 << 23) - 1) * scale).to(dtype).reshape(shape)


def sample(*tensors):
    """The positions of sample_positions in data.cpp."""
    values = []
    for tensor in tensors:
        flat = tensor.detach().reshape(-1)
        count = min(flat.numel(), 61)
        at = [0] if count == 1 else [j * (flat.numel() - 1) // (count - 1) for j in range(count)]
        values += flat[torch.tensor(at)].double().tolist()
    return values


def with_gradients(f, inputs, grad):
    def both():
        for x in inputs:
            x.grad = None
        f(*inputs).backward(grad)

    return both


def matmul(parts, wrap):
    dtype, sizes = DTYPES[parts[0]], [int(s) for s in parts[1].split("x")]
    *batch, m, k, n = sizes
    ta, tb = [c == "t" for c in parts[2]] if len(parts) > 2 else (False, False)
    a = pattern(batch + ([k, m] if ta else [m, k]), dtype, 1)
    b = pattern(batch + ([n, k] if tb else [k, n]), dtype, 2)
    a, b = a.mT if ta else a, b.mT if tb else b
    f = wrap(torch.matmul)
    return lambda: f(a, b), lambda: sample(f(a, b))


def linear_inputs(parts):
    dtype = DTYPES[parts[1]]
    m, k, n = (int(s) for s in parts[2].split("x"))
    b = pattern([k, n], dtype, 2, 2 / math.sqrt(k))
    # On a processor the weight as torch.nn.Linear keeps it, which is faster there.
    return pattern([m, k], dtype, 1), b if CUDA else b.T.contiguous(), pattern([n], dtype, 3)


def linear(parts, wrap):
    activation = ACTIVATIONS[parts[0]]
    inputs = linear_inputs(parts)
    f = wrap(lambda x, w, bias: activation(torch.addmm(bias, x, w) if CUDA else F.linear(x, w, bias)))
    if parts[3] == "forward":
        return lambda: f(*inputs), lambda: sample(f(*inputs))
    for x in inputs:
        x.requires_grad_()
    both = with_gradients(f, inputs, pattern([inputs[0].shape[0], inputs[2].shape[0]], DTYPES[parts[1]], 4))

    def values():
        both()
        d_a, d_w, d_bias = (x.grad.double() for x in inputs)
        d_b = d_w if CUDA else d_w.T
        return [x.item() for x in (d_a[0, -1], d_a[-1, -1], d_b[-1, 0], d_bias[0], d_b[-1, -1], d_bias[-1])]

    return both, values


def linear_part(parts):
    """The product alone, which a fused layer is held against."""
    a, b, _ = linear_inputs(parts)
    return lambda: a @ b, None


def swiglu(parts, wrap):
    dtype = DTYPES[parts[0]]
    m, d, h = (int(s) for s in parts[1].split("x"))
    x = pattern([m, d], dtype, 1)
    wg, wu = (pattern([d, h], dtype, seed, 2 / math.sqrt(d)) for seed in (2, 3))
    wd, grad = pattern([h, d], dtype, 4, 2 / math.sqrt(h)), pattern([m, d], dtype, 5)
    inputs = [x.requires_grad_() for x in (x, wg, wu, wd)]
    both = with_gradients(wrap(lambda x, wg, wu, wd: (F.silu(x @ wg) * (x @ wu)) @ wd), inputs, grad)

    def values():
        both()
        g = [x.grad for x in inputs]
        at = [g[0][-1, -1]]
        for j in (0, -1):
            at += [g[1][-1, j], g[2][-1, j], g[3][j, 0]]
        return [x.item() for x in at]

    return both, values


def gated(parts, wrap):
    activation, dtype = ACTIVATIONS[parts[0].removesuffix("_mul")], DTYPES[parts[1]]
    shape = [int(s) for s in parts[2].split("x")]
    inputs = [pattern(shape, dtype, 1, 4), pattern(shape, dtype, 2)]
    f = wrap(lambda a, b: activation(a) * b)
    if parts[3] == "forward":
        return lambda: f(*inputs), lambda: sample(f(*inputs))
    for x in inputs:
        x.requires_grad_()
    both = with_gradients(f, inputs, pattern(shape, dtype, 3))
    return both, lambda: (both(), sample(inputs[0].grad, inputs[1].grad))[1]


def rows(parts, wrap):
    x = pattern([int(s) for s in parts[2].split("x")], DTYPES[parts[1]], 1, 4 if parts[0] == "softmax" else 1)
    if parts[0] == "softmax":
        f = wrap(lambda t: torch.softmax(t, 1))
    else:
        kind, axis = parts[0].split("_")
        reduce = {"sum": torch.sum, "mean": torch.mean}[kind]
        f = wrap(reduce if axis == "all" else lambda t: reduce(t, int(axis[-1])))
    return lambda: f(x), lambda: sample(f(x))


def matrices(parts, wrap):
    dtype, (count, n) = DTYPES[parts[1]], [int(s) for s in parts[2].split("x")]
    a = pattern([count, n, n], dtype, 1) * (0.5 / n) + torch.eye(n, dtype=dtype)
    b = pattern([count, n], dtype, 2)
    linalg = torch.linalg
    f = wrap({"inverse": linalg.inv, "cholesky": linalg.cholesky, "det": linalg.det,
              "solve": lambda t: linalg.solve(t, b), "qr": lambda t: linalg.qr(t)[1].diagonal(dim1=-2, dim2=-1).abs(),
              "eigh": lambda t: linalg.eigh(t)[0], "svd": lambda t: linalg.svd(t)[1]}[parts[0]])
    return lambda: f(a), lambda: sample(f(a))


def transforms(parts, wrap):
    way, dtype, (lines, n) = parts[0], DTYPES[parts[1]], [int(s) for s in parts[2].split("x")]
    given = n // 2 + 1 if way == "irfft" else n
    x = pattern([lines, n], dtype, 1) if way == "rfft" else torch.view_as_complex(pattern([lines, given, 2], dtype, 1))
    call = getattr(torch.fft, way)
    f = wrap((lambda t: call(t, n)) if way == "irfft" else call)
    return lambda: f(x), lambda: sample(f(x) if way == "irfft" else torch.view_as_real(f(x)))


def digits(wrap, graph):
    x, labels = pattern([64, 64], torch.float32, 1, 0.5), torch.arange(64) % 10
    shapes = [([64, 128], 0.3), ([128], 0.1), ([64, 128], 0.3), ([128], 0.1), ([128, 10], 0.15), ([10], 0.1)]
    p = [pattern(s, torch.float32, i + 2, scale).requires_grad_() for i, (s, scale) in enumerate(shapes)]
    loss = wrap(lambda: F.cross_entropy(
        torch.addmm(p[5], F.silu(torch.addmm(p[1], x, p[0])) * torch.addmm(p[3], x, p[2]), p[4]), labels))
    return p, torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, capturable=graph), loss


def mlp(wrap, _):
    x, labels = pattern([64, 784], torch.float32, 1, 0.5), torch.arange(64) % 10
    shapes = [([784, 256], 0.1), ([256], 0.1), ([256, 10], 0.2), ([10], 0.1)]
    p = [pattern(s, torch.float32, i + 2, scale).requires_grad_() for i, (s, scale) in enumerate(shapes)]
    gelu = ACTIVATIONS["gelu"]
    loss = wrap(lambda: F.cross_entropy(torch.addmm(p[3], gelu(torch.addmm(p[1], x, p[0])), p[2]), labels))
    return p, torch.optim.SGD(p, lr=1e-2), loss


def one_step(parameters, optimizer, loss_of):
    def one():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return one


def as_graph(parameters, optimizer, loss_of):
    """One step as a CUDA graph; its warming up is undone."""
    one = one_step(parameters, optimizer, loss_of)
    start = [p.detach().clone() for p in parameters]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            one()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = one()
    with torch.no_grad():
        for p, first in zip(parameters, start):
            p.copy_(first)
            for state in optimizer.state.get(p, {}).values():
                state.zero_()

    def replay():
        graph.replay()
        return loss

    replay.keeps = one  # a graph does not hold what it reads: inputs, labels, parameters
    return replay


def step(parts, wrap, graph=False):
    make = digits if parts[0].startswith("digits") else mlp
    fresh = lambda: (as_graph if graph else one_step)(*make(wrap, graph))

    def values():
        one = fresh()
        return [one().item() for _ in range(3)]

    return fresh(), values


def overhead(parts, wrap):
    x, y = pattern([8], torch.float32, 1), pattern([8], torch.float32, 2)
    f = wrap(torch.mul)
    if parts[0] != "op":
        x.requires_grad_(), y.requires_grad_()
    if parts[0] != "recorded_and_backward":
        return lambda: f(x, y), lambda: sample(f(x, y))
    both = with_gradients(f, [x, y], torch.ones(8))
    return both, lambda: (both(), sample(x.grad, y.grad))[1]


def cliffs(parts, wrap):
    """What workloads_cliffs.cpp does, by name; there is told which results are not compared."""
    name, dtype = parts[0], DTYPES[parts[1]]
    many, side, wide, points, batches = 1 << 24, 4096, 8192, 1 << 22, 100_000
    x = lambda *shape, seed=1: pattern(list(shape), dtype, seed)
    at = lambda count, bound: torch.arange(count) * 7919 % bound
    permuted = lambda t: t.permute(3, 1, 0, 2)

    def unary(f, *shape):
        t = x(*shape)
        return lambda: f(t)

    def product(a, b, transposed=False):
        p, q = x(*a), x(*b, seed=2)
        p = p.mT if transposed else p
        return lambda: p @ q

    def square(n):
        return product([batches, n, n], [batches, n, n])

    def row_layer(p, w, b):
        return lambda: torch.nn.functional.silu(torch.addmm(b, p, w))

    def spread(shape, bound):
        """The positions of scattered_positions in workloads_cliffs.cpp."""
        return ((pattern(shape, torch.float64, 9) + 1) / 2 * bound).long()

    def scattered(size, count, *width, index=None):
        to, source = torch.zeros(size, *width, dtype=dtype), x(count, *width)
        index = at(count, size) if index is None else index
        return lambda: to.index_add(0, index, source)

    def scattered_within(axis):
        to, source, index = torch.zeros(side, side, dtype=dtype), x(side, side), spread([side, side], side)
        return lambda: to.scatter_add(axis, index, source)

    def gathered(axis):
        t, index = x(side, side), spread([side, side], side)
        return lambda: t.gather(axis, index)

    def taken():
        t, index = x(wide, wide), spread([wide], wide)
        return lambda: t.index_select(0, index)

    def selected():
        t, mask = x(many), x(many, seed=2) > 0
        return lambda: t.masked_select(mask)

    def concatenated():
        all_parts = [x(1000, seed=i) for i in range(256)]
        return lambda: torch.cat(all_parts)

    def on_points(f, backward):
        p, w = x(points, 3), x(3, seed=2)
        f = wrap(f)
        if not backward:
            return lambda: f(p, w)
        return with_gradients(f, [p.requires_grad_(), w.requires_grad_()], x(points, 3, seed=3))

    scaled, of_length_1 = lambda p, w: p * w, lambda p, w: p / torch.sqrt((p * p).sum(-1, True) + 1e-6) * w
    makers = {
        "rand": lambda: lambda: torch.rand(many, dtype=dtype),
        "randn": lambda: lambda: torch.randn(many, dtype=dtype),
        "square": lambda: unary(lambda t: t.pow(2), many),
        "remainder": lambda: unary(lambda t: t % 0.7, many),
        "argmax": lambda: unary(torch.argmax, many),
        "sort": lambda: unary(lambda t: torch.sort(t, stable=True)[0], many),
        "sort_rows": lambda: unary(lambda t: torch.sort(t, dim=1, stable=True)[0], side, side),
        "argsort": lambda: unary(lambda t: torch.argsort(t, stable=True), many),
        "topk": lambda: unary(lambda t: torch.topk(t, 10)[0], many),
        "topk_rows": lambda: unary(lambda t: torch.topk(t, 10, dim=1)[0], side, side),
        "quantile": lambda: unary(lambda t: torch.quantile(t, 0.3), many),
        "median": lambda: unary(torch.median, many),
        "cumsum_columns": lambda: unary(lambda t: t.cumsum(0), 1 << 20, 4),
        "cumsum_line": lambda: unary(lambda t: t.cumsum(0), wide * wide),
        "scatter_rows": lambda: scattered(50_304, 16_384, 768),
        "scatter_to_1000_rows": lambda: scattered(1000, wide, wide, index=spread([wide], 1000)),
        "scatter_few": lambda: scattered(100, 1 << 21),
        "scatter_many": lambda: scattered(1 << 21, 1 << 21, index=spread([1 << 21], 1 << 21)),
        "scatter_columns": lambda: scattered_within(0),
        "scatter_lines": lambda: scattered_within(1),
        "take_rows": taken,
        "gather_columns": lambda: gathered(0),
        "gather_lines": lambda: gathered(1),
        "masked_select": selected,
        "concatenate": concatenated,
        "product_2x2": lambda: square(2),
        "product_4x4": lambda: square(4),
        "product_4x4_transposed": lambda: product([batches, 4, 4], [batches, 4, 4], True),
        "product_4x4_shared": lambda: product([batches, 4, 4], [4, 4]),
        "product_8x8": lambda: square(8),
        "product_16x16": lambda: square(16),
        "product_3x3x1": lambda: product([batches, 3, 3], [batches, 3, 1]),
        "product_3x3x1_more": lambda: product([10 * batches, 3, 3], [10 * batches, 3, 1]),
        "product_3x3_vector": lambda: product([3, 3], [batches, 3, 1]),
        "matrix_vector": lambda: product([side, side], [side, 1]),
        "vector_matrix": lambda: product([1, side], [side, side]),
        "rows_2_matrix": lambda: product([2, side], [side, side]),
        "rows_4_matrix": lambda: product([4, side], [side, side]),
        "rows_8_matrix": lambda: product([8, side], [side, side]),
        "rows_16_matrix": lambda: product([16, side], [side, side]),
        "rows_2_matrix_transposed": lambda: (lambda p, w: lambda: p @ w.t())(x(2, side), x(side, side, seed=2)),
        "row_matrix_bias_silu": lambda: row_layer(x(1, side), x(side, side, seed=2), x(side, seed=3)),
        "outer_product": lambda: product([side, 1], [1, side]),
        "rows_of_768_scaled": lambda: (lambda p, w: lambda: p * w)(x(points // 256, 768), x(768, seed=2)),
        "rows_of_3_scaled": lambda: on_points(scaled, False),
        "rows_of_3_scaled_both": lambda: on_points(scaled, True),
        "rows_of_3_normalized": lambda: on_points(of_length_1, False),
        "rows_of_3_normalized_both": lambda: on_points(of_length_1, True),
        "copy": lambda: unary(torch.clone, many),
        "transposed_copy": lambda: unary(lambda t: t.T.contiguous(), side, side),
        "transposed_copy_8192": lambda: unary(lambda t: t.T.contiguous(), wide, wide),
        "permuted_copy_heads": lambda: unary(lambda t: t.transpose(1, 2).contiguous(), 64, 32, 128, 64),
        "permuted_copy_uneven": lambda: unary(lambda t: permuted(t).contiguous(), 64, 32, 128, 64),
        "permuted_copy": lambda: unary(lambda t: permuted(t).contiguous(), 64, 64, 64, 64),
        "permuted_sum": lambda: unary(lambda t: permuted(t).sum(), 64, 64, 64, 64),
    }
    run = makers[name]()
    return run, lambda: sample(run()) if not name.endswith("_both") else []


FAMILIES = {"matmul": matmul, "linear": linear, "gated": gated, "rows": rows, "matrices": matrices, "fft": transforms,
            "swiglu": swiglu, "step": step,
            "overhead": overhead, "cliffs": cliffs}
COMPILED = False
prepared = {}


def ways(family, parts):
    """Names of PyTorch's ways to do a workload, each with what makes it: (run, values)."""
    plain, compiled = lambda f: f, lambda f: torch.compile(f, dynamic=False)
    make = FAMILIES[family]
    if CUDA and family == "step" and parts[0].endswith("_replayed"):
        found = {"CUDA graph": lambda: make(parts, plain, True)}
        if COMPILED:
            found["CUDA graph, compiled"] = lambda: make(parts, compiled, True)
        return found
    found = {"PyTorch": lambda: make(parts, plain)}
    if COMPILED and family not in ("matmul", "overhead"):  # one operation: there is nothing to fuse
        found["torch.compile"] = lambda: make(parts, compiled)
    return found


def prepare(name):
    prepared.clear()
    if COMPILED:
        torch._dynamo.reset()
    family, *parts = name.split("/")
    answer = {"peers": [], "notes": []}
    if family not in FAMILIES:
        return answer  # it has no such thing, as fits/
    found = ways(family, parts)
    if CUDA and family == "linear" and parts[3] == "forward":
        found["PyTorch, product"] = lambda: linear_part(parts)
    for library, make in found.items():
        try:
            run, values = make()
            answer["peers"].append({"library": library, "values": values() if values else [], "part": not values})
            prepared[library] = [run, None]
        except Exception as e:
            answer["notes"].append(f"{library} left out: {type(e).__name__}: {str(e)[:200]}")
    return answer


def settle():
    if CUDA:
        torch.cuda.synchronize()


def measure(library, seconds, processor_time):
    clock = time.process_time if processor_time else time.perf_counter
    entry = prepared[library]
    run = entry[0]

    def timed(calls):
        settle()
        start = clock()
        for _ in range(calls):
            run()
        settle()
        return (clock() - start) / calls

    if entry[1] is None:
        calls = 1
        run()
        while (each := timed(calls)) * calls < seconds / 8:
            calls *= 4
        entry[1] = max(1, math.ceil(seconds / each))
    timed(max(1, entry[1] // 10))
    return {"seconds_per_call": timed(entry[1])}


def copy_rate():
    """The best of several copies of 512 MiB on the device."""
    if not CUDA:
        return 0
    x = torch.ones(1 << 27)
    y = torch.empty_like(x)
    best = 0
    for _ in range(7):
        settle()
        start = time.perf_counter()
        for _ in range(50):
            y.copy_(x)
        settle()
        best = max(best, 50 * 2 * 4 * x.numel() / (time.perf_counter() - start))
    return best


def version():
    unit = torch.cuda.get_device_name() if CUDA else torch.backends.cpu.get_cpu_capability()
    return f"{torch.__version__} {unit}"


def main():
    global CUDA, COMPILED
    torch.set_num_threads(int(sys.argv[1]))
    COMPILED, CUDA = "--compile" in sys.argv[3:], sys.argv[2].startswith("cuda")
    if CUDA:
        torch.set_default_device(sys.argv[2])
    elif sys.argv[2] != "cpu":
        sys.exit(f"PyTorch has no device {sys.argv[2]}")
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            answer = {"version": version(), "copy_rate": copy_rate()}
        elif "prepare" in request:
            answer = prepare(request["prepare"])
        else:
            answer = measure(request["measure"], request["seconds"], request["processor_time"])
        print(json.dumps(answer), flush=True)


main()
