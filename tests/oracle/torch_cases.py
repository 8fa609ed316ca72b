"""Random cases of layers, losses, linear algebra and transforms, for compare_torch.py."""
import math

import numpy as np

from numpy_answers import array_of


def integers(r):
    return r.choice(["i32", "i64"]) if "f64" in r.dtypes else "i32"  # WebGPU has neither f64 nor i64


def per_axis(r, dims, choices):
    """A number an axis."""
    return [r.choice(choices) for _ in range(dims)]


def spaces(r, dims, low=1):
    most = {1: 20, 2: 11, 3: 6}[dims]
    return [r.randint(low, most) for _ in range(dims)]


def convolving(r):
    op = r.choice(["conv1d", "conv2d", "conv2d", "conv3d", "conv2d_epilogue"])
    dims, dtype = int(op[4]), r.choice(r.dtypes)
    groups = r.choice([1, 1, 1, 2, 3])
    ins, outs = r.choice([1, 1, 2, 3, 4]), r.choice([1, 1, 2, 3])
    if r.often(0.2):  # depthwise
        groups, ins, outs = r.choice([2, 3, 5, 8, 16, 32]), 1, r.choice([1, 1, 2])
    elif dims < 3 and r.often(0.15):  # what matrix units take
        groups, ins, outs = r.choice([1, 1, 2]), r.choice([16, 17, 32, 40]), r.choice([2, 16, 33])
    kernel = per_axis(r, dims, [1, 2, 3, 3, 4, 5] if dims < 3 else [1, 2, 3])
    dilation = per_axis(r, dims, [1, 1, 1, 2, 3])
    case = {"op": op, "groups": groups, "dilation": dilation}
    if r.often(0.25):
        case.update(padding="same", stride=[1] * dims)
        size = spaces(r, dims)
    else:
        case.update(padding=per_axis(r, dims, [0, 0, 1, 2, 3]), stride=per_axis(r, dims, [1, 1, 2, 3]))
        size = [max(n, d * (k - 1) + 1 - 2 * p) for n, d, k, p in zip(spaces(r, dims), dilation, kernel,
                                                                        case["padding"])]
    x = r.floats([r.choice([1, 2, 3]), ins * groups] + size, dtype)
    case.update(x=x, weight=r.floats([outs * groups, ins] + kernel, dtype))
    if r.often(0.6):
        case["bias"] = r.floats([outs * groups], dtype)
    if op == "conv2d_epilogue":
        case["bias"] = r.floats([outs * groups, 1, 1], dtype)
        if case["padding"] == "same":
            out = size
        else:
            out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in
                   zip(size, case["padding"], dilation, kernel, case["stride"])]
        case["residual"] = r.floats([x_shape(x)[0], outs * groups] + out, dtype)
    return case


def x_shape(case):
    return list(array_of(case).shape)


def transposing(r):
    dims, dtype = r.choice([1, 2, 2, 3]), r.choice(r.dtypes)
    groups, ins, outs = r.choice([1, 1, 2, 3]), r.choice([1, 2, 3]), r.choice([1, 2, 3])
    stride, dilation = per_axis(r, dims, [1, 1, 2, 3]), per_axis(r, dims, [1, 1, 2])
    kernel = per_axis(r, dims, [1, 2, 3, 4])
    padding = [r.randint(0, min(2, d * (k - 1))) for d, k in zip(dilation, kernel)]
    size = [max(n, 2 * p // s + 1) for n, p, s in zip(spaces(r, dims), padding, stride)]
    output = [r.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
    case = {"op": f"conv_transpose{dims}d", "groups": groups, "stride": stride, "padding": padding,
            "output_padding": output, "dilation": dilation,
            "x": r.floats([r.choice([1, 2]), ins * groups] + size, dtype),
            "weight": r.floats([ins * groups, outs] + kernel, dtype)}
    if r.often(0.6):
        case["bias"] = r.floats([outs * groups], dtype)
    return case


def pooling(r):
    op = r.choice(["max_pool", "avg_pool", "adaptive_avg_pool", "unfold", "fold"])
    dims, dtype = 2 if op in ("unfold", "fold") else r.choice([1, 2, 2, 3]), r.choice(r.dtypes)
    start = [r.choice([1, 2]), r.choice([1, 2, 3])]
    if op == "adaptive_avg_pool":
        return {"op": op, "x": r.floats(start + spaces(r, dims), dtype), "sizes": per_axis(r, dims, [1, 2, 3, 5, 7])}
    kernel = per_axis(r, dims, [1, 2, 3, 4])
    dilation = per_axis(r, dims, [1, 1, 2]) if op != "avg_pool" else [1] * dims
    padding = [r.randint(0, k // 2) for k in kernel]
    size = [max(n, d * (k - 1) + 1 - 2 * p) for n, d, k, p in zip(spaces(r, dims), dilation, kernel, padding)]
    case = {"op": op, "kernel": kernel, "dilation": dilation, "padding": padding, "count_padding": r.often(0.5)}
    if op in ("unfold", "fold") or r.often(0.6):
        case["stride"] = per_axis(r, dims, [1, 2, 3])
    if op == "fold":
        windows = math.prod((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in
                            zip(size, padding, dilation, kernel, case["stride"]))
        return {**case, "sizes": size, "x": r.floats([start[0], start[1] * math.prod(kernel), windows], dtype)}
    return {**case, "x": r.floats(start + size, dtype)}


def resampling(r):
    dims, dtype = r.choice([1, 2, 2, 2, 3]), r.choice(r.dtypes)
    mode = r.choice(["nearest", "linear", "linear", "cubic"])
    if mode == "cubic":
        dims = 2
    antialias = dims == 2 and mode != "nearest" and r.often(0.4)
    sizes = spaces(r, dims, 2 if antialias else 1)  # to a width of 1 PyTorch's has wrong results in each row
    return {"op": "interpolate", "x": r.floats([r.choice([1, 2]), r.choice([1, 3])] + spaces(r, dims), dtype),
            "sizes": sizes, "mode": mode,
            # Of both, PyTorch moves the corners.
            "align_corners": mode != "nearest" and not antialias and r.often(0.5),
            "antialias": antialias}


def gridding(r):
    dtype = r.choice(r.dtypes)
    n, (height, width), out = r.choice([1, 2]), spaces(r, 2), spaces(r, 2)
    return {"op": "grid_sample", "x": r.floats([n, r.choice([1, 3]), height, width], dtype),
            # No place is half way between two elements, or on one of them, but for the rounding of f32.
            "grid": r.given(r.normal([n] + out + [2]) * r.choice([0.5, 0.9, 3]) + 0.00037, dtype),
            "mode": r.choice(["nearest", "linear"]), "padding": r.choice(["zeros", "border", "reflection"]),
            "align_corners": r.often(0.5)}


def attending(r):
    dtype = r.choice(r.dtypes)
    batch, groups, share = r.choice([1, 2, 3]), r.choice([1, 1, 2]), r.choice([1, 1, 2, 3])
    heads, rows = groups * share, r.choice([1, 2, 3, 5, 8, 17, 33, 65])
    columns = rows if r.often(0.5) else r.choice([1, 2, 4, 7, 16, 40, 70])
    width, value = r.choice([1, 2, 4, 5, 8, 16, 33]), r.choice([1, 3, 8, 16])
    case = {"op": "attention", "causal": r.often(0.4), "logsumexp": r.often(0.2),
            "q": r.floats([batch, heads, rows, width], dtype), "k": r.floats([batch, groups, columns, width], dtype),
            "v": r.floats([batch, groups, columns, value], dtype)}
    full = [batch, heads, rows, columns]
    if r.often(0.3):
        case["scale"] = r.choice([0.1, 1, 0.7, -0.5])
    if r.often(0.25):
        case["window"] = r.choice([1, 2, 3, 10])
    if r.often(0.2):
        lengths = [r.randint(0, columns) for _ in range(batch)]
        case["lengths"] = {"shape": [batch], "dtype": integers(r),
                           "values": lengths}
    if r.often(0.3):
        case["mask"] = r.given((r.normal(full) > -0.5) * 1.0, "f32", False)
        if r.often(0.5):
            case["mask"] = r.given((r.normal([rows, columns]) > -0.5) * 1.0, "f32", False)
    if r.often(0.3):
        case["rows_at_once"] = r.choice([1, 2, 5, 16])
    formula = r.choice(["", "", "alibi", "softcap", "bias"])
    if formula:
        case["formula"] = formula
    if formula == "alibi":
        case["operand"] = r.floats([heads, 1, 1], dtype)
    if formula == "bias":
        case["operand"] = r.floats(r.broadcastable(full), dtype)
    return case


def norming(r):
    op = r.choice(["group_norm", "instance_norm", "batch_norm", "layer_norm", "rms_norm", "linear", "embedding"])
    dtype = r.choice(r.dtypes)
    eps = r.choice([1e-5, 1e-6, 1e-3])
    if op in ("layer_norm", "rms_norm"):
        shape = [r.randint(1, 6) for _ in range(r.randint(1, 3))] + [r.choice([3, 4, 8, 17, 40])]
        return {"op": op, "x": r.floats(shape, dtype), "weight": r.floats(shape[-1:], dtype),
                "bias": r.floats(shape[-1:], dtype), "eps": eps}
    if op == "linear":
        shape, out = [r.randint(1, 5) for _ in range(r.randint(1, 4))], r.randint(1, 9)
        case = {"op": op, "x": r.floats(shape, dtype), "weight": r.floats([out, shape[-1]], dtype)}
        return {**case, "bias": r.floats([out], dtype)} if r.often(0.6) else case
    if op == "embedding":
        count = r.randint(1, 9)
        shape = [r.randint(0, 5) for _ in range(r.randint(1, 3))]
        at = {"shape": shape, "dtype": "i32", "values": [r.randrange(count) for _ in range(math.prod(shape))]}
        return {"op": op, "indices": at, "weight": r.floats([count, r.randint(1, 8)], dtype)}
    groups = r.choice([1, 2, 3])
    channels = groups * r.choice([1, 2, 3])
    dims = r.choice([1, 2, 2, 3] if op == "instance_norm" else [0, 1, 2, 2, 3])
    space = [r.randint(2, 6) for _ in range(dims)]
    case = {"op": op, "x": r.floats([r.choice([2, 3]), channels] + space, dtype), "groups": groups, "eps": eps}
    if op == "group_norm" and channels // groups * math.prod(space) < 4:
        return norming(r)
    for name in ("weight", "bias"):
        if r.often(0.6):
            case[name] = r.floats([channels], dtype)
    if op == "batch_norm":
        case.update(training=r.often(0.5), momentum=r.choice([0.1, 0.3, 1.0]), mean=r.floats([channels], dtype),
                    variance=r.given(np.abs(r.normal([channels])) + 0.1, dtype))
        case.pop("eps")
    return case


def losing(r):
    op = r.choice(["mse_loss", "l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "nll_loss", "kl_div",
                   "cosine_similarity", "cross_entropy", "cross_entropy", "soft_cross_entropy"])
    dtype = r.choice(r.dtypes)
    shape = [r.randint(1, 6) for _ in range(r.randint(1, 3))]
    case = {"op": op, "reduction": r.choice(["mean", "sum", "none"])}
    if op in ("nll_loss", "cross_entropy", "soft_cross_entropy"):
        rows, classes = r.randint(1, 9), r.choice([1, 2, 3, 10, 33])
        case["x"] = r.floats([rows, classes], dtype, 2)
        if r.often(0.4):
            case["weight"] = r.given(np.abs(r.normal([classes])), dtype)
        if op != "nll_loss":
            case["smoothing"] = r.choice([0, 0, 0.1, 0.5])
        if op == "soft_cross_entropy":
            y = np.abs(r.normal([rows, classes]))
            return {**case, "y": r.given(y / y.sum(-1, keepdims=True), dtype)}
        labels = [r.randrange(classes) for _ in range(rows)]
        if r.often(0.4):
            case["ignored"] = r.choice([-1, -100, 0])
            labels = [case["ignored"] if i and r.often(0.3) else n for i, n in enumerate(labels)]
            if case["ignored"] == labels[0]:  # of no label PyTorch's mean is NaN, and tern's 0
                return losing(r)
        return {**case, "labels": {"shape": [rows], "dtype": integers(r), "values": labels}}
    case["x"] = r.floats(shape, dtype, 2)
    if op == "cosine_similarity":
        case.update(y=r.floats(shape, dtype), axis=r.randint(-len(shape), len(shape) - 1))
    elif op == "kl_div":
        y = np.abs(r.normal(shape)) + 0.05
        log = r.often(0.4)
        case.update(y=r.given(np.log(y) if log else y, dtype), log_target=log, per_row=r.often(0.4))
    elif op == "binary_cross_entropy_with_logits":
        case["y"] = r.given(np.array([r.choice([0, 1, round(r.random(), 3)]) for _ in range(math.prod(shape))]).reshape(
            shape), dtype)
        for name in ("weight", "positive_weight"):
            if r.often(0.3):
                case[name] = r.given(np.abs(r.normal(shape[-1:])), dtype)
    else:
        case["y"] = r.floats(shape, dtype)
        case["delta"] = r.choice([1.0, 0.3, 2.5])
    return case


def complex_of(dtype):
    return {"f32": "c64", "f64": "c128"}[dtype]


def transforming(r):
    op = r.choice(["fft", "ifft", "rfft", "irfft", "fft2", "irfft2", "rfftn", "irfftn", "fftn", "ifftn", "stft",
                   "stft", "istft", "istft"])
    real = r.choice(r.dtypes)
    dtype = real if "rfft" in op and not op.startswith("i") or r.often(0.5) else complex_of(real)
    norm = r.choice(["backward", "ortho", "forward"])
    if op in ("stft", "istft"):
        n = r.choice([4, 5, 8, 9, 16, 25, 32])
        hop = r.randint(1, max(1, n // 2))
        onesided = True if dtype == real else False
        case = {"op": op, "n": n, "hop": hop, "center": r.often(0.8) or op == "istft", "normalized": r.often(0.3),
                "onesided": onesided, "pad": r.choice(["constant", "reflect"] + (["edge"] if dtype == real else []))}
        if r.often(0.7) or op == "istft":
            case["window"] = r.given(np.abs(r.normal([n])) + 0.2, real)
        if op == "stft":
            return {**case, "x": r.floats([r.choice([1, 2, 3]), r.randint(n + 1, 80)], dtype)}
        frames = r.randint(3, 9)
        bins = n // 2 + 1 if onesided else n
        if r.often(0.4):
            case["length"] = r.randint(1, (frames - 1) * hop)
        if not onesided:
            return {**case, "onesided": True, "x": r.floats([2, n // 2 + 1, frames], complex_of(real))}
        return {**case, "x": r.floats([2, bins, frames], complex_of(real))}
    several = op[-1] in "2n"
    shape = [r.choice([2, 3, 4, 5, 6, 8, 9]) for _ in range(r.randint(2, 3))]
    case = {"op": op, "x": r.floats(shape, dtype), "norm": norm}
    if several:
        case["axes"] = [-2, -1] if r.often(0.5) else r.sample(range(len(shape)), 2)
        if r.often(0.5):
            case["sizes"] = [r.choice([2, 3, 4, 5, 6, 8, 9, 12]) for _ in range(2)]
    else:
        case["axis"] = r.randint(-len(shape), len(shape) - 1)
        if r.often(0.5):
            case["n"] = r.choice([2, 3, 4, 5, 6, 8, 9, 12])
    return case


def linear_algebra(r):
    op = r.choice(["inv", "det", "slogdet", "solve", "solve_triangular", "cholesky", "expm", "pinv", "svdvals",
                   "eigvalsh", "lstsq", "matrix_norm", "vector_norm", "matrix_power", "cond"])
    dtype = r.choice(r.dtypes)
    if r.often(0.5):
        dtype = complex_of(dtype)
    n, shape = r.choice([1, 2, 3, 4, 5, 6, 9]), r.choice([[], [2], [2, 2]])
    a = r.normal(shape + [n, n], dtype) + 2 * n ** 0.5 * np.eye(n)
    case = {"op": op}
    if op in ("cholesky", "eigvalsh"):
        m = r.normal(shape + [n, n], dtype)
        a = m @ np.conj(m.swapaxes(-1, -2)) / n + np.diag(np.arange(n) + 1.0)
        case["upper"] = op == "cholesky" and r.often(0.5)
    if op in ("pinv", "svdvals", "lstsq", "matrix_norm"):
        m = r.choice([1, 2, 3, 5, 7])
        a = r.normal(shape + [m, n], dtype) + 3 * np.eye(m, n) * (1 + np.arange(n))
    if op == "vector_norm":
        sizes = r.sizes(1, 3)
        sizes = [max(1, s) for s in sizes]
        return {"op": op, "x": r.floats(sizes, dtype), "axes": r.sample(range(len(sizes)), r.randint(1, len(sizes))),
                "norm": r.choice([0.5, 1, 2, 3, "inf", "-inf"]), "keepdim": r.often(0.5)}
    case["x"] = r.given(a, dtype)
    if op in ("matrix_norm", "cond"):
        case.update(norm=r.choice(["fro", "nuc", 2, -2, 1, -1, "inf", "-inf"]), keepdim=r.often(0.5))
    if op == "expm":
        case["x"] = r.given(a / n * r.choice([0.1, 1]), dtype)
    if op == "matrix_power":
        case["n"] = r.randint(1, 4)
        case["x"] = r.given(a / (4 * n ** 0.5), dtype)
    if op == "solve":
        case["y"] = r.floats(r.broadcastable(shape) + [n, r.choice([1, 2, 4])], dtype)
    if op == "lstsq":
        case["y"] = r.floats(shape + [a.shape[-2], r.choice([1, 2, 4])], dtype)
    if op == "solve_triangular":
        left, k = r.often(0.5), r.choice([1, 2, 4])
        case.update(upper=r.often(0.5), left=left, unit=r.often(0.3), x=r.given(a / n ** 0.5, dtype),
                    y=r.floats(shape + ([n, k] if left else [k, n]), dtype))
    return case


FAMILIES = [convolving, convolving, transposing, pooling, resampling, gridding, attending, attending, norming, losing,
            transforming, linear_algebra]
