#!/usr/bin/env python3
"""Random linear algebra and Fourier transforms, by tern and by SciPy: values, products of factors, eigenvalues as sets.

Cases are those of compare.py. What is not unique (signs of vectors, orders of eigenvalues) is judged by what defines
it. Bounds are multiples of eps, of the sizes and, where the mathematics has it, of the condition number.
"""
import sys

import compare
from numpy_answers import COMPLEX, DTYPES, array_of

try:
    import numpy as np
    import scipy.fft
    import scipy.signal

    import scipy_linalg
    from scipy_linalg import Differs, condition, eps_of, is_true, mirrored, near, norm, plain, wide
except ImportError:
    print("skipped: Python has no scipy (script/setup puts it into third_party/python, for PYTHONPATH)")
    sys.exit(77)


# ---- transforms

def transform(name, several):
    def judge(case, got):
        x = array_of(case["x"])
        if name.startswith("rfft") and x.dtype.kind == "c":
            raise TypeError("complex")
        function = getattr(scipy.fft, name)
        if several:
            words = {w: case[w2] for w, w2 in (("s", "sizes"), ("axes", "axes")) if w2 in case}
        else:
            words = {"n": case.get("n"), "axis": case.get("axis", -1)}
        want = function(wide(x), norm=case.get("norm", "backward"), **words)
        single = x.dtype in (np.float32, np.complex64)
        is_true(got[0].dtype == (want.astype(np.complex64 if want.dtype.kind == "c" else np.float32) if single
                                 else want).dtype, f"dtype {got[0].dtype}")
        eps = np.finfo(x.dtype).eps
        near(wide(got[0]), want, 20 * eps * (1 + np.log2(max(1, want.size, x.size))) * max(norm(want), 1e-300))
    return judge


def window(case, got):
    want = scipy.signal.get_window(case["name"], case["n"], case["periodic"]) if case["n"] else np.zeros(0)
    near(wide(got[0]), want, 4 * np.finfo(got[0].dtype).eps)


def frequencies(name):
    def judge(case, got):
        want = getattr(scipy.fft, name)(case["n"], case["spacing"])
        near(wide(got[0]), want, 4 * np.finfo(got[0].dtype).eps * max(1, norm(want)))
    return judge


def convolved(function):
    def judge(case, got):
        a, b = wide(array_of(case["x"])), wide(array_of(case["y"]))
        batch = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
        rows = [function(u, v, case["mode"], "direct") for u, v in zip(
            np.broadcast_to(a, batch + a.shape[-1:]).reshape(-1, a.shape[-1]),
            np.broadcast_to(b, batch + b.shape[-1:]).reshape(-1, b.shape[-1]))]
        want = np.array(rows).reshape(batch + ((len(rows[0]),) if rows else got[0].shape[-1:]))
        eps = max(eps_of(case), eps_of(case, "y"))
        near(wide(got[0]), want, 20 * eps * (1 + np.log2(a.shape[-1] + b.shape[-1])) * max(1, norm(want)))
    return judge


def stft(case, got):
    x, n, hop = wide(array_of(case["x"])), case["n"], case["hop"]
    shape = wide(array_of(case["window"])) if "window" in case else np.ones(n)
    t = scipy.signal.ShortTimeFFT(shape, hop, 1.0, fft_mode="onesided" if case["onesided"] else "twosided",
                                  phase_shift=None)
    frames = 1 + (x.shape[-1] - n % 2) // hop
    padding = {"constant": "zeros", "edge": "edge", "reflect": "even"}[case["pad"]]
    want = t.stft(x, 0, frames, padding=padding)
    if case["normalized"]:
        want = want / np.sqrt(n)
    near(wide(got[0]), want, eps_of(case) * 40 * (1 + np.log2(n)) * max(1, norm(want)))


JUDGES = {
    **scipy_linalg.JUDGES, "window": window, "stft": stft,
    "fftshift": plain(lambda c: scipy.fft.fftshift(wide(array_of(c["x"])), c.get("axes")), 0),
    "ifftshift": plain(lambda c: scipy.fft.ifftshift(wide(array_of(c["x"])), c.get("axes")), 0),
    "fftfreq": frequencies("fftfreq"), "rfftfreq": frequencies("rfftfreq"),
    "convolve": convolved(scipy.signal.convolve), "correlate": convolved(scipy.signal.correlate),
}
JUDGES.update({f"{i}{r}fft{d}": transform(f"{i}{r}fft{d}", bool(d))
               for i in ("", "i") for r in ("", "r") for d in ("", "2", "n")})


# ---- random cases

def size(r):
    return r.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 32, 33, 40, 65] if r.often(0.3) else [1, 2, 3, 4, 5])


def batch(r):
    return r.choice([[], [], [], [1], [2], [3], [2, 2], [0], [5]])


def positive(r, n, shape, dtype):
    m = r.normal(shape + [n, n], dtype)
    return m @ np.conj(m.swapaxes(-1, -2)) / max(n, 1) + np.eye(n) * 0.5


def hermitian(r, op, n, shape, dtype):
    """Positive definite or not, of which one triangle counts."""
    upper = r.often(0.5) and op not in ("eigh", "eigvalsh")
    a = r.normal(shape + [n, n], dtype) if op in ("eigh", "eigvalsh") else positive(r, n, shape, dtype)
    if op in ("cholesky", "cholesky_ex") and n and r.often(0.15):
        k = r.randrange(n)
        a[..., k, k] -= 100  # leading minor k + 1
    a = np.round(mirrored(a, upper), 3)
    other = np.tril(np.ones((n, n)), -1) if upper else np.triu(np.ones((n, n)), 1)
    if r.often(0.5):
        a = np.where(other, 55, a)  # never read
    return {"op": op, "x": r.given(a, dtype), "upper": upper}


def right_side(r, a_shape, dtype, rows=None):
    """Of matrices with the same batch, a smaller one, or vectors."""
    shape, n = list(a_shape[:-2]), a_shape[-1] if rows is None else rows
    if r.often(0.25) and not shape:
        return r.floats([n], dtype)
    return r.floats(r.broadcastable(shape) + [n, r.choice([0, 1, 2, 3, 5] if r.often(0.1) else [1, 2, 3, 5])], dtype)


def general(r, n, shape, dtype, m=None):
    """Well conditioned, now and then graded."""
    m = n if m is None else m
    a = r.normal(shape + [m, n], dtype)
    if m == n:
        a = a + np.eye(n) * 2 * n ** 0.5
    if r.often(0.15) and m:
        a = a * np.array([10.0 ** -(i % 4) for i in range(m)])[:, None]
    return a


def solving(r):
    op = r.choice(["solve", "solve", "solve_ex", "lu_solve", "solve_triangular", "cholesky_solve", "inv", "det",
                   "slogdet", "expm", "matrix_power"])
    dtype, n, shape = r.choice(r.dtypes), size(r), batch(r)
    if op == "cholesky_solve":
        case = hermitian(r, op, n, shape, dtype)
        return {**case, "y": r.floats(r.broadcastable(shape) + [n, r.choice([1, 2, 5])], dtype)}
    a = general(r, n, shape, dtype)
    if op in ("solve", "inv", "det", "slogdet") and r.often(0.04) and n:
        a[..., r.randrange(n), :] = 0  # singular
    if op == "solve" and r.often(0.03):
        a = r.normal(shape + [n, n + 1], dtype)
    if op == "expm":
        a = r.normal(shape + [n, n], dtype) * r.choice([1e-3, 0.1, 0.5, 1, 3]) / max(n, 1) ** 0.5
    if op == "matrix_power":
        return {"op": op, "x": r.given(a / (1 + 2 * n ** 0.5), dtype), "n": r.randint(0, 7)}
    case = {"op": op, "x": r.given(a, dtype)}
    if op == "solve_triangular":
        left = r.often(0.6)
        k = r.choice([1, 2, 3, 5])
        a = general(r, n, shape, dtype)
        case["x"] = r.given(a / max(1, n) ** 0.5 + 2 * np.eye(n), dtype)
        b = r.broadcastable(shape) + ([n, k] if left else [k, n])
        return {**case, "y": r.floats(b, dtype), "left": left, "upper": r.often(0.5), "unit": r.often(0.3)}
    if op == "lu_solve":
        return {**case, "y": r.floats(shape + [n, r.choice([1, 2, 5])], dtype)}
    return {**case, "y": right_side(r, a.shape, dtype)} if op in ("solve", "solve_ex") else case


def structured(r, n, shape, dtype):
    """Projections, whose values are 0 and 1, permutations, and what has one value throughout or nearly."""
    kind = r.choice(["projection", "projection", "permutation", "unitary", "near one"])
    if kind == "permutation":
        return np.broadcast_to(np.eye(n)[r.sample(range(n), n)], shape + [n, n])
    q = np.linalg.qr(r.normal(shape + [n, n], dtype))[0]
    if kind == "projection":
        q = q[..., :r.randint(0, n)]
        return q @ np.conj(q.swapaxes(-1, -2))
    return q if kind == "unitary" else np.eye(n) + 1e-7 * q


def factoring(r):
    op = r.choice(["cholesky", "cholesky_ex", "lu", "lu_factor", "qr", "svd", "svdvals", "eigh", "eigvalsh", "eig",
                   "eigvals", "pinv", "lstsq", "matrix_rank"])
    dtype, n, shape = r.choice(r.dtypes), size(r), batch(r)
    if op in ("cholesky", "cholesky_ex", "eigh", "eigvalsh"):
        return hermitian(r, op, n, shape, dtype)
    m = n if op in ("eig", "eigvals") else size(r)
    a = r.normal(shape + [m, n], dtype)
    if m == n and op in ("lu", "qr", "svd", "svdvals", "eig", "eigvals") and r.often(0.3):
        a = structured(r, n, shape, dtype)
    if op in ("lu", "qr", "svd", "svdvals") and r.often(0.2):  # SciPy's eigenvalues of such are wrong
        a = a * 2.0 ** (r.choice([-1, 1]) * (900 if dtype in ("f64", "c128") else 100))
    if op in ("lu_factor",):
        a = general(r, n, shape, dtype, m)
    low = min(m, n) > 1 and op in ("qr", "lu", "svd", "svdvals", "pinv", "lstsq", "matrix_rank") and r.often(0.3)
    if low:
        k = r.randint(1, min(m, n) - 1)  # of whole numbers, so that the product is exact
        a = np.round(r.normal(shape + [m, k], dtype)) @ np.round(r.normal(shape + [k, n], dtype))
    case = {"op": op, "x": r.given(a, dtype)}
    if op in ("pinv", "lstsq", "matrix_rank") and (low or r.often(0.5)):
        case["rtol"] = 1e-4
        s = np.linalg.svd(a, compute_uv=False) if a.size else np.ones(1)
        ratio = s / np.maximum(s[..., :1], 1e-30)
        if ((ratio > 1e-6) & (ratio < 1e-2)).any():
            return factoring(r)
    if op == "lstsq":
        if m == 0 or n == 0 or (a.size and condition(a) > 1e3 and "rtol" not in case):
            return factoring(r)
        case["y"] = r.floats([m], dtype) if not shape and r.often(0.3) else r.floats(
            shape + [m, r.choice([1, 2, 3])], dtype)
    return {**case, "complete": r.often(0.5), "full_matrices": r.often(0.5)}


def measuring(r):
    op = r.choice(["matrix_norm", "vector_norm", "cond", "trace", "cross", "vecdot"])
    dtype = r.choice(r.dtypes)
    if op == "vector_norm":
        shape = r.sizes(1, 4)
        axes = r.sample(range(len(shape)), r.randint(0, len(shape)))
        p = r.choice([0, 0.5, 1, 2, 2, 3, 2.5, "inf", "-inf", -1, -2])
        if p in ("inf", "-inf"):
            shape = [max(n, 1) for n in shape]  # NumPy has a maximum of nothing, tern has none
        return {"op": op, "x": r.floats(shape, dtype), "norm": p, "axes": axes, "keepdim": r.often(0.5)}
    if op in ("cross", "vecdot"):
        shape = r.sizes(0, 3) + [3 if op == "cross" else r.randint(0, 9)]
        other = r.broadcastable(shape[:-1]) + shape[-1:]
        return {"op": op, "x": r.floats(shape, dtype), "y": r.floats(other, dtype)}
    m, n = size(r), size(r)
    if op == "trace":
        return {"op": op, "x": r.floats(batch(r) + [m, n], dtype), "n": r.randint(-m, n)}
    p = r.choice(["fro", "nuc", 2, -2, 1, -1, "inf", "-inf"])
    if op == "cond" and p not in (2, -2):
        m = n
    shape = batch(r)
    m, n = max(m, 1), max(n, 1)
    if op == "cond" and p not in (2, -2):
        a = general(r, n, shape, dtype)
    else:
        a = r.normal(shape + [m, n], dtype)
    return {"op": op, "x": r.given(a, dtype), "norm": p, "keepdim": r.often(0.5)}


LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 25, 30, 31, 32, 37, 49, 64, 97, 100, 101, 127, 128,
           210, 243, 251, 256, 289, 360, 509, 512]


def along_one(r):
    op = r.choice(["fft", "ifft", "rfft", "irfft"])
    dtype = r.choice(r.dtypes)
    if op == "rfft" and r.often(0.95):
        dtype = r.choice([d for d in r.dtypes if d in DTYPES])
    shape = r.sizes(0, 2)
    axis = r.randint(0, len(shape))
    shape.insert(axis, r.choice(LENGTHS if r.often(0.7) else LENGTHS[:12]))
    case = {"op": op, "x": r.floats(shape, dtype), "axis": axis - r.choice([0, len(shape)]),
            "norm": r.choice(["backward", "backward", "ortho", "forward"])}
    if op == "irfft" and shape[axis] == 1 or r.often(0.4):
        case["n"] = r.choice([0] if r.often(0.02) and op != "irfft" else LENGTHS)
    return case


def along_several(r):
    real, inverse, kind = r.choice(["", "r"]), r.choice(["", "i"]), r.choice(["2", "n", "n"])
    op = f"{inverse}{real}fft{kind}"
    dtypes = [d for d in r.dtypes if d in DTYPES] if real and not inverse else r.dtypes
    shape = [r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31]) for _ in range(r.randint(2, 3))]
    case = {"op": op, "norm": r.choice(["backward", "backward", "ortho", "forward"])}
    rank = len(shape)
    count = 2 if kind == "2" else r.randint(1, rank)
    if r.often(0.5):
        case["axes"] = [a - r.choice([0, rank]) for a in r.sample(range(rank), count)]
    if r.often(0.4) or (real and inverse):
        case["sizes"] = [r.choice([1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17]) for _ in range(count)]
    return {**case, "x": r.floats(shape, r.choice(dtypes))}


def around_transforms(r):
    op = r.choice(["fftshift", "ifftshift", "fftfreq", "rfftfreq", "window", "convolve", "convolve", "correlate",
                   "correlate", "stft", "stft"])
    dtype = r.choice(r.dtypes)
    real = "f64" if dtype in ("c128", "f64") and "f64" in r.dtypes else "f32"
    if op in ("fftshift", "ifftshift"):
        shape = r.sizes(1, 3)
        return {"op": op, "x": r.floats(shape, dtype), "axes": r.sample(range(len(shape)), r.randint(1, len(shape)))}
    if op in ("fftfreq", "rfftfreq"):
        return {"op": op, "n": r.choice(LENGTHS), "spacing": r.choice([1, 0.5, 0.1, 3]), "dtype": real}
    if op == "window":
        return {"op": op, "name": r.choice(["hann", "hamming", "blackman"]), "n": r.choice([0] + LENGTHS),
                "periodic": r.often(0.5), "dtype": real}
    if op == "stft":
        n = r.randint(2, 32)
        x = r.floats(r.sizes(0, 2) + [r.randint(n + 1, 90)], dtype)
        case = {"op": op, "x": x, "n": n, "hop": r.randint(1, n), "center": True, "normalized": r.often(0.3),
                "onesided": r.often(0.6) and dtype not in COMPLEX,
                "pad": r.choice(["constant", "edge", "reflect"])}
        if r.often(0.7):
            case["window"] = r.floats([n], real)
        return case
    shape = r.sizes(0, 2)
    other = r.broadcastable(shape)
    sizes = [r.choice([1, 2, 3, 4, 5, 8, 13, 40, 100]) for _ in range(2)]
    return {"op": op, "x": r.floats(shape + sizes[:1], dtype),
            "y": r.floats(other + sizes[1:], r.choice([dtype, real])), "mode": r.choice(["full", "same", "valid"])}


FAMILIES = [solving, solving, factoring, factoring, measuring, along_one, along_several, around_transforms]
REFUSES = (np.linalg.LinAlgError, ValueError, TypeError, IndexError, ZeroDivisionError)


def judged(case, got):
    refused = isinstance(got, str)
    try:
        with np.errstate(all="ignore"):
            JUDGES[case["op"]](case, [np.zeros(0)] * 3 if refused else got)
    except Differs as error:
        return (f"tern refuses it: {got}" if refused else str(error)), False
    except REFUSES as error:
        return (None if refused else f"SciPy refuses it: {type(error).__name__} {error}"), True
    return (f"tern refuses it: {got}" if refused else None), False


def dtypes(device):
    return ["f32", "c64"] if device.startswith("webgpu") else ["f32", "f64", "c64", "c128"]


if __name__ == "__main__":
    compare.main(__doc__, "SciPy", FAMILIES, judged, dtypes, 500)
