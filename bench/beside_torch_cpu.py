"""What the scripts that take turns with PyTorch on a CPU share: options, clocks, and the figures of turns."""
import os
import sys
import time

import torch

SECONDS = 0.012
# PyTorch's threads wait actively: they use a processor for 11 to 12 ms after the last call (libgomp, Zen 3). Without
# the pause two threads of tern's took as long as one, or 1.3 times less, where alone they take 1.8 to 2.7 times less.
PAUSE = 0.03


def option(name, default):
    return ([a.split("=")[1] for a in sys.argv[2:] if a.startswith(f"--{name}=")] or [default])[0]


class Turns:
    """Turns with a program that answers "work… count" lines with the milliseconds of a call: of the clock, and of its
    processors. Of one thread those of processors are taken, of more those of the clock."""

    def __init__(self):
        threads = option("threads", "2")
        torch.set_num_threads(int(threads))
        os.environ["TERN_NUM_THREADS"] = threads
        self.alone, self.rounds = threads == "1", int(option("rounds", "40"))
        print(f"{threads} threads, PyTorch {torch.__version__}\n")

    def ours(self, program, *words):
        print(*words, file=program.stdin, flush=True)
        return float(program.stdout.readline().split()[self.alone])

    def theirs(self, call, count):
        clock = time.process_time if self.alone else time.perf_counter
        begin = clock()
        for _ in range(count):
            call()
        return (clock() - begin) / count * 1e3

    def figures(self, ours, theirs):
        """Milliseconds of both, which others may disturb, as fifth percentiles of rounds, and their ratio as text, with
        those of the minima and of the quartiles."""
        slowest = max(ours(3), theirs(3))
        count, all_ours, all_theirs = max(1, min(100, int(SECONDS * 1e3 / slowest))), [], []
        for _ in range(self.rounds):
            for call, times in ((ours, all_ours), (theirs, all_theirs)):
                time.sleep(0 if self.alone else PAUSE)
                call(2)  # the caches were the other's
                times.append(call(count))
        a, b = sorted(all_ours), sorted(all_theirs)
        fifth, quarter = self.rounds // 20, self.rounds // 4
        ratio, best, worse = (b[at] / a[at] for at in (fifth, 0, quarter))
        return a[fifth], b[fifth], f"**{ratio:.2f}** ({best:.2f}, {worse:.2f})"
