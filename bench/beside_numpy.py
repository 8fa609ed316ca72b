#!/usr/bin/env python3
"""tern beside NumPy, call by call in turn: a line for each, NumPy's processor time over tern's.

Processor time, because other programs may run beside it; one thread for both. Usage:
    TERN_NUM_THREADS=1 beside_numpy.py PROGRAM [NAME…]      PROGRAM: tern_beside_numpy, as it was built
"""
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROUNDS, N = 9, 1 << 22
dice = np.random.default_rng(1)
x = dice.standard_normal(N, np.float32)
arrays = dict(
    x=x, y=dice.standard_normal(N, np.float32), few=x > 1, edges=np.sort(dice.standard_normal(1000, np.float32)),
    whole=dice.integers(0, 1 << 16, N, np.int32), some=dice.integers(0, 1 << 16, 1000, np.int32),
    large=dice.standard_normal(1 << 24, np.float32), re=dice.standard_normal(N // 2, np.float32),
    im=dice.standard_normal(N // 2, np.float32), matrix=dice.standard_normal((2048, 2048), np.float32),
    places=dice.integers(0, 2048, (2048, 2048), np.int32))
y, few, edges, whole, some, large, matrix = (
    arrays[k] for k in ("y", "few", "edges", "whole", "some", "large", "matrix"))
z = (arrays["re"] + 1j * arrays["im"]).astype(np.complex64)
w = (arrays["im"] + 1j * arrays["re"]).astype(np.complex64)
positive, inside = np.abs(x) + np.float32(0.1), np.clip(x / 4, -0.99, 0.99)
block = x.reshape(32, 32, 64, 64)
places = arrays["places"].astype(np.int64)  # NumPy's own type of positions


def top(count):
    at = np.argpartition(large, large.size - count)[-count:]
    return at[np.argsort(-large[at], kind="stable")]


NUMPY = {name: lambda f=getattr(np, name): f(x) for name in (
    "expm1", "exp2", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor")}
NUMPY |= {name: lambda f=getattr(np, name): f(positive) for name in ("log", "log2", "log1p", "sqrt")}
NUMPY |= {name: lambda f=getattr(np, "arc" + name[1:]): f(inside) for name in ("asin", "atanh")}
NUMPY |= {name: lambda f=getattr(np, name): f(x, y) for name in ("hypot", "logaddexp", "multiply", "maximum")}
NUMPY |= {
    "atan": lambda: np.arctan(x), "asinh": lambda: np.arcsinh(x), "pow": lambda: np.power(positive, y),
    "atan2": lambda: np.arctan2(x, y), "fmod": lambda: np.fmod(x, positive), "divide": lambda: x / positive,
    "comparison": lambda: x < y,
    "exp": lambda: np.exp(x), "add": lambda: x + y, "complex abs": lambda: np.abs(z),
    "complex multiply": lambda: z * w, "complex conjugate multiply": lambda: z * np.conj(w),
    "complex divide": lambda: z / w, "complex square": lambda: np.square(z), "complex add": lambda: z + w,
    "complex exp": lambda: np.exp(z),
    "sum over rows": lambda: matrix.sum(1), "sum over columns": lambda: matrix.sum(0),
    "cumulative sum": lambda: np.cumsum(x), "logcumsumexp": lambda: np.logaddexp.accumulate(x),
    "fft of 2^21": lambda: np.fft.fft(z), "fft of 2048 x 1024": lambda: np.fft.fft(z.reshape(2048, 1024)),
    "fft2 of 1000 x 1000": lambda: np.fft.fft2(z[:10**6].reshape(1000, 1000)),
    "fft of 1000003": lambda: np.fft.fft(z[:1000003]), "rfft of 2^22": lambda: np.fft.rfft(x),
    "irfft of 2^22": lambda: np.fft.irfft(z, 1 << 22),
    "isin": lambda: np.isin(whole, some), "histogram": lambda: np.histogram(x, 100, (-4, 4)),
    "searchsorted": lambda: np.searchsorted(edges, x),
    "searchsorted, sorted values": lambda: np.searchsorted(edges, edges),
    "quantile of all": lambda: np.quantile(x, 0.3), "median of rows": lambda: np.median(matrix, 1),
    "argsort": lambda: np.argsort(x, kind="stable"), "sort": lambda: np.sort(x, kind="stable"),
    "top 100 of 2^24": lambda: top(100), "top 2^16 of 2^24": lambda: top(1 << 16), "unique": lambda: np.unique(whole),
    "permuted copy": lambda: np.ascontiguousarray(block.transpose(0, 2, 1, 3)),
    "transposed copy": lambda: np.ascontiguousarray(matrix.T),
    "take_along_axis": lambda: np.take_along_axis(matrix, places, 1),
    "sum over the middle": lambda: block.sum((1, 2)), "maximum over rows": lambda: matrix.max(1),
    "maximum over columns": lambda: matrix.max(0), "variance of rows": lambda: matrix.var(1, ddof=1),
    "argmax of rows": lambda: matrix.argmax(1), "uniforms": lambda: dice.random(N, np.float32),
    "normals": lambda: dice.standard_normal(N, np.float32),
    "bincount": lambda: np.bincount(whole), "take": lambda: np.take(x, some), "masked select": lambda: x[few],
}


def numpy_time(call, count):
    before = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - before) / count


def main():
    names = sys.argv[2:] or list(NUMPY)
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **arrays)
        file.flush()
        with subprocess.Popen([sys.argv[1], file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              bufsize=1) as tern:
            def tern_time(name, count):
                print(name, count, file=tern.stdin, flush=True)
                return float(tern.stdout.readline())

            print("| call | tern | NumPy | NumPy over tern (quartiles) |\n|---|---|---|---|")
            for name in names:
                count = max(1, int(0.05 / max(numpy_time(NUMPY[name], 1), tern_time(name, 1), 1e-7)))
                pairs = [(tern_time(name, count), numpy_time(NUMPY[name], count)) for _ in range(ROUNDS)]
                low, middle, high = statistics.quantiles([b / a for a, b in pairs], n=4)
                ours, theirs = (statistics.median(p[i] for p in pairs) * 1e3 for i in (0, 1))
                print(f"| {name} | {ours:.3g} ms | {theirs:.3g} ms | **{middle:.2f}** ({low:.2f} to {high:.2f}) |",
                      flush=True)
            tern.stdin.close()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    main()
