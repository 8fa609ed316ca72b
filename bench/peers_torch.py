"""PyTorch as a peer of tern_bench (--torch). Reads requests as lines of JSON and answers each with one line:

{"hello": true}                                    -> {"version": …}
{"prepare": NAME}                                  -> {"peers": [{"library": …, "values": […]}…], "notes": […]}
{"measure": LIBRARY, "seconds": S, "processor_time": B}  -> {"seconds_per_call": …}

`prepare` drops what was prepared before. Usage: peers_torch.py THREADS [--compile] (torch.compile as a second peer).
"""
import json
import math
import sys
import time

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
ACTIVATIONS = {"gelu": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu}


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


def linear(parts, wrap):
    activation, dtype = ACTIVATIONS[parts[0]], DTYPES[parts[1]]
    m, k, n = (int(s) for s in parts[2].split("x"))
    a, b = pattern([m, k], dtype, 1), pattern([k, n], dtype, 2, 2 / math.sqrt(k))
    weight = b.T.contiguous()  # as torch.nn.Linear keeps it
    inputs = [a, weight, pattern([n], dtype, 3)]
    f = wrap(lambda x, w, bias: activation(F.linear(x, w, bias)))
    if parts[3] == "forward":
        return lambda: f(*inputs), lambda: sample(f(*inputs))
    for x in inputs:
        x.requires_grad_()
    both = with_gradients(f, inputs, pattern([m, n], dtype, 4))

    def values():
        both()
        d_a, d_b, d_bias = (inputs[i].grad.double() for i in range(3))
        return [x.item() for x in (d_a[0, -1], d_a[-1, -1], d_b[0, -1], d_bias[0], d_b[-1, -1], d_bias[-1])]

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


def step(_, wrap):
    x, labels = pattern([64, 64], torch.float32, 1, 0.5), torch.arange(64) % 10
    shapes = [([64, 128], 0.3), ([128], 0.1), ([64, 128], 0.3), ([128], 0.1), ([128, 10], 0.15), ([10], 0.1)]

    def fresh():
        p = [pattern(s, torch.float32, i + 2, scale).requires_grad_() for i, (s, scale) in enumerate(shapes)]
        optimizer = torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2)
        loss_of = wrap(lambda: F.cross_entropy(
            torch.addmm(p[5], F.silu(torch.addmm(p[1], x, p[0])) * torch.addmm(p[3], x, p[2]), p[4]), labels))

        def one():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of()
            loss.backward()
            optimizer.step()
            return loss

        return one

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


FAMILIES = {"matmul": matmul, "linear": linear, "gated": gated, "rows": rows, "step": step, "overhead": overhead}
MODES = {"PyTorch": lambda f: f}
prepared = {}


def prepare(name):
    prepared.clear()
    torch._dynamo.reset() if "torch.compile" in MODES else None
    family, *parts = name.split("/")
    answer = {"peers": [], "notes": []}
    for library, wrap in MODES.items():
        if library == "torch.compile" and family in ("matmul", "overhead"):
            continue  # one operation: there is nothing to fuse
        try:
            run, values = FAMILIES[family](parts, wrap)
            answer["peers"].append({"library": library, "values": values()})
            prepared[library] = [run, None]
        except Exception as e:
            answer["notes"].append(f"{library} left out: {type(e).__name__}: {str(e)[:200]}")
    return answer


def measure(library, seconds, processor_time):
    clock = time.process_time if processor_time else time.perf_counter
    entry = prepared[library]
    run = entry[0]

    def timed(calls):
        start = clock()
        for _ in range(calls):
            run()
        return (clock() - start) / calls

    if entry[1] is None:
        calls = 1
        run()
        while (each := timed(calls)) * calls < seconds / 8:
            calls *= 4
        entry[1] = max(1, math.ceil(seconds / each))
    timed(max(1, entry[1] // 10))
    return {"seconds_per_call": timed(entry[1])}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    if "--compile" in sys.argv[2:]:
        MODES["torch.compile"] = lambda f: torch.compile(f, dynamic=False)
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            answer = {"version": f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}"}
        elif "prepare" in request:
            answer = prepare(request["prepare"])
        else:
            answer = measure(request["measure"], request["seconds"], request["processor_time"])
        print(json.dumps(answer), flush=True)


main()
