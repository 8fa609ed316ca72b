"""What NumPy makes of a case of compare.py."""
import math

import numpy as np

DTYPES = {"boolean": np.bool_, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "u32": np.uint32,
          "i64": np.int64, "f32": np.float32, "f64": np.float64}
HALVES = {"f16": np.float16}
try:
    from ml_dtypes import bfloat16
    HALVES["bf16"] = bfloat16
except ImportError:
    pass
COMPLEX = {"c64": np.complex64, "c128": np.complex128}
ON_WEBGPU = ["boolean", "i32", "u32", "f32"]
SPECIAL = ["nan", "inf", "-inf"]


# ---- from JSON to NumPy

def array_of(case):
    x = np.array([float(v) for v in case["values"]])
    if "imaginary" in case:
        x = x + 1j * np.array(case["imaginary"], np.float64)
    x = x.reshape(case["shape"]).astype({**DTYPES, **HALVES, **COMPLEX}[case["dtype"]])
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


def assigned(x, at, y):
    """x[at] = y, and which element of y, broadcast, each element of x was written by last; -1: none."""
    # NumPy refuses what does not fit. Of values with more axes it takes for positions what it does not for a mask.
    listed = [p for i in at for p in (np.nonzero(i) if getattr(i, "dtype", None) == bool and i.ndim else [i])]
    x.copy()[tuple(listed)] = y
    places = np.arange(x.size).reshape(x.shape)[at]
    values = np.broadcast_to(y.reshape(y.shape[max(0, y.ndim - places.ndim):]), places.shape)
    writers = in_order(np.full(x.shape, -1), places, np.arange(places.size).reshape(places.shape))
    return in_order(x, places, values), writers, places.shape


def written(case, add=False):
    x, at, y = array_of(case["x"]), indices_of(case["at"]), array_of(case["y"])
    if not add:
        return [assigned(x, at, y)[0]]
    selected = x[at]
    return [assigned(x, at, selected + np.broadcast_to(y, selected.shape))[0]]


def overlapping(case):
    x = array_of(case["x"]).copy()
    x[indices_of(case["at"])] = x[indices_of(case["from"])]
    return [x]


def weights(shape):
    """What each element of a result counts in the loss that gradients are taken of (with_gradients in case.cpp)."""
    return np.cos(0.7 * np.arange(math.prod(shape))).reshape(shape)


def summed_to(g, shape):
    """The gradient of what was broadcast from this shape."""
    full = [1] * (g.ndim - len(shape)) + list(shape)[max(0, len(shape) - g.ndim):]
    axes = tuple(a for a in range(g.ndim) if full[a] == 1 and g.shape[a] != 1)
    return g.sum(axes, keepdims=True).reshape(shape)


def index_gradient(case):
    x, at = array_of(case["x"]), indices_of(case["at"])
    y, g = x[at], np.zeros(x.shape)
    np.add.at(g, at, weights(y.shape))
    return [y, g]


def index_put_gradient(case):
    x, at, y = array_of(case["x"]), indices_of(case["at"]), array_of(case["y"])
    result, writers, shape = assigned(x, at, y)
    w, g = weights(x.shape), np.zeros(math.prod(shape))
    g[writers[writers >= 0]] = w[writers >= 0]
    return [result, np.where(writers >= 0, 0, w), summed_to(g.reshape(shape), y.shape)]


def index_add_gradient(case):
    x, at, y = array_of(case["x"]), indices_of(case["at"]), array_of(case["y"])
    w = weights(x.shape)
    return [*added(case), w, summed_to(w[at], y.shape)]


def added(case):
    x, at, y = array_of(case["x"]).copy(), indices_of(case["at"]), array_of(case["y"])
    # NumPy 2.4.6 reads beside values that it broadcasts and whose step is negative.
    np.add.at(x, at, np.broadcast_to(y, np.broadcast_shapes(y.shape, x[at].shape)).copy())
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
    x, q = array_of(case["x"]).astype(np.float64), array_of(case["y"]).astype(np.float64)
    if any(x.shape[a] == 0 for a in case["axes"] or range(x.ndim)):
        raise ValueError("nothing")
    if not x.size:  # of some shapes without elements NumPy's quantile fails
        return [np.zeros(q.shape + np.mean(x, taken_axes(case), keepdims=case["keepdims"]).shape)]
    return [np.quantile(x, q, taken_axes(case), method=methods[case["n"]], keepdims=case["keepdims"])]


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
    "assign_overlapping": overlapping,
    "index_gradient": index_gradient,
    "index_put_gradient": index_put_gradient,
    "index_add_gradient": index_add_gradient,
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
GRADIENTS = {"index_gradient", "index_put_gradient", "index_add_gradient"}
ROUNDED |= GRADIENTS
INDEXING = {"index", "assign", "index_put", "add_in_place", "index_add"} | GRADIENTS
# Whose results have the dtype of x, or another that both libraries give.
SAME_DTYPE = {"index", "assign", "index_put", "add_in_place", "index_add", "take", "take_along_axis", "put_along_axis",
              "masked_select", "concatenate", "stack", "split", "unstack", "broadcast_arrays", "flip", "permute",
              "tile", "repeat", "roll", "rot90", "moveaxis", "diagonal", "tril", "triu", "windows", "reshape", "pad",
              "max", "min", "any", "all", "less", "equal"}
