#!/usr/bin/env python3
"""tern's convolutions beside PyTorch's, work by work in turn: on a GPU cuDNN, with the quickest of its algorithms, and
for a bias and gelu torch.compile; on a CPU oneDNN, eager.

Everything has its channels last; a line for each work: milliseconds forward, of both directions and forward with bias
and gelu, and the peer's over tern's. Of a GPU medians, with quartiles of rounds; of a CPU, which others may disturb,
the fifth percentiles of rounds, with the ratios of the minima and of the quartiles: of processor time with one thread,
else of the clock's. Usage:
    beside_torch_convolution.py PROGRAM [--cpu] [--threads=N] [--rounds=N] [--kinds=KIND,…] [WORK…]
PROGRAM: tern_beside_torch_convolution, as it was built; a kind: forward, both, image (both without the gradient of the
kernels), gelu; a work: dtype,samples,channels,size,results,kernel,groups[,stride[,dilation]].
"""
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

from beside_torch_cpu import Turns, option

ROUNDS, CALLS = 9, 24
GPU_WORKS = ("bf16,64,256,28,256,3,1", "bf16,64,512,14,512,3,1", "bf16,64,64,56,64,3,1", "bf16,64,256,56,64,1,1",
             "bf16,64,192,56,192,7,192")
SIZES = ("4,64,56,64,3,1", "4,256,28,256,3,1", "4,512,14,512,3,1", "4,256,56,64,1,1", "4,192,56,192,7,192",
         "4,192,56,192,3,192", "4,192,56,192,3,192,2", "4,192,28,192,5,192,1,2", "4,64,56,128,3,1,2",
         "4,256,28,256,3,1,2", "4,64,56,64,3,1,1,2", "4,3,112,64,7,1,2", "4,256,28,512,1,1,2", "4,128,28,128,3,4")
CPU_WORKS = tuple(f"{dtype},{sizes}" for dtype in ("f32", "bf16") for sizes in SIZES)
ON_CPU = "--cpu" in sys.argv
DEVICE = "cpu" if ON_CPU else "cuda"


def calls_of(work):
    name, *numbers = work.split(",")
    n, c, size, o, k, groups, stride, dilation = (list(map(int, numbers)) + [1, 1])[:8]
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[name]
    options = dict(padding=k // 2 * dilation, groups=groups, stride=stride, dilation=dilation)

    def make(*shape):
        t = torch.randn(shape, device=DEVICE, dtype=dtype).to(memory_format=torch.channels_last)
        return t.requires_grad_()

    out = (size - 1) // stride + 1
    x, w, gradient = make(n, c, size, size), make(o, c // groups, k, k), make(n, o, out, out).detach()
    bias = torch.randn(o, device=DEVICE, dtype=dtype)

    def plain(x, w):
        return F.conv2d(x, w, **options)

    def forward():
        with torch.no_grad():
            plain(x, w)

    activated = lambda x, w: F.gelu(F.conv2d(x, w, bias, **options))  # noqa: E731
    compiled = activated if ON_CPU else torch.compile(activated)

    def gelu():
        with torch.no_grad():
            compiled(x, w)

    constant = w.detach()
    return {"forward": forward, "both": lambda: torch.autograd.grad(plain(x, w), (x, w), gradient),
            "image": lambda: torch.autograd.grad(plain(x, constant), (x,), gradient), "gelu": gelu}


def milliseconds(call, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e3


def figures(ours, theirs):
    """Milliseconds of both on a GPU, and the ratio as text."""
    ours(3), theirs(3)
    pairs = [(ours(CALLS), theirs(CALLS)) for _ in range(ROUNDS)]
    low, middle, high = statistics.quantiles([b / a for a, b in pairs], n=4)
    a, b = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    return a, b, f"**{middle:.2f}** ({low:.2f} to {high:.2f})"


def main():
    kinds = option("kinds", "forward,both,gelu").split(",")
    works = [a for a in sys.argv[2:] if not a.startswith("--")]
    turns = Turns() if ON_CPU else None
    if not ON_CPU:
        torch.backends.cudnn.benchmark = True
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print(f"| work | tern, ms | peer, ms | {' | '.join(kinds)} |\n|---|---|---|{'---|' * len(kinds)}")
    with subprocess.Popen([sys.argv[1], DEVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          bufsize=1) as tern:
        def tern_time(work, kind, count):
            if ON_CPU:
                return turns.ours(tern, work, kind, count)
            print(work, kind, count, file=tern.stdin, flush=True)
            return float(tern.stdout.readline().split()[0])

        take, time_of = (turns.figures, turns.theirs) if ON_CPU else (figures, milliseconds)

        for work in works or (CPU_WORKS if ON_CPU else GPU_WORKS):
            calls, ours, theirs, ratios = calls_of(work), [], [], []
            for kind in kinds:
                a, b, ratio = take(lambda n: tern_time(work, kind, n), lambda n: time_of(calls[kind], n))
                ours.append(f"{a:.4f}"), theirs.append(f"{b:.4f}"), ratios.append(ratio)
            print(f"| {work} | {', '.join(ours)} | {', '.join(theirs)} | {' | '.join(ratios)} |", flush=True)
        tern.stdin.close()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    main()
