#!/usr/bin/env python3
"""tern's attention beside PyTorch's, work by work in turn. On a GPU: cuDNN, with deterministic gradients, where there
is no formula, and else FlexAttention, compiled, with the quickest of a few of its kernel options. On a CPU:
scaled_dot_product_attention.

GPU: bf16, 4 x 16 x 4096 rows of 128 and 64 elements, 4 x 16 x 2048 of 256. A line for each: milliseconds forward and of
both directions, and the peer's over tern's (quartiles of rounds; of a CPU as beside_torch_cpu.py says). Usage:
    beside_torch_attention.py PROGRAM [--seconds=N] [WORK…]
    beside_torch_attention.py PROGRAM --cpu [--threads=N] [--rounds=N] [SIZES…]
PROGRAM: tern_beside_torch_attention, as it was built; after N seconds no more of a work's options are compiled; sizes:
full or causal, and dtype,batch,heads,heads of keys,rows,columns,depth behind a comma.
"""
import statistics
import subprocess
import sys
import time
import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from beside_torch_cpu import Turns

ROUNDS, CALLS, B, H, L, DOCUMENT = 7, 8, 4, 16, 4096, 512
DEPTHS = (128, 64, 256)
OPTIONS = (None, dict(fwd_BLOCK_M=128, fwd_BLOCK_N=128, fwd_num_warps=8, fwd_num_stages=2),
           dict(fwd_BLOCK_M=128, fwd_BLOCK_N=64, fwd_num_warps=8, fwd_num_stages=3),
           dict(fwd_BLOCK_M=128, fwd_BLOCK_N=64, fwd_num_warps=4, fwd_num_stages=3))
ON_CPU = "--cpu" in sys.argv
slopes = torch.exp2(-8 * torch.arange(1, H + 1, device="cpu" if ON_CPU else "cuda") / H)
CPU_SIZES = ("full,2,8,8,512,512,64", "full,1,8,8,2048,2048,64", "causal,1,8,8,2048,2048,64",
             "full,1,8,8,1024,1024,128", "causal,1,8,8,1024,1024,128", "full,1,32,32,1,4096,128",
             "full,1,32,8,1,4096,128", "full,4,32,8,1,2048,128")
CPU_WORKS = tuple(work.replace(",", f",{dtype},", 1) for dtype in ("f32", "bf16") for work in CPU_SIZES)


def alibi(score, b, h, i, j):
    return score - slopes[h] * (i - j)


def soft_cap(score, b, h, i, j):
    return 50 * torch.tanh(score / 50)


def causal(b, h, i, j):
    return i >= j


def documents(b, h, i, j):
    return (i // DOCUMENT == j // DOCUMENT) & (i >= j)


WORKS = {"full": None, "causal": None, "alibi": (alibi, causal), "softcap": (soft_cap, None),
         "documents": (None, documents), "documents_of": (None, documents)}


def rows_of(depth):
    return L // 2 if depth == 256 else L


def operands(depth):
    shape = (B, H, rows_of(depth), depth)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    return (q, k, v), torch.randn_like(q)


def cudnn(name, inputs, gradient):
    def forward():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(*inputs, is_causal=name == "causal")

    return forward


def flex(name, inputs, gradient, options):
    formula, mask = WORKS[name]
    blocks = mask and create_block_mask(mask, None, None, L, L, device="cuda")
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention)
    return lambda: compiled(*inputs, score_mod=formula, block_mask=blocks, kernel_options=options)


def milliseconds(call, count):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e3


def directions(forward, inputs, gradient):
    def alone():
        with torch.no_grad():
            forward()

    return {"forward": alone, "both": lambda: torch.autograd.grad(forward(), inputs, gradient)}


def peer(name, depth, seconds):
    """The peer's calls by direction, each of the options that is quickest."""
    inputs, gradient = operands(depth)
    best, begin = {}, time.perf_counter()
    for options in OPTIONS if WORKS[name] else (None,):
        if best and time.perf_counter() - begin > seconds:
            break
        try:
            forward = flex(name, inputs, gradient, options) if WORKS[name] else cudnn(name, inputs, gradient)
            for kind, call in directions(forward, inputs, gradient).items():
                milliseconds(call, 1)
                best[kind] = min(best.get(kind, (1e9, None)), (milliseconds(call, 3), call), key=lambda p: p[0])
        except Exception as error:  # options that do not fit
            print(f"<!-- {name} {depth} {options}: {str(error).splitlines()[0][:100]} -->", flush=True)
    return {kind: call for kind, (_, call) in best.items()}


def on_cpu():
    turns = Turns()
    print("| work | tern, ms | peer, ms | forward | both |\n|---|---|---|---|---|")
    with subprocess.Popen([sys.argv[1], "cpu"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          bufsize=1) as tern:
        for work in [a for a in sys.argv[2:] if not a.startswith("--")] or CPU_WORKS:
            name, dtype, *numbers = work.split(",")
            b, heads, keys, rows, columns, depth = map(int, numbers)
            of = dict(dtype={"f32": torch.float32, "bf16": torch.bfloat16}[dtype], requires_grad=True)
            q, k, v = (torch.randn(b, n, length, depth, **of)
                       for n, length in ((heads, rows), (keys, columns), (keys, columns)))

            def forward():
                return F.scaled_dot_product_attention(q, k, v, is_causal=name == "causal", enable_gqa=heads != keys)

            calls, ours, theirs, ratios = directions(forward, (q, k, v), torch.randn_like(q)), [], [], []
            for kind in ("forward",) if rows == 1 else ("forward", "both"):
                x, y, ratio = turns.figures(lambda n: turns.ours(tern, name, work[len(name) + 1:], kind, n),
                                            lambda n: turns.theirs(calls[kind], n))
                ours.append(f"{x:.4g}"), theirs.append(f"{y:.4g}"), ratios.append(ratio)
            print(f"| {work} | {', '.join(ours)} | {', '.join(theirs)} | {' | '.join(ratios)} |", flush=True)
        tern.stdin.close()


def main():
    if ON_CPU:
        return on_cpu()
    names = [name for name in sys.argv[2:] if not name.startswith("--")]
    seconds = max([float(a.removeprefix("--seconds=")) for a in sys.argv[2:] if a.startswith("--seconds=")] or [120])
    warnings.filterwarnings("ignore")
    torch.use_deterministic_algorithms(True, warn_only=True)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print("| work | tern | peer | peer over tern, forward (quartiles) | both (quartiles) |\n|---|---|---|---|---|")
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as tern:
        def tern_time(name, depth, kind, count):
            print(name, f"bf16,{B},{H},{H},{rows_of(depth)},{rows_of(depth)},{depth}", kind, count, file=tern.stdin,
                  flush=True)
            return float(tern.stdout.readline().split()[0])

        for depth in DEPTHS:
            for name in names or WORKS:
                if depth == 256 and WORKS[name]:
                    continue
                calls, ours, theirs, ratios = peer(name, depth, seconds), [], [], []
                for kind in ("forward", "both"):
                    tern_time(name, depth, kind, 2)
                    pairs = [(tern_time(name, depth, kind, CALLS), milliseconds(calls[kind], CALLS))
                             for _ in range(ROUNDS)]
                    low, middle, high = statistics.quantiles([b / a for a, b in pairs], n=4)
                    for list_of, i in ((ours, 0), (theirs, 1)):
                        list_of.append(f"{statistics.median(p[i] for p in pairs):.3f}")
                    ratios.append(f"**{middle:.2f}** ({low:.2f} to {high:.2f})")
                print(f"| D = {depth}, {name} | {', '.join(ours)} | {', '.join(theirs)} | {' | '.join(ratios)} |",
                      flush=True)
        tern.stdin.close()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
    main()
