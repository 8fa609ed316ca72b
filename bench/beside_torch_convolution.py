#!/usr/bin/env python3
"""tern's convolutions beside PyTorch's on a GPU, work by work in turn: cuDNN, with the quickest of its algorithms, and
for a bias and gelu torch.compile.

bf16, everything with its channels last; a line for each work: milliseconds forward, of both directions and forward with
bias and gelu, and the peer's over tern's (quartiles of rounds). Usage:
    beside_torch_convolution.py PROGRAM [WORK…]
PROGRAM: tern_beside_torch_convolution, as it was built; a work: samples,channels,size,results,kernel,groups.
"""
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

ROUNDS, CALLS = 9, 24
WORKS = ("64,256,28,256,3,1", "64,512,14,512,3,1", "64,64,56,64,3,1", "64,256,56,64,1,1", "64,192,56,192,7,192")
KINDS = ("forward", "both", "gelu")


def calls_of(work):
    n, c, size, o, k, groups = map(int, work.split(","))

    def make(*shape):
        t = torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(memory_format=torch.channels_last)
        return t.requires_grad_()

    x, w, gradient = make(n, c, size, size), make(o, c // groups, k, k), make(n, o, size, size).detach()
    bias = torch.randn(o, device="cuda", dtype=torch.bfloat16)

    def plain(x, w):
        return F.conv2d(x, w, padding=k // 2, groups=groups)

    def forward():
        with torch.no_grad():
            plain(x, w)

    compiled = torch.compile(lambda x, w: F.gelu(F.conv2d(x, w, bias, padding=k // 2, groups=groups)))

    def gelu():
        with torch.no_grad():
            compiled(x, w)

    return {"forward": forward, "both": lambda: torch.autograd.grad(plain(x, w), (x, w), gradient), "gelu": gelu}


def milliseconds(call, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e3


def main():
    torch.backends.cudnn.benchmark = True
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print("| work | tern, ms | peer, ms | forward (quartiles) | both (quartiles) | bias and gelu (quartiles) |")
    print("|---|---|---|---|---|---|")
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as tern:
        def tern_time(work, kind, count):
            print(work, kind, count, file=tern.stdin, flush=True)
            return float(tern.stdout.readline())

        for work in sys.argv[2:] or WORKS:
            calls, ours, theirs, ratios = calls_of(work), [], [], []
            for kind in KINDS:
                tern_time(work, kind, 3), milliseconds(calls[kind], 3)
                pairs = [(tern_time(work, kind, CALLS), milliseconds(calls[kind], CALLS)) for _ in range(ROUNDS)]
                low, middle, high = statistics.quantiles([b / a for a, b in pairs], n=4)
                for list_of, i in ((ours, 0), (theirs, 1)):
                    list_of.append(f"{statistics.median(p[i] for p in pairs):.4f}")
                ratios.append(f"**{middle:.2f}** ({low:.2f} to {high:.2f})")
            print(f"| {work} | {', '.join(ours)} | {', '.join(theirs)} | {' | '.join(ratios)} |", flush=True)
        tern.stdin.close()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    main()
