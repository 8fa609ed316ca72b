"""Random cases for compare.py: expressions as JSON."""
import math
import random

import numpy as np

from numpy_answers import COMPLEX, REDUCED_WHERE, REDUCTIONS, SPECIAL, array_of, indices_of


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

    def mask(self, shape, count=None):
        """A mask, at times of another shape than it must have; with `count` trues where it can."""
        if shape and shape[0] and self.often(0.03):  # to one of size 0 NumPy does not look
            shape = [shape[0] + self.choice([-1, 1, 2] if shape[0] > 1 else [1, 2]), *shape[1:]]
        case = self.array(shape, "boolean", looked_at=count is None)
        if count is not None and count <= math.prod(shape):
            case["values"] = self.sample([1] * count + [0] * (math.prod(shape) - count), math.prod(shape))
        return case

    def index(self, shape):
        """Items for the axes in order, one of which may be an ellipsis; at times too many, or of a wrong kind."""
        items, axis, ellipsis = [], 0, self.often(0.3)
        common = self.sizes(0, 2)
        some = self.often(0.55)  # positions or masks
        while axis < len(shape):
            if self.often(0.1):
                items.append("newaxis")
            if some and self.often(0.03):
                items.append(self.array([], "boolean"))  # a mask without axes
            if ellipsis and self.often(0.3):
                items.append("ellipsis")
                ellipsis = self.often(0.03)  # a second one
                axis += self.randint(0, len(shape) - axis)
                continue
            if "ellipsis" not in items and self.often(0.1):
                break  # the others are whole
            kind = self.random()
            size = shape[axis]
            if kind < 0.2 and (size or self.often(0.1)):
                items.append(self.randint(-size, size - 1) if size and not self.often(0.02) else size)
            elif some and kind < 0.45:
                at = [1 if self.often(0.2) else n + self.often(0.02) for n in common]
                items.append(self.positions(size, at[self.randint(0, len(at)):] if self.often(0.2) else at))
                if self.often(0.01):
                    items[-1]["dtype"] = "f32"
            elif some and kind < 0.55:
                rank = self.randint(1, min(3, len(shape) - axis))
                items.append(self.mask(shape[axis:axis + rank], common[-1] if common and self.often(0.7) else None))
                axis += rank - 1
            else:
                items.append(self.slice(size) if not self.often(0.01) else [None, None, 0])
            axis += 1
        while not ellipsis and self.often(0.15):
            # Behind an ellipsis an item more would move the ranges before it to other axes, which they need not fit.
            more = ["newaxis"] if "ellipsis" in items else ["newaxis"] * 3 + ["ellipsis", 0, [None, None, 1]]
            items.append(self.choice(more))
        return items

    def shifted(self, shape):
        """Two ranges of every axis, of as many elements."""
        pairs = []
        for n in shape:
            length = self.randint(min(n, 1), n)
            def part():
                begin = self.randint(0, n - length)
                if self.often(0.6) or not length:
                    return [begin, begin + length, 1]
                return [begin + length - 1, begin - 1 if begin else None, -1]
            pairs.append((part(), part()))
        return [list(side) for side in zip(*pairs)]

    def broadcastable(self, shape):
        shape = shape[self.randint(0, len(shape)):] if self.often(0.3) else shape
        return [1 if self.often(0.25) else n for n in shape]


def indexing(r):
    x = r.array(r.sizes(0 if r.often(0.05) else 1, 4))
    shape = list(array_of(x).shape)
    op = r.choice(["index"] * 4 + ["assign", "assign", "index_put", "add_in_place", "index_add", "assign_overlapping"] +
                  ["index_gradient", "index_put_gradient", "index_add_gradient"])
    if op == "assign_overlapping":
        shape = shape or [2]
        at, begin = r.shifted(shape)
        return {"op": op, "x": r.array(shape, x["dtype"], looked_at=False), "at": at, "from": begin}
    gradient = op.endswith("gradient")
    if gradient or (x["dtype"] == "boolean" and op in ("add_in_place", "index_add")):
        x = r.array(shape, r.choice([d for d in r.dtypes if d.startswith("f")]))
    case = {"op": op, "x": x, "at": r.index(shape), "grad": gradient}
    if op in ("index", "index_gradient"):
        return case
    try:
        selected = list(array_of(x)[indices_of(case["at"])].shape)
    except (IndexError, ValueError):
        selected = [2]
    y = r.broadcastable(selected)
    if op in ("assign", "index_put") and selected and r.often(0.1):  # to one element NumPy does not
        y = [1] * r.randint(1, 2) + [1] * (len(selected) - len(y)) + y  # more axes, of size 1
    return {**case, "y": r.array(y, x["dtype"])}


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
