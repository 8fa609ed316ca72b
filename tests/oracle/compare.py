#!/usr/bin/env python3
"""Random expressions, evaluated by tern and by NumPy: indexing, broadcasting, reductions, einsum, sorts, joins,
statistics.

A case (numpy_cases.py) is one line of JSON, which tests/oracle/evaluate.cpp evaluates and this script holds against
NumPy's answer (numpy_answers.py). Both must give the same shapes and values, or both refuse it.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: Python has no numpy (script/setup puts it into third_party/python, for PYTHONPATH)")
    sys.exit(77)
from numpy_answers import DTYPES, INDEXING, NUMPY, ON_WEBGPU, ROUNDED, SAME_DTYPE, array_of, indices_of
from numpy_cases import FAMILIES, Random


def selects_nothing(case):
    """Whether x(…) is empty, were all its positions in range."""
    def near(item):
        return {**item, "values": [0 for _ in item["values"]]}
    items = [near(i) if isinstance(i, dict) and i["dtype"] != "boolean" else i for i in case["at"]]
    try:
        return not array_of(case["x"])[indices_of(items)].size
    except IndexError as error:
        return str(error).endswith("with size 0")  # there is no such position, nor anything to select


def expected(case):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return [np.asarray(a) for a in NUMPY[case["op"]](case)]
    except (ValueError, IndexError, TypeError) as error:  # AxisError is a ValueError
        return error


def difference(case, got, want):
    """Why they differ, or nothing."""
    if isinstance(got, str):
        if isinstance(want, Exception) or "more than 8 axes" in got:
            return None
        if "out of range" in got and case["op"] in INDEXING and selects_nothing(case):
            return None  # NumPy looks at no position where nothing is selected
        if "out of range" in got and case["op"] == "take" and not want[0].size:
            return None  # nor where nothing is taken
        return f"tern refuses it: {got}"
    if isinstance(want, IndexError) and case["op"] in INDEXING and selects_nothing(case):
        return None  # positions out of range, where nothing is selected, are what tern does not look at
    if isinstance(want, IndexError) and case["op"].startswith("take") and not any(a.size for a in got):
        return None  # nor where what is taken is empty
    if isinstance(want, Exception):
        return f"NumPy refuses it: {want}"
    if len(got) != len(want):
        return f"tern gives {len(got)} results, NumPy {len(want)}"
    for k, (a, b) in enumerate(zip(got, want)):
        if a.shape != b.shape:
            return f"result {k} has shape {a.shape}, of NumPy {b.shape}"
        if case["op"] in SAME_DTYPE and a.dtype != b.dtype:
            return f"result {k} is of {a.dtype}, of NumPy {b.dtype}"
        if a.dtype.kind in "iu" and b.dtype.kind in "iu":
            b = b.astype(a.dtype)  # sums and products wrap in tern's dtype, which may be narrower
        # Inputs are small integers: all but means, variances, their roots and the like are exact.
        exact = case["op"] not in ROUNDED
        eps = 0 if exact else 16 * (np.finfo(np.float32).eps if a.dtype != np.float64 else np.finfo(np.float64).eps)
        if not np.allclose(a.astype(np.float64), b.astype(np.float64), eps, 4 * eps, equal_nan=True):
            return f"result {k} is\n{a}\nof NumPy\n{b}"
    return None


def run(program, device, cases):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.npz"
        text = "".join(json.dumps(case) + "\n" for case in cases)
        done = subprocess.run([program, path, "--device", device], input=text, text=True)
        if done.returncode != 0:
            print(f"{program} ended with {done.returncode}; the cases were\n{text}")
            sys.exit(1)
        results = [[] for _ in cases]
        with np.load(path) as file:
            for name in sorted(file.files, key=lambda n: [int(p) if p.isdigit() else -1 for p in n.split(".")]):
                i, what = name.split(".")
                if what == "error":
                    results[int(i)] = file[name].tobytes().decode()
                else:
                    results[int(i)].append(file[name])
        return results


def judged(case, got):
    """Why tern's results differ from NumPy's, or nothing, and whether NumPy refuses the case."""
    want = expected(case)
    return difference(case, got, want), isinstance(want, Exception)


def main(text, whose, families, judge, dtypes, count):
    """Runs random cases, or the one that is named, through tern_oracle and `judge`; this is every script's main."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="tern_oracle, as it was built")
    parser.add_argument("--count", type=int, default=count, help=f"how many cases ({count})")
    parser.add_argument("--seed", type=int, default=1, help="of the cases (1)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or webgpu")
    parser.add_argument("--only", help="a family of cases: " + ", ".join(sorted({f.__name__ for f in families})))
    parser.add_argument("--case", help="one case again: the JSON that was printed")
    options = parser.parse_args()
    families = [f for f in families if options.only in (None, f.__name__)]
    r = Random(options.seed, dtypes(options.device))
    cases = [json.loads(options.case)] if options.case else [r.choice(families)(r) for _ in range(options.count)]
    failures, refused, batch = 0, 0, 2000
    for begin in range(0, len(cases), batch):
        part = cases[begin:begin + batch]
        for case, got in zip(part, run(options.program, options.device, part)):
            why, refuses = judge(case, got)
            if isinstance(got, str) and got.startswith("no Error, but "):
                why = got
            refused += refuses
            if why:
                failures += 1
                print(f"{case['op']}: {why}\n  {pathlib.Path(sys.argv[0]).name} --program {options.program} "
                      f"--device {options.device} --case '{json.dumps(case)}'\n")
    print(f"{len(cases)} cases, of which {whose} refuses {refused}: {failures} differ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(__doc__, "NumPy", FAMILIES, judged, lambda d: ON_WEBGPU if d.startswith("webgpu") else list(DTYPES), 10000)
