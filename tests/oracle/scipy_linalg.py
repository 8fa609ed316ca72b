"""What judges tern's linear algebra for compare_scipy.py: by SciPy's values, and by what defines the factors."""
import numpy as np
import scipy.linalg

from numpy_answers import array_of


class Differs(Exception):
    pass


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind in "fc" else x


def eps_of(case, name="x"):
    return float(np.finfo(array_of(case[name]).dtype).eps)


def norm(x):
    return float(np.abs(x).max(initial=0))


def near(got, want, bound, what="result"):
    """All elements, NaN and infinities in the same places."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        raise Differs(f"{what} has shape {got.shape}, of SciPy {want.shape}")
    finite = np.isfinite(want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        ok = np.where(finite, np.abs(got - want) <= bound, same)
    if not ok.all():
        raise Differs(f"{what} is\n{got}\nof SciPy\n{want}\n(bound {np.max(bound, initial=0)})")


def is_true(ok, text):
    if not ok:
        raise Differs(text)


def matrices(*arrays):
    """Each matrix of these batches, which broadcast."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    for at in np.ndindex(batch):
        yield tuple(np.broadcast_to(a, batch + a.shape[-2:])[at] for a in arrays)


def square(a):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("square")
    return a


def of_each(function, a, shape):
    """function of each matrix, and its shape for the empty batch."""
    out = [function(m[0]) for m in matrices(a)]
    return np.array(out).reshape(a.shape[:-2] + tuple(shape))


def mirrored(a, upper=False):
    """The Hermitian matrix of a triangle, as LAPACK reads it."""
    half = np.triu(a, 1) if upper else np.tril(a, -1)
    diagonal = np.einsum("...ii->...i", a).real[..., None] * np.eye(a.shape[-1])
    return half + np.conj(half.swapaxes(-1, -2)) + diagonal


def h(a):
    return np.conj(a.swapaxes(-1, -2))


def scale(a, n=None):
    """k·n·|a|, what an elimination's errors are bounded by, but for eps."""
    return 20 * max(1, *a.shape[-2:]) * max(norm(a), 1e-300)


def condition(a):
    s = np.linalg.svd(a, compute_uv=False) if a.size else np.ones((1, 1))
    with np.errstate(all="ignore"):
        return float(np.nan_to_num(s[..., 0] / s[..., -1], nan=1, posinf=np.inf).max(initial=1)) if s.size else 1.0


# ---- judges: of a case and tern's results; they raise Differs, or what SciPy raises

def cholesky(case, got):
    a = mirrored(square(wide(array_of(case["x"]))), case.get("upper", False))
    np.linalg.cholesky(a)  # who refuses
    l = wide(got[0])
    is_true(l.shape == a.shape, f"shape {l.shape}")
    product = h(l) @ l if case.get("upper") else l @ h(l)
    near(product, a, eps_of(case) * scale(a), "the product of the factors")
    is_true(not np.tril(l, -1).any() if case.get("upper") else not np.triu(l, 1).any(), "no triangle")
    is_true((np.einsum("...ii->...i", l).real > 0).all(), "a diagonal that is not positive")


def cholesky_ex(case, got):
    a = mirrored(square(wide(array_of(case["x"]))), case.get("upper", False))
    def minor(m):
        return next((k for k in range(1, len(m) + 1) if np.linalg.eigvalsh(m[:k, :k])[0] <= 0), 0)
    info = of_each(minor, a, ())
    near(got[1], info, 0, "info")
    if not info.any():
        cholesky(case, got)


def lu(case, got):
    a = wide(array_of(case["x"]))
    p, l, u = map(wide, got)
    k = min(a.shape[-2:])
    is_true(l.shape == a.shape[:-1] + (k,) and u.shape == a.shape[:-2] + (k, a.shape[-1]) and
            p.shape == a.shape[:-1] + (a.shape[-2],), f"shapes {p.shape} {l.shape} {u.shape}")
    near(p @ l @ u, a, eps_of(case) * scale(a), "p·l·u")
    is_true(((p == 0) | (p == 1)).all() and (p.sum(-1) == 1).all() and (p.sum(-2) == 1).all(), "no permutation")
    is_true(not np.triu(l, 1).any() and (np.einsum("...ii->...i", l[..., :k, :]) == 1).all(), "no unit triangle")
    is_true(not np.tril(u, -1).any() and (np.abs(l) <= 2 ** 0.5 + 1e-5).all(),
            "no triangle, or pivots that are not the largest")


def lu_factor(case, got):
    a = wide(array_of(case["x"]))
    k = min(a.shape[-2:])
    is_true(got[0].shape == a.shape and got[1].shape == a.shape[:-2] + (k,), f"shapes {got[0].shape} {got[1].shape}")
    for at in np.ndindex(a.shape[:-2]):
        m, both, pivots = a[at], wide(got[0])[at], got[1][at]
        if np.any(np.diag(scipy.linalg.lu_factor(m)[0]) == 0):
            raise np.linalg.LinAlgError("singular")
        product = (np.tril(both, -1) + np.eye(*m.shape))[:, :k] @ np.triu(both)[:k]
        for i in reversed(range(k)):
            product[[i, pivots[i]]] = product[[pivots[i], i]]
        near(product, m, eps_of(case) * scale(m), "the product of the factors")


def as_columns(a, b):
    """b as a batch of matrices, and whether it is one of vectors."""
    vectors = b.ndim == 1 or b.shape == a.shape[:-1] and not (b.ndim >= 2 and b.shape[-2] == a.shape[-1] and False)
    return (b[..., None], True) if vectors else (b, False)


def solve(case, got):
    a, b = square(wide(array_of(case["x"]))), wide(array_of(case["y"]))
    columns, vectors = as_columns(a, b)
    want = np.linalg.solve(a, columns)
    x = wide(got[0])
    is_true(x.shape == (want[..., 0] if vectors else want).shape, f"shape {x.shape}, of SciPy {want.shape}")
    x = x[..., None] if vectors else x
    near(a @ x, np.broadcast_to(columns, want.shape), eps_of(case) * scale(a) * max(1, norm(want)), "a·x")
    near(x, want, eps_of(case) * 50 * a.shape[-1] * condition(a) * max(1e-300, norm(want)), "x")
    if len(got) > 1:
        is_true(not got[1].any(), "info")


def qr(case, got):
    a = wide(array_of(case["x"]))
    q, r = map(wide, got)
    m, n = a.shape[-2:]
    k = m if case.get("complete") else min(m, n)
    is_true(q.shape == a.shape[:-2] + (m, k) and r.shape == a.shape[:-2] + (k, n), f"shapes {q.shape} {r.shape}")
    eps = eps_of(case)
    near(q @ r, a, eps * scale(a), "q·r")
    near(h(q) @ q, np.broadcast_to(np.eye(k), q.shape[:-2] + (k, k)), eps * 20 * max(m, n, 1), "qᴴ·q")
    is_true(not np.tril(r, -1).any(), "r is no triangle")


def svd(case, got):
    a = wide(array_of(case["x"]))
    u, s, vh = map(wide, got)
    m, n = a.shape[-2:]
    k, eps = min(m, n), eps_of(case)
    full = case.get("full_matrices")
    is_true(u.shape == a.shape[:-2] + (m, m if full else k) and vh.shape == a.shape[:-2] + (n if full else k, n),
            f"shapes {u.shape} {vh.shape}")
    svdvals(case, [got[1]])
    near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, eps * scale(a), "u·s·vh")
    near(h(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), a.shape[:-2] + (u.shape[-1],) * 2), eps * 20 * max(m, n, 1),
         "uᴴ·u")
    near(vh @ h(vh), np.broadcast_to(np.eye(vh.shape[-2]), a.shape[:-2] + (vh.shape[-2],) * 2),
         eps * 20 * max(m, n, 1), "vh·vhᴴ")


def svdvals(case, got):
    a = wide(array_of(case["x"]))
    want = of_each(scipy.linalg.svdvals, a, (min(a.shape[-2:]),)) if a.size else np.zeros(
        a.shape[:-2] + (min(a.shape[-2:]),))
    near(wide(got[0]), want, eps_of(case) * scale(a), "singular values")


def eigvalsh(case, got):
    a = mirrored(square(wide(array_of(case["x"]))))
    near(wide(got[0]), of_each(scipy.linalg.eigvalsh, a, a.shape[-1:]) if a.size else np.zeros(a.shape[:-1]),
         eps_of(case) * scale(a), "eigenvalues")


def eigh(case, got):
    eigvalsh(case, got)
    a = mirrored(wide(array_of(case["x"])))
    w, v = map(wide, got)
    near(a @ v, v * w[..., None, :], eps_of(case) * scale(a), "a·v")
    near(h(v) @ v, np.broadcast_to(np.eye(a.shape[-1]), a.shape), eps_of(case) * 20 * max(1, a.shape[-1]), "vᴴ·v")


def eigvals(case, got):
    a = square(wide(array_of(case["x"])))
    is_true(got[0].shape == a.shape[:-1] and got[0].dtype.kind == "c", f"shape {got[0].shape} of {got[0].dtype}")
    for at in np.ndindex(a.shape[:-2] if a.size else (0,)):
        m, values = a[at], wide(got[0])[at]
        want, v = scipy.linalg.eig(m)
        bound = min(eps_of(case) * scale(m) * condition(v), 1)  # Bauer and Fike (1960)
        left = list(values)
        for w in want:  # as sets
            nearest = min(range(len(left)), key=lambda i: abs(left[i] - w))
            is_true(abs(left[nearest] - w) <= bound, f"eigenvalues {values}, of SciPy {want} (bound {bound})")
            left.pop(nearest)


def eig(case, got):
    eigvals(case, got)
    a = wide(array_of(case["x"]))
    w, v = map(wide, got)
    near(a @ v, v * w[..., None, :], eps_of(case) * scale(a), "a·v")
    near(np.linalg.norm(v, axis=-2), np.ones(w.shape), 20 * eps_of(case), "lengths of vectors")


def solve_triangular(case, got):
    a, b = square(wide(array_of(case["x"]))), wide(array_of(case["y"]))
    upper, left, unit = case["upper"], case["left"], case["unit"]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    want = []
    for m, c in matrices(a, b):
        if left:
            want.append(scipy.linalg.solve_triangular(m, c, lower=not upper, unit_diagonal=unit))
        else:
            want.append(scipy.linalg.solve_triangular(m.T, c.T, lower=upper, unit_diagonal=unit).T)
    want = np.array(want).reshape(batch + b.shape[-2:])
    near(wide(got[0]), want, eps_of(case) * 1e3 * max(1, a.shape[-1]) * max(1, norm(want)))


def cholesky_solve(case, got):
    a, b = mirrored(wide(array_of(case["x"])), case.get("upper", False)), wide(array_of(case["y"]))
    want = np.linalg.solve(a, b)
    near(wide(got[0]), want, eps_of(case) * 50 * max(1, a.shape[-1]) * condition(a) * max(1e-300, norm(want)))


def inv(case, got):
    a = square(wide(array_of(case["x"])))
    want = of_each(scipy.linalg.inv, a, a.shape[-2:])
    near(wide(got[0]), want, eps_of(case) * 50 * max(1, a.shape[-1]) * condition(a) * max(1e-300, norm(want)))


def cutoff(case, a):
    return case["rtol"] if "rtol" in case else max(a.shape[-2:]) * eps_of(case)


def of_rank(a, rtol):
    """The condition number of what is above the cutoff; cases near it have no meaning, and the generator makes none."""
    s = np.linalg.svd(a, compute_uv=False) if a.size else np.ones((1, 1))
    return float(np.max(s[..., :1] / np.where(s > rtol * s[..., :1], s, np.inf), initial=1))


def pinv(case, got):
    a = wide(array_of(case["x"]))
    rtol = cutoff(case, a)
    want = of_each(lambda m: scipy.linalg.pinv(m, atol=0, rtol=rtol) if m.size else np.zeros(m.shape[::-1]), a,
                   a.shape[:-3:-1])
    near(wide(got[0]), want, eps_of(case) * 100 * max(1, *a.shape[-2:]) * of_rank(a, rtol) * max(1e-300, norm(want)))


def det(case, got):
    a = square(wide(array_of(case["x"])))
    bound = np.prod(np.linalg.norm(a, axis=-1), -1)  # Hadamard's
    want = of_each(scipy.linalg.det, a, ())
    if norm(want) < 1e30:  # which f32 has, and the products before it
        near(wide(got[0]), want, eps_of(case) * 50 * max(1, a.shape[-1]) * bound + 1e-300)


def slogdet(case, got):
    a = square(wide(array_of(case["x"])))
    sign, log = np.linalg.slogdet(a)
    bound = eps_of(case) * 50 * max(1, a.shape[-1]) * condition(a)
    near(wide(got[0]), sign, bound, "sign")
    near(wide(got[1]), log, bound + 4 * eps_of(case) * norm(log[np.isfinite(log)]), "logabsdet")


def lstsq(case, got):
    a, b = wide(array_of(case["x"])), wide(array_of(case["y"]))
    rtol = cutoff(case, a)
    vectors = b.ndim == 1
    b = b[:, None] if vectors else b
    want, ranks, values = [], [], []
    for m, c in matrices(a, b):
        x, _, rank, s = scipy.linalg.lstsq(m, c, cond=rtol, lapack_driver="gelsd")
        want.append(x), ranks.append(rank), values.append(s)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    want = np.array(want).reshape(batch + (a.shape[-1], b.shape[-1]))
    c = of_rank(a, rtol)
    near(wide(got[0]), want[..., 0] if vectors else want,
         eps_of(case) * 100 * max(1, *a.shape[-2:]) * c * c * max(1, norm(want), norm(b)), "solution")
    near(got[1], of_each(lambda m: np.linalg.matrix_rank(m, rtol=rtol), a, ()), 0, "rank")
    svdvals(case, [got[2]])


def order_of(case):
    return {"inf": np.inf, "-inf": -np.inf}.get(case["norm"], case["norm"])


def matrix_norm(case, got):
    a = wide(array_of(case["x"]))
    want = np.linalg.norm(a, order_of(case), (-2, -1), case.get("keepdim", False))
    near(wide(got[0]), want, eps_of(case) * scale(a) * max(1, *a.shape[-2:]) ** 0.5)


def vector_norm(case, got):
    x, p = wide(array_of(case["x"])), order_of(case)
    want = np.linalg.vector_norm(x, axis=tuple(case["axes"]) if case.get("axes") else None, ord=p,
                                 keepdims=case.get("keepdim", False))
    near(wide(got[0]), want, eps_of(case) * 200 * np.maximum(1, np.abs(want)))


def matrix_rank(case, got):
    a = wide(array_of(case["x"]))
    near(got[0], of_each(lambda m: np.linalg.matrix_rank(m, rtol=cutoff(case, a)), a, ()), 0)


def cond(case, got):
    a = wide(array_of(case["x"]))
    want = np.linalg.cond(a, order_of(case))
    near(wide(got[0]), want, eps_of(case) * 100 * max(1, *a.shape[-2:]) * np.maximum(condition(a), want) * want)


def expm(case, got):
    a = square(wide(array_of(case["x"])))
    want = scipy.linalg.expm(a) if a.size else a
    one = float(np.linalg.norm(a, 1, (-2, -1)).max(initial=0))
    near(wide(got[0]), want, eps_of(case) * 100 * max(1, a.shape[-1]) * (1 + one) * np.exp(np.minimum(one, 500)))


def plain(function, factor=100):
    """What has one value: function of the case, all of whose sums are of few numbers of about 1."""
    def judge(case, got):
        want = np.asarray(function(case))
        near(wide(got[0]), want, factor * eps_of(case) * max(1, norm(want)))
    return judge


def matrix_power(case):
    a, n = square(wide(array_of(case["x"]))), case["n"]
    return np.linalg.matrix_power(a, n)


JUDGES = {f.__name__: f for f in (cholesky, cholesky_ex, lu, lu_factor, qr, svd, svdvals, eigh, eigvalsh, eig, eigvals,
                                  solve, solve_triangular, cholesky_solve, inv, pinv, det, slogdet, lstsq, matrix_norm,
                                  vector_norm, matrix_rank, cond, expm)}
JUDGES.update({
    "lu_solve": solve, "solve_ex": solve,
    "matrix_power": plain(matrix_power, 1000),
    "trace": plain(lambda c: np.trace(wide(array_of(c["x"])), c["n"], -2, -1)),
    "cross": plain(lambda c: np.cross(wide(array_of(c["x"])), wide(array_of(c["y"])))),
    "vecdot": plain(lambda c: np.vecdot(wide(array_of(c["x"])), wide(array_of(c["y"])))),
})
