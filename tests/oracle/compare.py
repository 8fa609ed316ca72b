#!/usr/bin/env python3
"""Random expressions, evaluated by tern and by NumPy: indexing, broadcasting, reductions, einsum, sorts, joins,
statistics.

A case is one line of JSON, which tests/oracle/evaluate.cpp evaluates and this script checks. Both must give the same
shapes and values, or both refuse it.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: Python has no numpy (script/setup puts it into third_party/python, for PYTHONPATH)")
    sys.exit(77)

DTYPES = {"boolean": np.bool_, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "u32": np.uint32,
          "i64": np.int64, "f32": np.float32, "f64": np.float64}
COMPLEX = {"c64": np.complex64, "c128": np.complex128}
ON_WEBGPU = ["boolean", "i32", "u32", "f32"]
SPECIAL = ["nan", "inf", "-inf"]


# ---- from JSON to NumPy

def array_of(case):
    x = np.array([float(v) for v in case["values"]])
    if "imaginary" in case:
        x = x + 1j * np.array(case["imaginary"], np.float64)
    x = x.reshape(case["shape"]).astype({**DTYPES, **COMPLEX}[case["dtype"]])
    if "permute" in case:
        x = x.transpose(case["permute"])
    if "steps" in case:
        x = x[tuple(slice(None, None, s) for s in case["steps"])]
    return x


def indices_of(items):
    result = []
    for item in items:
        if item == "ellipsis":
            result.append(Ellipsis)
        elif item == "newaxis":
            result.append(np.newaxis)
        elif isinstance(item, list):
            result.append(slice(*item))
        elif isinstance(item, dict):
            result.append(array_of(item))
        else:
            result.append(item)
    return tuple(result)


def in_order(x, places, values):
    """Writes in row-major order of the places: the last of those named twice counts. (NumPy's own order may differ.)"""
    x = x.copy()
    x.reshape(-1)[places.reshape(-1)] = np.broadcast_to(values, places.shape).reshape(-1)
    return x


def written(case, add=False):
    x, at, y = array_of(case["x"]), indices_of(case["at"]), array_of(case["y"])
    places = np.arange(x.size).reshape(x.shape)[at]
    selected = x[at]
    values = np.broadcast_to(y, selected.shape)
    return [in_order(x, places, selected + values if add else values)]


def added(case):
    x = array_of(case["x"]).copy()
    np.add.at(x, indices_of(case["at"]), array_of(case["y"]))
    return [x]


def ordered(case, count=None):
    """Stable in both directions, with NaN as the largest."""
    x, axis = array_of(case["x"]), case["axis"]
    if case["descending"]:
        back = np.flip(x, axis)
        at = np.flip(x.shape[axis] - 1 - np.argsort(back, axis, kind="stable"), axis)
    else:
        at = np.argsort(x, axis, kind="stable")
    if count is not None:
        if not 0 <= count <= x.shape[axis]:
            raise ValueError("count")
        at = np.take(at, range(count), axis)
    return [np.take_along_axis(x, at, axis), at]


def reduced(case):
    x = array_of(case["x"])
    axes = tuple(case["axes"]) or None
    keepdims = case["keepdims"]
    name = case["op"]
    if name in ("var", "std"):
        return getattr(np, name)(x.astype(np.float64), axes, ddof=1, keepdims=keepdims)
    if name in ("argmax", "argmin"):  # of several axes: row-major within them
        every = sorted(a % max(x.ndim, 1) for a in (axes if axes is not None else range(x.ndim)))
        if len(set(every)) < len(every) or any(not -x.ndim <= a < x.ndim for a in axes or ()):
            raise ValueError("axes")
        rest = [a for a in range(x.ndim) if a not in every]
        moved = x.transpose(rest + every).reshape(
            [x.shape[a] for a in rest] + [math.prod(x.shape[a] for a in every)])
        result = getattr(np, name)(moved, -1)
        return np.expand_dims(result, every) if keepdims else result
    if name == "mean":
        x = x.astype(np.float64)
    return getattr(np, name)(x, axes, keepdims=keepdims)


def taken_axes(case):
    return tuple(case["axes"]) or None


def reduced_where(case):
    """By NumPy's own `where`; a largest and a smallest of nothing are the ends of the dtype."""
    x, mask, name = array_of(case["x"]), array_of(case["y"]), case["op"][:-len("_where")]
    if np.broadcast_shapes(x.shape, mask.shape) != x.shape:
        raise ValueError("where")
    more = {}
    if name in ("max", "min"):
        if any(x.shape[a] == 0 for a in case["axes"] or range(x.ndim)):
            raise ValueError("nothing")
        ends = {"f": (-np.inf, np.inf), "b": (False, True)}.get(x.dtype.kind) or (
            np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        more["initial"] = ends[name == "min"]
    if name in ("var", "std"):
        more["ddof"] = 1
    if name in ("mean", "var", "std"):
        x = x.astype(np.float64)
    return [getattr(np, name)(x, taken_axes(case), keepdims=case["keepdims"], where=mask, **more)]


def summed_exponentials(case):
    x = array_of(case["x"]).astype(np.float64)
    if any(x.shape[a] == 0 for a in case["axes"] or range(x.ndim)):
        raise ValueError("nothing")
    return [np.log(np.sum(np.exp(x), taken_axes(case), keepdims=case["keepdims"]))]


def quantiles(case):
    methods = ["linear", "lower", "higher", "midpoint", "nearest"]
    return [np.quantile(array_of(case["x"]).astype(np.float64), array_of(case["y"]).astype(np.float64),
                        taken_axes(case), method=methods[case["n"]], keepdims=case["keepdims"])]


def histogram_of(case, bins, limits=None, weights=None):
    x = array_of(case["x"]).astype(np.float64)
    return list(np.histogram(x, bins, limits, case["flag"], weights))


def unique_of(case):
    x = array_of(case["x"])
    return [a.reshape(x.shape) if i == 2 else a for i, a in enumerate(np.unique(x, True, True, True, equal_nan=False))]


def medians(case):
    x = array_of(case["x"])
    if any(x.shape[a] == 0 for a in case["axes"] or range(x.ndim)):
        raise ValueError("nothing")
    middle = np.median if x.size else np.mean  # NumPy's median fails of some shapes without elements
    return [middle(x.astype(np.float64), taken_axes(case), keepdims=case["keepdims"])]


def tensordot(case):
    return np.tensordot(array_of(case["x"]), array_of(case["y"]), case["n"])


def along(case, run):
    x, at = array_of(case["x"]), array_of(case["y"])
    return run(x, at, case["axis"])


def put_along(x, at, values, axis):
    return in_order(x, np.take_along_axis(np.arange(x.size).reshape(x.shape), at, axis), values)


def padded(case):
    x, widths = array_of(case["x"]), case["widths"]
    mode = ["constant", "edge", "reflect", "symmetric", "wrap"][case["n"]]
    return np.pad(x, [(0, 0)] * (x.ndim - len(widths)) + widths, mode)


def repeated_tile(case):
    return np.tile(array_of(case["x"]), case["times"])


def pair(function):
    return lambda c: [function(array_of(c["x"]), array_of(c["y"]))]


def one(function):
    return lambda c: [function(array_of(c["x"]), c)]


NUMPY = {
    "index": lambda c: [array_of(c["x"])[indices_of(c["at"])]],
    "assign": written,
    "index_put": written,
    "add_in_place": lambda c: written(c, True),
    "index_add": added,
    "take": lambda c: [np.take(array_of(c["x"]), array_of(c["y"]), c["axis"])],
    "take_along_axis": lambda c: [along(c, np.take_along_axis)],
    "put_along_axis": lambda c: [along(c, lambda x, at, axis: put_along(x, at, array_of(c["values"]), axis))],
    "nonzero": lambda c: list(np.nonzero(array_of(c["x"]))),
    "masked_select": lambda c: [np.extract(*reversed(np.broadcast_arrays(array_of(c["x"]), array_of(c["y"]))))],
    "add": pair(np.add), "multiply": pair(np.multiply), "subtract": pair(np.subtract),
    "maximum": pair(np.maximum), "minimum": pair(np.minimum), "less": pair(np.less), "equal": pair(np.equal),
    "where": lambda c: [np.where(array_of(c["values"]), array_of(c["x"]), array_of(c["y"]))],
    "matmul": pair(np.matmul), "outer": pair(np.outer), "inner": pair(np.inner), "kron": pair(np.kron),
    "tensordot": lambda c: [tensordot(c)],
    "einsum": lambda c: [np.einsum(c["equation"], *map(array_of, c["list"]))],
    "sort": ordered,
    "topk": lambda c: ordered(c, c["n"]),
    "cumsum": one(lambda x, c: np.cumsum(x, c["axis"])),
    "concatenate": lambda c: [np.concatenate(list(map(array_of, c["list"])), c["axis"])],
    "stack": lambda c: [np.stack(list(map(array_of, c["list"])), c["axis"])],
    "split": lambda c: np.split(array_of(c["x"]), c["n"], c["axis"]),
    "unstack": lambda c: [np.take(array_of(c["x"]), i, c["axis"]) for i in range(array_of(c["x"]).shape[c["axis"]])],
    "broadcast_arrays": lambda c: list(np.broadcast_arrays(*map(array_of, c["list"]))),
    "flip": one(lambda x, c: np.flip(x, tuple(c["axes"]) or None)),
    "permute": one(lambda x, c: np.transpose(x, c["axes"])),
    "tile": lambda c: [repeated_tile(c)],
    "repeat": one(lambda x, c: np.repeat(x, c["n"], c["axis"])),
    "roll": one(lambda x, c: np.roll(x, c["n"], c["axis"]) if x.size else x),  # NumPy divides by 0
    "rot90": one(lambda x, c: np.rot90(x, c["n"], c["axes"])),
    "moveaxis": one(lambda x, c: np.moveaxis(x, c["axis"], c["n"])),
    "diagonal": one(lambda x, c: np.diagonal(x, c["n"], *c["axes"])),
    "tril": one(lambda x, c: np.tril(x, c["n"])),
    "triu": one(lambda x, c: np.triu(x, c["n"])),
    "windows": one(lambda x, c: np.lib.stride_tricks.sliding_window_view(x, c["n"], c["axis"])),
    "reshape": one(lambda x, c: np.reshape(x, c["times"])),
    "pad": lambda c: [padded(c)],
}
def statistic(function):
    return lambda c: [function(array_of(c["x"]), taken_axes(c), c["keepdims"])]


NUMPY.update({
    "count_nonzero": statistic(lambda x, axes, keep: np.count_nonzero(x, axes, keepdims=keep)),
    "nansum": statistic(lambda x, axes, keep: np.nansum(x, axes, keepdims=keep)),
    "nanmean": statistic(lambda x, axes, keep: np.nanmean(x.astype(np.float64), axes, keepdims=keep)),
    "ptp": statistic(lambda x, axes, keep: np.ptp(x, axes, keepdims=keep)),
    "median": medians, "logsumexp": summed_exponentials, "quantile": quantiles,
    "average": lambda c: [np.average(array_of(c["x"]).astype(np.float64), c["axis"], array_of(c["y"]))],
    "histogram": lambda c: histogram_of(c, c["n"], (c["low"], c["high"])),
    "histogram_edges": lambda c: histogram_of(c, array_of(c["y"])),
    "histogram_weights": lambda c: histogram_of(c, array_of(c["y"]), weights=array_of(c["values"])),
    "bincount": lambda c: [np.bincount(array_of(c["x"]), minlength=c["n"])],
    "bincount_weights": lambda c: [np.bincount(array_of(c["x"]), array_of(c["y"]), c["n"])],
    # Of one row NumPy drops both axes, tern none.
    "cov": lambda c: [np.atleast_2d(np.cov(array_of(c["x"]).astype(np.float64), ddof=c["n"]))],
    "corrcoef": lambda c: [np.atleast_2d(np.corrcoef(array_of(c["x"]).astype(np.float64)))],
    "diff": one(lambda x, c: np.diff(x, c["n"], c["axis"])),
    "trapezoid": lambda c: [np.trapezoid(array_of(c["x"]).astype(np.float64), array_of(c["y"]), axis=c["axis"])],
    "cumulative_prod": one(lambda x, c: np.cumprod(x, c["axis"])),
    "searchsorted": lambda c: [np.searchsorted(array_of(c["x"]), array_of(c["y"]), "right" if c["flag"] else "left")],
    "digitize": lambda c: [np.digitize(array_of(c["x"]), array_of(c["y"]), c["flag"])],
    "isin": lambda c: [np.isin(array_of(c["x"]), array_of(c["y"]), invert=c["flag"])],
    "unique": unique_of,
})
REDUCED_WHERE = ["sum", "mean", "prod", "max", "min", "any", "all", "var", "std"]
NUMPY.update({name + "_where": reduced_where for name in REDUCED_WHERE})
ROUNDED = {"mean", "var", "std", "mean_where", "var_where", "std_where", "nanmean", "median", "quantile", "logsumexp",
           "average", "histogram", "histogram_edges", "histogram_weights", "cov", "corrcoef", "trapezoid"}
REDUCTIONS = ["sum", "mean", "prod", "max", "min", "any", "all", "var", "std", "argmax", "argmin"]
NUMPY.update({name: lambda c: [reduced(c)] for name in REDUCTIONS})
INDEXING = {"index", "assign", "index_put", "add_in_place", "index_add"}
# Whose results have the dtype of x, or another that both libraries give.
SAME_DTYPE = {"index", "assign", "index_put", "add_in_place", "index_add", "take", "take_along_axis", "put_along_axis",
              "masked_select", "concatenate", "stack", "split", "unstack", "broadcast_arrays", "flip", "permute",
              "tile", "repeat", "roll", "rot90", "moveaxis", "diagonal", "tril", "triu", "windows", "reshape", "pad",
              "max", "min", "any", "all", "less", "equal"}


# ---- random cases

class Random(random.Random):
    def __init__(self, seed, dtypes):
        super().__init__(seed)
        self.dtypes = dtypes

    def often(self, probability):
        return self.random() < probability

    def sizes(self, low=0, high=4, most=4):
        return [self.choice([0, 1, 1, 2, 3, 4, 5] if self.often(0.15) else [1, 2, 3, 4, 5])
                for _ in range(self.randint(low, min(high, most)))]

    def look(self, shape, looked_at=True):
        """The shape that is stored, and how one looks at it to see this one."""
        rank = len(shape)
        if not (looked_at and rank and self.often(0.4)):
            return {"shape": list(shape)}
        order = self.sample(range(rank), rank)
        steps = [self.choice([1, 1, -1, 2, -2]) for _ in range(rank)]
        stored = [0] * rank
        for axis, source in enumerate(order):
            stored[source] = shape[axis] * abs(steps[axis])
        return {"shape": stored, "permute": order, "steps": steps}

    def given(self, x, dtype, looked_at=True):
        """This array, rounded to the dtype, with 7s where a look at it skips elements."""
        x = np.asarray(x)
        case = {"dtype": dtype, **self.look(x.shape, looked_at)}
        stored = np.full(case["shape"], 7, np.complex128 if dtype in COMPLEX else np.float64)
        seen = stored
        if "permute" in case:
            seen = seen.transpose(case["permute"])[tuple(slice(None, None, s) for s in case["steps"])]
        seen[...] = x
        def number(v):
            return v if math.isfinite(v) else str(v)
        case["values"] = [number(v) for v in stored.real.reshape(-1).tolist()]
        if dtype in COMPLEX:
            case["imaginary"] = stored.imag.reshape(-1).tolist()
        return case

    def normal(self, shape, dtype="f64"):
        """Normally distributed numbers with three decimals."""
        def part():
            return np.array([round(self.gauss(0, 1), 3) for _ in range(math.prod(shape))]).reshape(shape)
        return part() + 1j * part() if dtype in COMPLEX else part()

    def floats(self, shape, dtype, scale=1):
        return self.given(scale * self.normal(shape, dtype), dtype)

    def array(self, shape, dtype=None, special=False, looked_at=True):
        """An array that has this shape once it is looked at."""
        dtype = dtype or self.choice(self.dtypes)
        case = {"dtype": dtype, **self.look(shape, looked_at)}
        unsigned = dtype in ("u8", "u32")
        low, high = (0, 1) if dtype == "boolean" else (0, 6) if unsigned else (-4, 4)
        values = [self.randint(low, high) for _ in range(math.prod(case["shape"]))]
        if special and dtype in ("f32", "f64") and self.often(0.4):
            values = [self.choice(SPECIAL) if self.often(0.2) else v for v in values]
        case["values"] = values
        return case

    def positions(self, size, shape):
        wrong = self.often(0.02)
        dtype = self.choice([d for d in ("i32", "i64") if d in self.dtypes])
        case = self.array(shape, dtype, looked_at=self.often(0.3))
        limit = max(size, 1)
        case["values"] = [self.randint(-limit, limit - 1) for _ in case["values"]]
        if wrong and case["values"] and "steps" not in case:
            case["values"][self.randrange(len(case["values"]))] = limit
        return case

    def slice(self, size):
        """One that tern takes: its ends lie in the axis, and in the order of its step (NumPy clips the others)."""
        def bound():
            return None if self.often(0.35) else self.randint(-size, size)
        while True:
            begin, end, step = bound(), bound(), self.choice([1, 1, 1, 2, 3, -1, -1, -2])
            first = begin if begin is not None else size - 1 if step < 0 else 0
            last = end if end is not None else -1 - size if step < 0 else size
            first, last = (first + size if first < 0 else first), (last + size if last < 0 else last)
            low, high = (last, first) if step < 0 else (first, last)
            if low <= high and (high < size or step > 0 or low == high):
                return [begin, end, step]

    def index(self, shape):
        """Items for the axes in order, one of which may be an ellipsis."""
        items, axis, ellipsis = [], 0, self.often(0.3)
        common = self.sizes(0, 2)
        some = self.often(0.55)  # positions or masks
        while axis < len(shape):
            if self.often(0.1):
                items.append("newaxis")
            if ellipsis and self.often(0.3):
                items.append("ellipsis")
                ellipsis = False
                axis += self.randint(0, len(shape) - axis)
                continue
            if "ellipsis" not in items and self.often(0.1):
                break  # the others are whole
            kind = self.random()
            size = shape[axis]
            if kind < 0.2 and (size or self.often(0.1)):
                items.append(self.randint(-size, size - 1) if size and not self.often(0.02) else size)
            elif some and kind < 0.45:
                items.append(self.positions(size, [1 if self.often(0.2) else n for n in common]))
            elif some and kind < 0.55:
                rank = self.randint(1, min(2, len(shape) - axis))
                items.append(self.array(shape[axis:axis + rank], "boolean"))
                axis += rank - 1
            else:
                items.append(self.slice(size))
            axis += 1
        return items

    def broadcastable(self, shape):
        shape = shape[self.randint(0, len(shape)):] if self.often(0.3) else shape
        return [1 if self.often(0.25) else n for n in shape]


def indexing(r):
    x = r.array(r.sizes(1, 4))
    shape = list(array_of(x).shape)
    op = r.choice(["index"] * 4 + ["assign", "assign", "index_put", "add_in_place", "index_add"])
    case = {"op": op, "x": x, "at": r.index(shape)}
    if op == "index":
        return case
    if x["dtype"] == "boolean" and op in ("add_in_place", "index_add"):
        case["x"] = x = r.array(shape, "f32")
    try:
        selected = list(array_of(x)[indices_of(case["at"])].shape)
    except (IndexError, ValueError):
        selected = [2]
    return {**case, "y": r.array(r.broadcastable(selected), x["dtype"])}


def selecting(r):
    op = r.choice(["take", "take_along_axis", "put_along_axis", "nonzero", "masked_select"])
    shape = r.sizes(1, 3)
    x = r.array(shape)
    axis = r.randint(-len(shape), len(shape) - 1)
    case = {"op": op, "x": x, "axis": axis}
    if op == "take":
        case["y"] = r.positions(shape[axis], r.sizes(0, 2))
    elif op == "masked_select":
        case["y"] = r.array(shape, "boolean")
    elif op != "nonzero":
        at = list(shape)
        at[axis] = r.randint(0, 4)
        case["y"] = r.positions(shape[axis], at)
        case["values"] = r.array(r.broadcastable(at), x["dtype"])
    return case


def broadcasting(r):
    op = r.choice(["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "where"])
    shape = r.sizes(0, 4)
    dtype = r.choice([d for d in r.dtypes if d not in ("boolean", "u8", "u32", "i8")])
    other = r.broadcastable(shape)
    if r.often(0.03) and other:
        other[r.randrange(len(other))] += 1
    special = op in ("maximum", "minimum", "less", "equal")
    case = {"op": op, "x": r.array(r.broadcastable(shape), dtype, special), "y": r.array(other, dtype, special)}
    if op == "where":
        case["values"] = r.array(r.broadcastable(shape), "boolean")
    return case


def reductions(r):
    shape = r.sizes(0, 4)
    axes = [a - len(shape) if r.often(0.5) else a for a in r.sample(range(len(shape)), r.randint(0, len(shape)))]
    if r.often(0.02):
        axes.append(len(shape))
    op = r.choice(REDUCTIONS)
    special = op in ("max", "min", "argmax", "argmin", "any", "all")
    # tern takes variances of floats only.
    dtype = r.choice([d for d in r.dtypes if d.startswith("f")]) if op in ("var", "std") else None
    return {"op": op, "x": r.array(shape, dtype, special), "axes": axes, "keepdims": r.often(0.5)}


def products(r):
    op = r.choice(["matmul", "outer", "inner", "kron", "tensordot"])
    dtype = r.choice([d for d in r.dtypes if d in ("f32", "f64", "i32", "i64")])
    n, k, m = (r.randint(0 if r.often(0.1) else 1, 4) for _ in range(3))
    if op == "matmul":
        batch = r.sizes(0, 2)
        x, y = r.broadcastable(batch) + [n, k], r.broadcastable(batch) + [k, m]
        x, y = (x if r.often(0.8) else [k]), (y if r.often(0.8) else [k])
    elif op == "inner":
        x, y = r.sizes(0, 2) + [k], r.sizes(0, 2) + [k]
    elif op == "tensordot":
        shared = r.sizes(0, 2)
        case = {"op": op, "x": r.array(r.sizes(0, 2) + shared, dtype), "y": r.array(shared + r.sizes(0, 2), dtype)}
        return {**case, "n": len(shared)}
    else:
        x, y = r.sizes(0, 2), r.sizes(0, 2)
    return {"op": op, "x": r.array(x, dtype), "y": r.array(y, dtype)}


def einsums(r):
    letters = "abcde"
    size = {c: 0 if r.often(0.02) else r.randint(1, 4) for c in letters}
    dots = r.sizes(0, 2) if r.often(0.3) else None
    terms, arrays = [], []
    dtype = r.choice([d for d in r.dtypes if d in ("f32", "f64", "i32", "i64")])
    for _ in range(r.choice([1, 2, 2, 2, 3, 4])):
        term = [r.choice(letters) for _ in range(r.randint(0, 3))]
        shape = [size[c] for c in term]
        if dots is not None and r.often(0.7):
            at = r.randint(0, len(term))
            term.insert(at, "...")
            shape[at:at] = r.broadcastable(dots)
        terms.append("".join(term))
        arrays.append(r.array(shape, dtype))
    used = sorted({c for t in terms for c in t if c != "."})
    equation = (", " if r.often(0.1) else ",").join(terms)
    if r.often(0.7):
        result = r.sample(used, r.randint(0, len(used)))
        if any("..." in t for t in terms):
            result.insert(r.randint(0, len(result)), "...")
        equation += "->" + "".join(result)
    return {"op": "einsum", "equation": equation, "list": arrays}


def statistics_over_axes(r):
    shape = r.sizes(0, 4)
    axes = [a - len(shape) if r.often(0.5) else a for a in r.sample(range(len(shape)), r.randint(0, len(shape)))]
    op = r.choice(["count_nonzero", "nansum", "nanmean", "ptp", "median", "logsumexp", "quantile"] +
                  [name + "_where" for name in REDUCED_WHERE])
    floats = [d for d in r.dtypes if d.startswith("f")]
    dtype = r.choice(floats) if op in ("nansum", "nanmean", "ptp", "logsumexp", "var_where", "std_where") else None
    if dtype is None and op in ("quantile", "median", "ptp"):
        dtype = r.choice([d for d in r.dtypes if d != "boolean"])
    special = op in ("nansum", "nanmean", "ptp", "median", "max_where", "any_where")
    case = {"op": op, "x": r.array(shape, dtype, special), "axes": axes, "keepdims": r.often(0.5)}
    if op == "quantile":
        case["y"] = r.array(r.sizes(0, 1), r.choice(floats), looked_at=False)
        case["y"]["values"] = [r.choice([0, 0.125, 0.25, 0.5, 0.75, 1]) for _ in case["y"]["values"]]
        case["n"] = r.randint(0, 4)
    elif op.endswith("_where"):
        case["y"] = r.array(r.broadcastable(shape), "boolean")
    return case


def statistics_of_lists(r):
    op = r.choice(["average", "histogram", "histogram_edges", "histogram_weights", "bincount", "bincount_weights",
                   "cov", "corrcoef", "diff", "trapezoid", "cumulative_prod", "searchsorted", "digitize", "isin",
                   "unique"])
    floats = [d for d in r.dtypes if d.startswith("f")]
    shape, wide = r.sizes(1, 3), "f64" if "f64" in r.dtypes else "f32"
    case = {"op": op, "axis": r.randint(-len(shape), len(shape) - 1), "flag": r.often(0.5), "n": r.randint(0, 3)}
    line = [shape[case["axis"]]]
    if op.startswith("bincount"):
        n = r.randint(0, 8)
        return {**case, "x": {**r.array([n], "i32", looked_at=False), "values": [r.randint(0, 6) for _ in range(n)]},
                "y": r.array([n], r.choice(floats))}
    if op in ("cov", "corrcoef"):
        return {**case, "x": r.array([r.randint(1, 4), r.randint(2, 6)], r.choice(floats)), "n": r.randint(0, 1)}
    if op == "average" and line == [0]:  # NumPy divides by 0
        op = case["op"] = "trapezoid"
    if op in ("average", "trapezoid"):
        weights = r.array(line, r.choice(floats), looked_at=False)
        if op == "average":
            weights["values"] = [r.randint(1, 4) for _ in weights["values"]]
        return {**case, "x": r.array(shape, r.choice(floats)), "y": weights}
    if op.startswith("histogram"):
        x = r.array(shape, wide, special=op != "histogram" and r.often(0.3))
        edges = r.array([r.randint(2, 5)], wide, looked_at=False)
        edges["values"].sort()
        low = r.randint(-4, 1)
        return {**case, "x": x, "y": edges, "n": r.randint(1, 5), "low": low, "high": low + r.choice([1, 2, 4, 8]),
                "values": r.array(list(array_of(x).shape), wide)}
    if op in ("searchsorted", "digitize"):
        dtype = r.choice([d for d in r.dtypes if d != "boolean"])
        bins = r.array([r.randint(0 if op == "searchsorted" else 1, 5)], dtype, looked_at=False)
        bins["values"].sort(reverse=op == "digitize" and r.often(0.5))
        values = r.array(shape, dtype)
        return {**case, "x": bins, "y": values} if op == "searchsorted" else {**case, "x": values, "y": bins}
    dtype = r.choice([d for d in r.dtypes if d not in ("u8", "u32", "boolean")])
    return {**case, "x": r.array(shape, dtype, special=op in ("isin", "unique")), "y": r.array(r.sizes(0, 2), dtype)}


def sorting(r):
    op = r.choice(["sort", "sort", "topk", "cumsum"])
    shape = r.sizes(1, 3)
    axis = r.randint(-len(shape), len(shape) - 1)
    case = {"op": op, "axis": axis, "x": r.array(shape, special=op != "cumsum")}
    if op == "topk":
        case["n"] = r.randint(0, shape[axis] + r.often(0.05))
    return {**case, "descending": r.often(0.5)}


def joining(r):
    op = r.choice(["concatenate", "stack", "broadcast_arrays"])
    dtype, shape = r.choice(r.dtypes), r.sizes(op == "concatenate", 3)
    count = r.randint(1, 4)
    axis = r.randint(-len(shape) - (op == "stack"), len(shape) - (op == "concatenate"))
    shapes = [list(shape) for _ in range(count)]
    for s in shapes:
        if op == "concatenate":
            s[axis] = r.randint(0, 3)
        if op == "broadcast_arrays":
            s[:] = r.broadcastable(s)
        elif r.often(0.02) and s:
            s[r.randrange(len(s))] += 1
    return {"op": op, "list": [r.array(s, dtype) for s in shapes], "axis": axis}


def moving(r):
    op = r.choice(["split", "unstack", "flip", "permute", "tile", "repeat", "roll", "rot90", "moveaxis", "diagonal",
                   "tril", "triu", "windows", "reshape", "pad"])
    shape = r.sizes(2 if op in ("rot90", "diagonal", "tril", "triu") else 1, 4)
    rank = len(shape)
    if op in ("rot90", "diagonal", "tril", "triu") and rank < 2:
        shape, rank = [3, 2], 2
    axis = r.randint(-rank, rank - 1)
    axes = r.sample(range(rank), rank if op == "permute" else 2 if op in ("rot90", "diagonal") else r.randint(0, rank))
    n = r.randint(-3, 3)
    case = {"op": op, "x": r.array(shape), "axis": axis, "axes": axes}
    if op in ("split", "repeat", "windows"):
        n = r.randint(1, 3)
    elif op == "moveaxis":
        n = r.randint(-rank, rank - 1)
    elif op == "tile":
        case["times"] = [r.randint(0, 3) for _ in range(r.randint(0, rank + 1))]
    elif op == "reshape":
        count = math.prod(shape)
        first = r.choice([d for d in range(1, count + 1) if count % d == 0] or [1])
        case["times"] = r.choice([[-1], [first, -1], [-1, first], [first, 1, count // first]])
    elif op == "pad":
        n = r.randint(0, 4)
        case["widths"] = [[r.randint(0, 2), r.randint(0, 2)] for _ in range(r.randint(1, rank))]
    return {**case, "n": n}


FAMILIES = [indexing, indexing, indexing, selecting, broadcasting, reductions, products, einsums, sorting, joining,
            moving, statistics_over_axes, statistics_of_lists]


# ---- comparison

def selects_nothing(case):
    """Whether x(…) is empty, were all its positions in range."""
    def near(item):
        return {**item, "values": [0 for _ in item["values"]]}
    items = [near(i) if isinstance(i, dict) and i["dtype"] != "boolean" else i for i in case["at"]]
    try:
        return not array_of(case["x"])[indices_of(items)].size
    except IndexError:
        return False


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
