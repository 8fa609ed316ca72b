#!/usr/bin/env python3
"""tern beside NumPy, PyTorch (where Python has it), Eigen (where it was built) and loops by hand, call by call in turn.

A line for each call: its time, and every peer's time over tern's, above 1 where tern is faster. Processor time and one
thread for all, because other programs may run beside it; with --threads 2 the clock's time and as many threads for tern
and PyTorch (NumPy and Eigen's expressions know of one). With --cache arrays of 2^16 elements instead of 2^22. Usage:
    beside_numpy.py FOLDER [--threads N] [--cache] [NAME…]
FOLDER is where tern_beside_numpy and tern_beside_eigen were built.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

ROUNDS, N = 9, 1 << (16 if "--cache" in sys.argv else 22)
dice = np.random.default_rng(1)
x = dice.standard_normal(N, np.float32)
arrays = dict(
    x=x, y=dice.standard_normal(N, np.float32), few=x > 1, edges=np.sort(dice.standard_normal(1000, np.float32)),
    whole=dice.integers(0, 1 << 16, N, np.int32), some=dice.integers(0, 1 << 16, 1000, np.int32),
    large=dice.standard_normal(1 << 24, np.float32), re=dice.standard_normal(N // 2, np.float32),
    im=dice.standard_normal(N // 2, np.float32), matrix=dice.standard_normal((2048, 2048), np.float32),
    places=dice.integers(0, 2048, (2048, 2048), np.int32), bytes=dice.integers(0, 256, N, np.uint8),
    more=dice.integers(0, 256, N, np.uint8))
y, few, edges, whole, some, large, matrix = (
    arrays[k] for k in ("y", "few", "edges", "whole", "some", "large", "matrix"))
z = (arrays["re"] + 1j * arrays["im"]).astype(np.complex64)
w = (arrays["im"] + 1j * arrays["re"]).astype(np.complex64)
positive, inside = np.abs(x) + np.float32(0.1), np.clip(x / 4, -0.99, 0.99)
block = x.reshape((16, 16, 16, 16) if N == 1 << 16 else (32, 32, 64, 64))
places = arrays["places"].astype(np.int64)  # NumPy's own type of positions


bytes_of, more = arrays["bytes"], arrays["more"]
far, halves, tens, fours = x * np.float32(1e8), x.astype(np.float16), np.abs(x) * 20, x.reshape(-1, 4)
column, pair, turned = x[:N // 4].reshape(-1, 1), x[:2].reshape(1, 2), matrix.copy().T
permuted, rows, at_rows = block.transpose(3, 1, 0, 2), x.reshape(-1, 64), whole[:N // 64]


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
    "complex multiply's gradients": lambda: (z * np.conj(w), z * np.conj(z)),  # by hand
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

NUMPY |= {
    "sort of u8": lambda: np.sort(bytes_of), "sort of i32": lambda: np.sort(whole),
    "argsort of i32": lambda: np.argsort(whole, kind="stable"), "f32 to f16": lambda: x.astype(np.float16),
    "f16 to f32": lambda: halves.astype(np.float32), "f32 to u8": lambda: tens.astype(np.uint8),
    "add of u8": lambda: bytes_of + more, "multiply of u8": lambda: bytes_of * more,
    "sum of u8": lambda: bytes_of.sum(dtype=np.int64), "sin at 1e8": lambda: np.sin(far),
    "square by pow": lambda: np.power(x, 2), "remainder by 0.7": lambda: np.remainder(x, np.float32(0.7)),
    "transposed += 1": lambda: np.add(turned, 1, out=turned), "maximum of rows of 4": lambda: fours.max(1),
    "cumulative sum of 4 columns": lambda: np.cumsum(fours, 0), "mean of a permuted view": lambda: permuted.mean(),
    "column times row of 2": lambda: column @ pair, "top 10 of 2^24": lambda: top(10),
    "sums by index of rows": lambda: np.add.at(np.zeros((1 << 16, 64), np.float32), at_rows, rows),
    "sums by index": lambda: np.bincount(whole, x, 1 << 16),
    "split in 1000, with gradient": lambda: [2 * part for part in np.split(x[:64000], 1000)],  # by hand
}


def torch_cliffs(t):
    tx, tb, tmore, whole32 = t["x"], t["bytes"], t["more"], t["whole"]
    tfar, thalf, ttens, tfours, tcolumn, tpair, trows = map(
        torch.from_numpy, (far, halves, tens, fours, column, pair, rows))
    view, line = t["matrix"].clone().t(), tx[:64000].clone().requires_grad_()
    at, at_each = t["whole"][:N // 64].long(), whole32.long()
    tpermuted = tx.view(block.shape).permute(3, 1, 0, 2)

    def split():
        with torch.enable_grad():
            total = sum(part.square().sum() for part in line.split(64))
            torch.autograd.grad(total, line)

    return {
        "sort of u8": lambda: torch.sort(tb), "sort of i32": lambda: torch.sort(whole32),
        "argsort of i32": lambda: torch.argsort(whole32, stable=True), "f32 to f16": lambda: tx.half(),
        "f16 to f32": lambda: thalf.float(), "f32 to u8": lambda: ttens.byte(), "add of u8": lambda: tb + tmore,
        "multiply of u8": lambda: tb * tmore, "sum of u8": lambda: tb.sum(), "sin at 1e8": lambda: tfar.sin(),
        "square by pow": lambda: torch.pow(tx, 2), "remainder by 0.7": lambda: torch.remainder(tx, 0.7),
        "transposed += 1": lambda: view.add_(1), "maximum of rows of 4": lambda: tfours.amax(1),
        "cumulative sum of 4 columns": lambda: tfours.cumsum(0), "mean of a permuted view": lambda: tpermuted.mean(),
        "column times row of 2": lambda: tcolumn @ tpair, "top 10 of 2^24": lambda: torch.topk(t["large"], 10),
        "sums by index of rows": lambda: torch.zeros(1 << 16, 64).index_add_(0, at, trows),
        "sums by index": lambda: torch.zeros(1 << 16).index_add_(0, at_each, tx),
        "split in 1000, with gradient": split,
    }


def torch_transforms(tx, tz):
    lines, square, prime = tz.view(-1, 1024), tz[:10**6], tz[:1000003]
    square = square.view(1000, 1000) if square.numel() == 10**6 else square  # --cache has no such array
    fft, double = torch.fft, 2 * tz.numel()
    return {
        "fft of 2^21": lambda: fft.fft(tz), "fft of 2048 x 1024": lambda: fft.fft(lines),
        "fft2 of 1000 x 1000": lambda: fft.fft2(square), "fft of 1000003": lambda: fft.fft(prime),
        "rfft of 2^22": lambda: fft.rfft(tx), "irfft of 2^22": lambda: fft.irfft(tz, double),
    }


def torch_calls():
    t = {name: torch.from_numpy(a) for name, a in arrays.items()}
    tx, ty, tm = t["x"], t["y"], t["matrix"]
    tz, tw, tp, ti = map(torch.from_numpy, (z, w, positive, inside))
    tblock, at, some64 = tx.view(block.shape), torch.from_numpy(places), t["some"].long()
    gz, gw = tz.clone().requires_grad_(), tw.clone().requires_grad_()
    with torch.enable_grad():
        product = gz * gw

    def gradients():
        torch.autograd.grad(product, (gz, gw), tz, retain_graph=True)

    calls = {name: lambda f=getattr(torch, name): f(tx) for name in (
        "expm1", "exp2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "atan", "asinh", "exp")}
    calls |= {name: lambda f=getattr(torch, name): f(tp) for name in ("log", "log2", "log1p", "sqrt")}
    calls |= {name: lambda f=getattr(torch, name): f(ti) for name in ("asin", "atanh")}
    calls |= {name: lambda f=getattr(torch, name): f(tx, ty) for name in (
        "hypot", "logaddexp", "maximum", "atan2", "add")}
    calls |= {
        "multiply": lambda: tx * ty, "pow": lambda: torch.pow(tp, ty), "fmod": lambda: torch.fmod(tx, tp),
        "divide": lambda: tx / tp, "comparison": lambda: tx < ty, "complex abs": lambda: tz.abs(),
        "complex multiply": lambda: tz * tw, "complex conjugate multiply": lambda: tz * tw.conj(),
        "complex divide": lambda: tz / tw, "complex square": lambda: tz.square(), "complex add": lambda: tz + tw,
        "complex exp": lambda: tz.exp(), "complex multiply's gradients": gradients,
        "sum over rows": lambda: tm.sum(1), "sum over columns": lambda: tm.sum(0),
        "cumulative sum": lambda: tx.cumsum(0), "logcumsumexp": lambda: torch.logcumsumexp(tx, 0),
        "isin": lambda: torch.isin(t["whole"], t["some"]),
        "histogram": lambda: torch.histogram(tx, 100, range=(-4, 4)),
        "searchsorted": lambda: torch.searchsorted(t["edges"], tx),
        "searchsorted, sorted values": lambda: torch.searchsorted(t["edges"], t["edges"]),
        "quantile of all": lambda: torch.quantile(tx, 0.3), "median of rows": lambda: tm.median(1),
        "argsort": lambda: torch.argsort(tx, stable=True), "sort": lambda: torch.sort(tx, stable=True),
        "top 100 of 2^24": lambda: torch.topk(t["large"], 100),
        "top 2^16 of 2^24": lambda: torch.topk(t["large"], 1 << 16), "unique": lambda: torch.unique(t["whole"]),
        "permuted copy": lambda: tblock.permute(0, 2, 1, 3).contiguous(),
        "transposed copy": lambda: tm.t().contiguous(), "take_along_axis": lambda: tm.gather(1, at),
        "sum over the middle": lambda: tblock.sum((1, 2)), "maximum over rows": lambda: tm.amax(1),
        "maximum over columns": lambda: tm.amax(0), "variance of rows": lambda: tm.var(1),
        "argmax of rows": lambda: tm.argmax(1), "uniforms": lambda: torch.rand(N), "normals": lambda: torch.randn(N),
        "bincount": lambda: torch.bincount(t["whole"]), "take": lambda: tx.index_select(0, some64),
        "masked select": lambda: tx[t["few"]],
    }
    return calls | torch_cliffs(t) | torch_transforms(tx, tz)


class Peer:
    def time_warm(self, name, count):
        """The second of two series, which finds the caches as its own calls leave them.

        The first finds what others left: asin of 2^22 took tern 2.9 ms where it takes 1.6, PyTorch 2.3 where it takes
        2.1, since that has its turn after NumPy, in one process, with the same operands and memory.
        """
        self.time(name, count)
        return self.time(name, count)


class Here(Peer):
    """Calls in this program."""
    def __init__(self, calls, clock):
        self.names, self.calls, self.clock = set(calls), calls, clock

    def time(self, name, count):
        call = self.calls[name]
        before = self.clock()
        for _ in range(count):
            call()
        return (self.clock() - before) / count


class There(Peer):
    """Calls in another program (bench/beside.hpp)."""
    def __init__(self, program, file, threads, suffix=""):
        self.suffix = suffix
        more = ["--wall"] if threads > 1 else []
        self.process = subprocess.Popen(
            [program, file, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "TERN_NUM_THREADS": str(threads)})
        self.names = {name.removesuffix(suffix) for name in self.ask("calls").split("\t") if name.endswith(suffix)}

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip("\n")

    def time(self, name, count):
        return float(self.ask(f"{name}{self.suffix} {count}"))


def line(name, peers):
    """Times in turn: tern's, and the others' over tern's."""
    here = {peer: p for peer, p in peers.items() if name in p.names}
    counts = {peer: max(1, int(0.05 / max(p.time_warm(name, 1), 1e-7))) for peer, p in here.items()}
    rounds = [{peer: p.time_warm(name, counts[peer]) for peer, p in here.items()} for _ in range(ROUNDS)]
    cells = [f"{statistics.median(r['tern'] for r in rounds) * 1e3:.3g} ms"]
    for peer in list(peers)[1:]:
        if peer not in here:
            cells.append("")
            continue
        low, middle, high = statistics.quantiles([r[peer] / r["tern"] for r in rounds], n=4)
        cells.append(f"**{middle:.2f}** ({low:.2f} to {high:.2f})")
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    clock = time.perf_counter if options.threads > 1 else time.process_time
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **arrays)
        file.flush()
        peers = {"tern": There(options.folder / "tern_beside_numpy", file.name, options.threads),
                 "NumPy": Here(NUMPY, clock)}
        if torch:
            torch.set_num_threads(options.threads)
            torch.set_grad_enabled(False)
            peers["PyTorch"] = Here(torch_calls(), clock)
        if (options.folder / "tern_beside_eigen").exists():
            peers["Eigen"] = There(options.folder / "tern_beside_eigen", file.name, options.threads)
            peers["a loop"] = There(options.folder / "tern_beside_eigen", file.name, options.threads, " by a loop")
        print(f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch else ""))
        print("| call | tern | " + " | ".join(list(peers)[1:]) + " |\n" + "|---" * (len(peers) + 1) + "|")
        for name in options.names or [name for name in NUMPY if name in peers["tern"].names]:
            print(line(name, peers), flush=True)


if __name__ == "__main__":
    main()
