#!/usr/bin/env python3
"""Random layers, losses, linear algebra and transforms, by tern and by PyTorch: values and gradients.

Cases are those of compare.py. PyTorch computes them in f64, from the numbers as tern's dtype holds them; gradients are
those of sums of the results times cosines, rounded to the results' dtypes, which tests/oracle/case.hpp tells. Layers
and losses are computed in f16 and bf16 as well (not through WebGPU), and held to what rounding to these costs. PyTorch
is no part of script/setup: install it yourself (its wheel for CPUs is enough), and name its folder in PYTHONPATH.
"""
import math
import sys
import warnings

import compare
from numpy_answers import HALVES, array_of

try:
    import numpy as np
    import torch
    import torch.nn.functional as F

    from torch_cases import FAMILIES
except ImportError as error:
    print(f"skipped: {error} (pip install torch, and NumPy as script/setup puts it into third_party/python)")
    sys.exit(77)

torch.set_num_threads(1)
warnings.simplefilter("ignore")  # of what PyTorch finds slow, or a window that is missing


class Given:
    """The operands of a case in f64, by name, made when they are asked for."""

    def __init__(self, case):
        self.case, self.operands = case, {}

    def __call__(self, name="x"):
        if name not in self.operands:
            # Of channels that are last in memory, PyTorch 2.15 gives wrong gradients of grouped weights in f64.
            x = np.ascontiguousarray(array_of(self.case[name])).reshape(array_of(self.case[name]).shape)
            x = torch.tensor(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
            self.operands[name] = x.requires_grad_(True)
        return self.operands[name]

    def plain(self, name):
        if name not in self.case:
            return None
        x = array_of(self.case[name])
        return torch.tensor(x.astype(np.int64 if x.dtype.kind in "biu" else np.float64))

    def optional(self, name):
        return self(name) if name in self.case else None

    def of(self, **names):
        """Words of a call, with what the case says of them."""
        return {name: self.case.get(name, otherwise) for name, otherwise in names.items()}


def weighted(results, dtypes):
    """The sum whose gradients are compared, by factors as tern's results of these dtypes get them."""
    loss = 0
    for k, (y, dtype) in enumerate(zip(results, dtypes)):
        if not y.requires_grad:
            continue
        angle = (np.arange(y.numel()) * 0.7 + k).reshape(y.shape)

        def factor(values):
            return torch.tensor(values.astype(dtype if dtype.itemsize == 2 else np.float64).astype(np.float64))
        loss = loss + (y.real * factor(np.cos(angle))).sum()
        loss = loss + ((y.imag * factor(np.sin(angle))).sum() if y.is_complex() else 0)
    return loss


# ---- PyTorch's way of each operation: of Given, the results

def convolution(c):
    case, dims = c.case, c("x").dim() - 2
    padding, x = case["padding"], c("x")
    function = getattr(F, f"conv{dims}d")
    return function(x, c("weight"), c.optional("bias"), case["stride"], padding, case["dilation"], case["groups"])


def transposed(c):
    case = c.case
    function = getattr(F, f"conv_transpose{c('x').dim() - 2}d")
    return function(c("x"), c("weight"), c.optional("bias"), case["stride"], case["padding"], case["output_padding"],
                    case["groups"], case["dilation"])


def epilogue(c):
    case = c.case
    sums = F.conv2d(c("x"), c("weight"), None, case["stride"], case["padding"], case["dilation"], case["groups"])
    return torch.tanh(sums + c("bias")) + c("residual")


def max_pool(c):
    case = c.case
    return getattr(F, f"max_pool{c('x').dim() - 2}d")(c("x"), case["kernel"], case.get("stride"), case["padding"],
                                                      case["dilation"])


def avg_pool(c):
    case = c.case
    return getattr(F, f"avg_pool{c('x').dim() - 2}d")(c("x"), case["kernel"], case.get("stride"), case["padding"],
                                                      count_include_pad=case["count_padding"])


def interpolate(c):
    case, dims = c.case, c("x").dim() - 2
    mode = {"linear": ["linear", "bilinear", "trilinear"][dims - 1], "cubic": "bicubic"}.get(case["mode"], "nearest")
    words = {} if mode == "nearest" else {"align_corners": case["align_corners"], "antialias": case["antialias"]}
    return F.interpolate(c("x"), size=case["sizes"], mode=mode, **words)


def grid_sample(c):
    case = c.case
    return F.grid_sample(c("x"), c("grid"), {"linear": "bilinear"}.get(case["mode"], case["mode"]), case["padding"],
                         case["align_corners"])


def attention(c):
    case, q, k, v = c.case, c("q"), c("k"), c("v")
    rows, columns = q.shape[-2], k.shape[-2]
    i, j = torch.arange(rows)[:, None], torch.arange(columns)
    seen = torch.ones(q.shape[:-1] + (columns,), dtype=torch.bool)
    if case["causal"]:
        seen = seen & (j <= i + columns - rows)
    if "window" in case:
        seen = seen & ((i + columns - rows - j).abs() < case["window"])
    if "lengths" in case:
        seen = seen & (j < c.plain("lengths")[:, None, None, None])
    if "mask" in case:
        seen = seen & (c.plain("mask") > 0)
    scale = case.get("scale", 1 / math.sqrt(q.shape[-1]))
    formula = case.get("formula", "")
    if not formula and not case["logsumexp"]:
        return F.scaled_dot_product_attention(q, k, v, seen, scale=scale, enable_gqa=True)
    heads = q.shape[-3] // k.shape[-3]
    k, v = k.repeat_interleave(heads, -3), v.repeat_interleave(heads, -3)
    scores = scale * q @ k.transpose(-1, -2)
    if formula == "alibi":
        scores = scores - c("operand") * (i - j)
    elif formula == "bias":
        scores = scores + c("operand")
    elif formula == "softcap":
        scores = torch.tanh(scores / 3) * 3
    some = seen.any(-1, keepdim=True)
    filled = scores.masked_fill(~seen, -math.inf).masked_fill(~some, 0)
    results = [(torch.softmax(filled, -1) * some) @ v]
    if case["logsumexp"]:
        results.append(torch.logsumexp(scores.detach().masked_fill(~seen, -math.inf), -1))
    return results


def batch_norm(c):
    mean, variance = c.plain("mean"), c.plain("variance")
    y = F.batch_norm(c("x"), mean, variance, c.optional("weight"), c.optional("bias"), c.case["training"],
                     c.case["momentum"])
    return [y, mean, variance]


def kl_div(c):
    case = c.case
    reduction = "batchmean" if case["per_row"] and case["reduction"] == "mean" else case["reduction"]
    return F.kl_div(c("x"), c("y"), reduction=reduction, log_target=case["log_target"])


def labelled(function):
    def run(c):
        words = {"ignore_index": c.case.get("ignored", -100)}
        if function is F.cross_entropy:
            words["label_smoothing"] = c.case.get("smoothing", 0.0)
        return function(c("x"), c.plain("labels"), c.plain("weight"), reduction=c.case["reduction"], **words)
    return run


def reduced(function, **words):
    return lambda c: function(c("x"), c("y"), reduction=c.case["reduction"],
                              **{k: c.case[k] for k in words})


def binary(c):
    return F.binary_cross_entropy_with_logits(c("x"), c("y"), c.plain("weight"), reduction=c.case["reduction"],
                                              pos_weight=c.plain("positive_weight"))


def stft(c):
    case = c.case
    words = dict(hop_length=case["hop"], center=case["center"], normalized=case["normalized"],
                 onesided=case["onesided"], window=c.plain("window"))
    if case["op"] == "stft":
        pad = {"edge": "replicate"}.get(case["pad"], case["pad"])
        return torch.stft(c("x"), case["n"], pad_mode=pad, return_complex=True, **words)
    return torch.istft(c("x"), case["n"], length=case.get("length"), **words)


def one(function, *words):
    return lambda c: function(c("x"), **{w: c.case[w] for w in words if w in c.case})


def solve_triangular(c):
    return torch.linalg.solve_triangular(c("x"), c("y"), upper=c.case["upper"], left=c.case["left"],
                                         unitriangular=c.case["unit"])


def lstsq(c):
    return [torch.linalg.pinv(c("x")) @ c("y"), torch.linalg.matrix_rank(c("x")), torch.linalg.svdvals(c("x"))]


def cholesky(c):
    """With a diagonal that is real in its derivatives, too."""
    l = torch.linalg.cholesky(c("x"), upper=c.case["upper"])
    return l - 1j * torch.diag_embed(l.diagonal(dim1=-2, dim2=-1).imag) if l.is_complex() else l


def order_of(c):
    return {"inf": math.inf, "-inf": -math.inf}.get(c.case["norm"], c.case["norm"])


def transform(name, several):
    def run(c):
        words = {"norm": c.case.get("norm", "backward")}
        for ours, theirs in (("sizes", "s"), ("axes", "dim")) if several else (("n", "n"), ("axis", "dim")):
            if ours in c.case:
                words[theirs] = c.case[ours]
        return getattr(torch.fft, name)(c("x"), **words)
    return run


TORCH = {
    "linear": lambda c: F.linear(c("x"), c("weight"), c.optional("bias")),
    "embedding": lambda c: F.embedding(c.plain("indices"), c("weight")),
    "conv1d": convolution, "conv2d": convolution, "conv3d": convolution, "conv2d_epilogue": epilogue,
    "conv_transpose1d": transposed, "conv_transpose2d": transposed, "conv_transpose3d": transposed,
    "max_pool": max_pool, "avg_pool": avg_pool,
    "adaptive_avg_pool": lambda c: getattr(F, f"adaptive_avg_pool{c('x').dim() - 2}d")(c("x"), c.case["sizes"]),
    "unfold": lambda c: F.unfold(c("x"), c.case["kernel"], c.case["dilation"], c.case["padding"], c.case["stride"]),
    "fold": lambda c: F.fold(c("x"), c.case["sizes"], c.case["kernel"], c.case["dilation"], c.case["padding"],
                             c.case["stride"]),
    "interpolate": interpolate, "grid_sample": grid_sample, "attention": attention,
    "group_norm": lambda c: F.group_norm(c("x"), c.case["groups"], c.optional("weight"), c.optional("bias"),
                                         c.case["eps"]),
    "instance_norm": lambda c: F.instance_norm(c("x"), None, None, c.optional("weight"), c.optional("bias"),
                                               eps=c.case["eps"]),
    "batch_norm": batch_norm,
    "layer_norm": lambda c: F.layer_norm(c("x"), c("weight").shape, c("weight"), c("bias"), c.case["eps"]),
    "rms_norm": lambda c: F.rms_norm(c("x"), c("weight").shape, c("weight"), c.case["eps"]),
    "mse_loss": reduced(F.mse_loss), "l1_loss": reduced(F.l1_loss),
    "huber_loss": reduced(F.huber_loss, delta=1), "binary_cross_entropy_with_logits": binary,
    "nll_loss": labelled(F.nll_loss), "cross_entropy": labelled(F.cross_entropy), "kl_div": kl_div,
    "soft_cross_entropy": lambda c: F.cross_entropy(c("x"), c("y"), c.plain("weight"), reduction=c.case["reduction"],
                                                    label_smoothing=c.case["smoothing"]),
    "cosine_similarity": lambda c: F.cosine_similarity(c("x"), c("y"), c.case["axis"]),
    "stft": stft, "istft": stft,
    "inv": one(torch.linalg.inv), "det": one(torch.linalg.det),
    "expm": lambda c: torch.linalg.matrix_exp(c("x").contiguous()),
    "slogdet": lambda c: list(torch.linalg.slogdet(c("x"))),
    "pinv": one(torch.linalg.pinv), "svdvals": one(torch.linalg.svdvals), "eigvalsh": one(torch.linalg.eigvalsh),
    "cholesky": cholesky,
    "solve": lambda c: torch.linalg.solve(c("x"), c("y")),
    "solve_triangular": solve_triangular,
    "lstsq": lstsq,
    "matrix_norm": lambda c: torch.linalg.matrix_norm(c("x"), order_of(c), keepdim=c.case["keepdim"]),
    "vector_norm": lambda c: torch.linalg.vector_norm(c("x"), order_of(c), c.case["axes"], c.case["keepdim"]),
    "matrix_power": lambda c: torch.linalg.matrix_power(c("x"), c.case["n"]),
    "cond": lambda c: torch.linalg.cond(c("x"), order_of(c)),
}
TORCH.update({name: transform(name, name[-1] in "2n") for i in ("", "i") for r in ("", "r") for d in ("", "2", "n")
              for name in [f"{i}{r}fft{d}"]})


# Of the largest number's rounding to 16 bits, how many a result may be off: one for itself and one for the factors of
# its sum, twice that for gradients, which are sums of cotangents that were rounded. attention rounds probabilities and
# their gradients besides, whose errors add up over a row; adaptive_avg_pool rounds after each axis, both ways.
UNITS = {"attention": 8, "adaptive_avg_pool": 6}
IN_HALVES = ("convolving", "transposing", "pooling", "attending", "norming", "losing")


def with_or_without_gradients(family):
    def made(r):
        wide = r.dtypes
        if family.__name__ in IN_HALVES and "f64" in wide and r.often(0.4):
            r.dtypes = list(HALVES)
        case = {**family(r), "grad": r.often(0.7)}
        r.dtypes = wide
        return case
    made.__name__ = family.__name__
    return made


def half_of(case):
    """The 16-bit dtype of its operands, or nothing."""
    return next((v["dtype"] for v in case.values() if isinstance(v, dict) and v.get("dtype") in HALVES), None)


def as_numbers(x):
    """An array of a file, in which NumPy does not know bf16."""
    return x.view(HALVES["bf16"]) if x.dtype == np.dtype("V2") else x


def tolerance(case):
    single = half_of(case) or any(isinstance(v, dict) and v["dtype"] in ("f32", "c64") for v in case.values())
    eps = float(np.finfo(np.float32 if single else np.float64).eps)
    if case["op"].endswith("_norm") and case["op"] not in ("matrix_norm", "vector_norm"):
        return eps * 3000  # gradients of a few numbers that are near each other
    loose = ("cond", "pinv", "lstsq", "expm", "inv", "solve", "solve_triangular", "istft", "eigvalsh", "svdvals")
    return eps * (20000 if "operand" in case or case["op"] in loose else 500)


def judged(case, got):
    c = Given(case)
    try:
        results = TORCH[case["op"]](c)
    except (RuntimeError, ValueError, IndexError) as error:
        if "smaller than kernel size" in str(error):  # of a padded volume, which is large enough
            return None, True
        return (None if isinstance(got, str) else f"PyTorch refuses it: {error}"), True
    if isinstance(got, str):
        return f"tern refuses it: {got}", False
    want, got = results if isinstance(results, list) else [results], [as_numbers(a) for a in got]
    names = ["result"] * len(want)
    if case["grad"]:
        operands = sorted(c.operands.items())
        loss = weighted(want, [a.dtype for a in got])
        if isinstance(loss, int) or not loss.isfinite():  # a window of padding alone, whose maximum is -inf
            return None, False
        try:
            gradients = torch.autograd.grad(loss, [x for _, x in operands], allow_unused=True)
        except RuntimeError:  # cond's gradient is none of PyTorch's
            return None, True
        if case["op"] == "cholesky":  # tern's is Hermitian; of PyTorch's only that part counts
            gradients = [(g + g.mH) / 2 for g in gradients]
        want = want + [torch.zeros_like(x) if g is None else g for (_, x), g in zip(operands, gradients)]
        names += [f"the gradient by {name}" for name, _ in operands]
    if len(want) != len(got):
        return f"tern gives {len(got)} results, PyTorch {len(want)}", False
    for name, a, b in zip(names, got, want):
        b = b.resolve_conj().detach().numpy()
        if a.shape != b.shape:
            return f"{name} has shape {a.shape}, of PyTorch {b.shape}", False
        finite = np.abs(b[np.isfinite(b)]).max(initial=1)
        unit = {"bfloat16": 2.0 ** -8, "float16": 2.0 ** -11}.get(a.dtype.name, 0)
        rounding = UNITS.get(case["op"], 2 if name == "result" else 4) * unit * finite
        a = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
        if not np.allclose(a, b, 0, tolerance(case) * finite + rounding, equal_nan=True):
            return f"{name} is\n{a}\nof PyTorch\n{b}", False
    return None, False


if __name__ == "__main__":
    compare.main(__doc__, "PyTorch", [with_or_without_gradients(f) for f in FAMILIES], judged, lambda d:
                 ["f32"] if d.startswith("webgpu") else ["f32", "f64"], 2000)
