"""Eigenpairs, singular values and moments against closed forms and dense float64 solvers."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.graph import laplacian, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim._core.runtime import memory
from lowdim._core.spectrum import Moments, covariance, eigenpairs, gram, problem, solvers, svd

SOLVERS = ["lapack", "block", "arpack", "lobpcg"]


def path_laplacian(n):
    L = sp.diags_array([np.full(n, 2.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1]).tolil()
    L[0, 0] = L[-1, -1] = 1.0
    return L.tocsr(), 4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2


def cycle_laplacian(n):
    L = path_laplacian(n)[0].tolil()
    L[0, 0] = L[-1, -1] = 2.0
    L[0, -1] = L[-1, 0] = -1.0
    return L.tocsr(), np.sort(4 * np.sin(np.pi * np.arange(n) / n) ** 2)


def grid_laplacian(a, b):
    (A, wa), (B, wb) = path_laplacian(a), path_laplacian(b)
    return sp.kronsum(A, B, format="csr"), np.sort(np.add.outer(wa, wb).ravel())


def with_spectrum(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its vectors."""
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


def lle_matrix(n, seed=0, k=8, reg=1e-3):
    """(I - W)'(I - W) of reconstruction weights on a noise-free sheet: null vector 1, tiny eigenvalues."""
    u = np.random.default_rng(seed).random((n, 2))
    X = np.column_stack([np.cos(3 * u[:, 0]), np.sin(3 * u[:, 0]), 2 * u[:, 1]])
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    W = np.zeros((n, n))
    for i in range(n):
        near = np.argsort(D[i])[1 : k + 1]
        G = (X[near] - X[i]) @ (X[near] - X[i]).T
        w = np.linalg.solve(G + reg * np.trace(G) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    R = np.eye(n) - W
    return R.T @ R


def check(found, A, reference, atol=1e-10, mass=None):
    """The promises every result keeps: values, orthonormality, residual honesty, signs."""
    A = A.toarray() if sp.issparse(A) else np.asarray(A, dtype=float)
    M = np.ones(len(A)) if mass is None else mass
    scale = max(np.abs(reference).max(), sla.norm(A / np.sqrt(np.outer(M, M)), 2))
    np.testing.assert_allclose(found.values, reference, rtol=0, atol=atol * scale)
    V = found.vectors
    assert V.dtype == np.float64
    np.testing.assert_allclose(V.T @ (M[:, None] * V), np.eye(V.shape[1]), atol=1e-9)
    residual = (A @ V - M[:, None] * V * found.values) / np.sqrt(M)[:, None]
    assert np.all(np.linalg.norm(residual, axis=0) <= 3 * (found.residuals + 1e-13) * scale)
    assert np.all(V.max(axis=0) >= -V.min(axis=0) * (1 - 1e-8))


# ---------------------------------------------------------------------------- closed forms, all solvers agree


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("make", [lambda: path_laplacian(120), lambda: grid_laplacian(11, 13)], ids=["path", "grid"])
def test_closed_form_laplacians(make, solver):
    L, values = make()
    check(eigenpairs(L, 6, which="smallest", solver=solver), L, values[:6])
    check(eigenpairs(L, 6, which="largest", solver=solver), L, values[::-1][:6])


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_path_vectors_are_cosines(solver):
    n = 150
    L, _ = path_laplacian(n)
    V = eigenpairs(L, 4, which="smallest", skip=np.ones(n), solver=solver).vectors
    expected = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 5)) / n)
    expected /= np.linalg.norm(expected, axis=0)
    np.testing.assert_allclose(V, problem.fix_signs(expected), atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("k", [3, 6])  # 6 cuts a double eigenvalue
def test_double_eigenvalues_of_a_cycle(solver, k):
    L, values = cycle_laplacian(101)
    check(eigenpairs(L, k, which="smallest", solver=solver), L, values[:k])
    check(eigenpairs(L, k, which="largest", solver=solver), L, values[::-1][:k])


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_disconnected_laplacian_has_all_its_zeros(solver):
    parts = [path_laplacian(n) for n in (40, 60, 60, 25)]
    L = sp.block_diag([A for A, _ in parts], format="csr")
    values = np.sort(np.concatenate([w for _, w in parts]))
    check(eigenpairs(L, 7, which="smallest", solver=solver), L, values[:7])
    constants = sp.block_diag([np.ones((A.shape[0], 1)) for A, _ in parts]).toarray()
    found = eigenpairs(L, 3, which="smallest", skip=constants, solver=solver)
    check(found, L, values[4:7])
    np.testing.assert_allclose(constants.T @ found.vectors, 0, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator], ids=["dense", "sparse", "operator"])
def test_identity_and_its_relatives(solver, form):
    values = np.array([5.0] * 6 + [1.0] * 90 + [0.5] * 4)
    A = np.diag(np.random.default_rng(0).permutation(values))
    tol = 1e-8 if solver == "lobpcg" else 1e-10  # without a preconditioner LOBPCG ends above 1e-10, in old scipy 5e-9
    check(eigenpairs(form(A), 8, solver=solver, tol=tol), A, [5.0] * 6 + [1.0] * 2)
    check(eigenpairs(form(A), 5, which="smallest", solver=solver, tol=tol), A, [0.5] * 4 + [1.0])
    check(eigenpairs(form(np.eye(100)), 4, solver=solver), np.eye(100), np.ones(4))


@pytest.mark.parametrize("solver", SOLVERS)
def test_dense_solvers_agree_with_numpy(solver):
    A, _ = with_spectrum(np.random.default_rng(1).standard_normal(130) * np.linspace(0.1, 3, 130))
    values = np.linalg.eigvalsh(A)
    check(eigenpairs(A, 5, solver=solver), A, values[::-1][:5])
    check(eigenpairs(A, 5, which="smallest", solver=solver), A, values[:5])


def test_hilbert_and_graded_matrices():
    H = sla.hilbert(12)
    np.testing.assert_allclose(eigenpairs(H, 12).values, np.linalg.eigvalsh(H)[::-1], atol=1e-15)
    graded = 10.0 ** -np.arange(500.0).clip(0, 14)
    A, _ = with_spectrum(graded)
    for solver in ("block", "lapack"):
        check(eigenpairs(A, 10, solver=solver), A, graded[:10], atol=1e-14)


@pytest.mark.parametrize("solver", ["block", "arpack", "lapack"])
def test_tiny_eigenvalues_of_lle_matrices_are_right(solver):
    n = 300
    M = lle_matrix(n)
    exact = np.linalg.svd(np.linalg.cholesky(M + 1e-3 * np.eye(n)))[1]  # only to see that the scale is as expected
    assert exact[-1] ** 2 == pytest.approx(1e-3, rel=1e-2)
    dense = np.linalg.eigvalsh(M)
    found = eigenpairs(sp.csr_array(M), 4, which="smallest", skip=np.ones(n), solver=solver)
    assert dense[1] < 1e-4 * dense[-1]
    np.testing.assert_allclose(found.values, dense[1:5], rtol=1e-6, atol=2e-15 * dense[-1])
    np.testing.assert_allclose(np.ones(n) @ found.vectors, 0, atol=1e-9)


@pytest.mark.parametrize("solver", ["block", "arpack"])
def test_eigenvalues_down_to_rounding_are_separated(solver):
    # Block-diagonal, so that the spectrum is known exactly and the matrix is sparse: 1e-7, 1e-10, 1e-12,
    # 1e-14 and 0.
    wanted = np.array([0.0, 1e-14, 1e-12, 1e-10, 1e-7])
    values = np.concatenate([wanted, np.linspace(0.01, 1, 295)])
    blocks = [with_spectrum(values[i::60], seed=i)[0] for i in range(60)]
    A = sp.block_diag(blocks, format="csr")
    found = eigenpairs(A, 5, which="smallest", solver=solver)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-6, atol=3e-16)
    assert found.residuals.max() < 1e-14


def test_indefinite_sparse_matrices_do_not_lose_their_negative_end():
    values = np.concatenate([[-3.0, -1e-3, -1e-6], np.linspace(1e-8, 5, 300)])
    A = sp.diags_array(np.random.default_rng(0).permutation(values)).tocsr()
    for solver in ("block", "arpack"):
        check(eigenpairs(A, 5, which="smallest", solver=solver), A, values[:5])


# ------------------------------------------------------------------------------------------ mass and skipping


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_mass_equals_the_dense_generalised_problem(solver):
    L, _ = grid_laplacian(9, 14)
    mass = np.random.default_rng(3).uniform(0.1, 5, L.shape[0])
    values = sla.eigh(L.toarray(), np.diag(mass), eigvals_only=True)
    check(eigenpairs(L, 4, which="smallest", mass=mass, solver=solver), L, values[:4], mass=mass)
    found = eigenpairs(L, 4, which="smallest", mass=mass, skip=np.ones(len(mass)), solver=solver)
    check(found, L, values[1:5], mass=mass)
    np.testing.assert_allclose(mass @ found.vectors, 0, atol=1e-9)
    check(eigenpairs(L, 4, mass=mass, solver=solver), L, values[::-1][:4], mass=mass)


@pytest.mark.parametrize("solver", SOLVERS)
def test_skip_a_number_of_pairs(solver):
    L, values = path_laplacian(100)
    check(eigenpairs(L, 3, which="smallest", skip=2, solver=solver), L, values[2:5])
    check(eigenpairs(L, 3, skip=1, solver=solver), L, values[::-1][1:4])


@pytest.mark.parametrize("solver", SOLVERS)
def test_deflated_space_does_not_come_back_as_zeros(solver):
    # All other eigenvalues are negative, so that the zeros a projection makes would be the largest.
    values = np.concatenate([[2.0, 1.0], -np.linspace(1, 4, 98)])
    A, Q = with_spectrum(values)
    found = eigenpairs(A, 3, skip=Q[:, :2] @ np.array([[1.0, 2.0], [3.0, 4.0]]), solver=solver)
    check(found, A, values[2:5])


def test_skip_must_be_invariant_and_may_be_dependent():
    L, values = path_laplacian(50)
    with pytest.raises(ValueError, match="eigenpairs: skip must span an invariant subspace"):
        eigenpairs(L, 2, which="smallest", skip=np.arange(50.0))
    twice = np.ones((50, 2)) * [1.0, -3.0]
    check(eigenpairs(L, 2, which="smallest", skip=twice), L, values[1:3])


# ---------------------------------------------------------------------------------------- sizes and precision


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("solver", ["auto", "lapack", "block", "lobpcg"])
def test_every_k_up_to_n(n, solver):
    A, _ = with_spectrum(np.arange(1.0, n + 1))
    for k in range(1, n + 1):
        check(eigenpairs(A, k, solver=solver), A, np.arange(n, n - k, -1.0))
        check(eigenpairs(sp.csr_array(A), k, which="smallest", solver=solver), A, np.arange(1.0, k + 1))


def test_arpack_with_k_near_n():
    A, _ = with_spectrum(np.arange(1.0, 8))
    check(eigenpairs(A, 7, solver="arpack"), A, np.arange(7.0, 0, -1))


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_zero_matrix(which):
    found = eigenpairs(np.zeros((500, 500)), 3, which=which)
    np.testing.assert_array_equal(found.values, 0)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_results_do_not_depend_on_the_units(scale):
    L, values = grid_laplacian(25, 30)
    a, b = (eigenpairs(L * s, 4, which="smallest", skip=np.ones(750)) for s in (1.0, scale))
    np.testing.assert_allclose(b.values, scale * values[1:5], rtol=1e-9)
    np.testing.assert_allclose(a.vectors, b.vectors, atol=1e-7)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("scale", [1e-250, 1e-170, 1e170, 1e250])
def test_matrices_whose_squares_are_out_of_range(scale, wrap):
    # Norms of their products vanish or overflow: a zero norm once passed any vector as accurate.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 300)) * np.logspace(0, -1, 300)
    K = X @ X.T
    want, found = eigenpairs(K, 3, solver="lapack"), eigenpairs(wrap(K * scale), 3)
    np.testing.assert_allclose(found.values, scale * want.values, rtol=1e-9)
    np.testing.assert_allclose(found.vectors, want.vectors, atol=1e-7)


def test_float32_kernels_keep_their_precision():
    X = np.random.default_rng(0).standard_normal((600, 4))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    exact = eigenpairs(K, 6, solver="lapack")
    found = eigenpairs(K.astype(np.float32), 6, solver="block")
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-6)
    np.testing.assert_allclose(found.vectors, exact.vectors, atol=1e-4)
    # What is reported is the residual of the rounded matrix, in float64.
    A = K.astype(np.float32).astype(np.float64)
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0) / sla.norm(A, 2)
    np.testing.assert_allclose(found.residuals, true, rtol=0.7, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, bool])
def test_other_dtypes(dtype):
    A = np.ones((5, 5), dtype=dtype)
    np.testing.assert_allclose(eigenpairs(A, 2).values, [5, 0], atol=1e-12)


def test_fortran_order_and_read_only_input_are_left_alone():
    A, _ = with_spectrum(np.arange(500.0))
    F = np.asfortranarray(A)
    F.flags.writeable = False
    before = F.copy()
    for k in (3, 400):
        check(eigenpairs(F, k), A, np.arange(499.0, 499 - k, -1))
    np.testing.assert_array_equal(F, before)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    values=st.lists(st.floats(-10, 10, width=32).map(lambda v: round(v, 2)), min_size=12, max_size=60),
    k=st.integers(1, 5),
    which=st.sampled_from(["largest", "smallest"]),
    solver=st.sampled_from(["block", "arpack", "lapack"]),
    form=st.sampled_from([np.asarray, sp.csr_array, aslinearoperator]),
)
def test_any_spectrum(values, k, which, solver, form):
    A, _ = with_spectrum(np.array(values))
    reference = np.sort(values)[:k] if which == "smallest" else np.sort(values)[::-1][:k]
    check(eigenpairs(form(A), k, which=which, solver=solver), A, reference, atol=1e-9)


# ---------------------------------------------------------------------------------- choice, fallback, honesty


def test_auto_chooses_by_size_sparsity_and_end():
    K, _ = with_spectrum(0.5 ** np.arange(1100.0))
    L, _ = grid_laplacian(25, 30)
    assert eigenpairs(K, 3).solver == "block"
    assert eigenpairs(K, 300).solver == eigenpairs(K, 30).solver == "lapack"
    assert eigenpairs(K[:50, :50], 3).solver == "lapack"
    assert eigenpairs(L, 3, which="smallest").solver == "arpack"
    assert eigenpairs(L, 3).solver in ("block", "arpack")


def test_memory_limit_keeps_from_factorising():
    L, values = grid_laplacian(70, 71)
    task = problem.Problem(L, None, np.empty((4970, 0)), 3, -1.0, 8.0, 1e-10, None, np.random.default_rng(0), "")
    needed = solvers.factor_bytes(task)
    with memory.config(memory_limit=needed // 2):
        found = eigenpairs(L, 3, which="smallest", skip=np.ones(4970))
        assert found.solver == "multigrid"
        np.testing.assert_allclose(found.values, values[1:4], atol=1e-9)
        with pytest.raises(MemoryError, match="sparse factors"):
            eigenpairs(L, 3, which="smallest", solver="arpack")


@pytest.mark.parametrize("make", [lambda: grid_laplacian(40, 50)[0], lambda: sp.csr_array(lle_matrix(400))])
def test_factor_bytes_bounds_the_factors(make):
    A = make()
    n = A.shape[0]
    task = problem.Problem(A, None, np.empty((n, 0)), 3, -1.0, 8.0, 1e-10, None, np.random.default_rng(0), "")
    used = 12 * solvers._symmetric_lu(sp.csc_array(A), -1e-6).nnz
    assert 2 * used <= solvers.factor_bytes(task) <= 100 * used
    assert used <= solvers.factor_bytes(replace(task, semidefinite=True)) <= 50 * used


def test_unfinished_results_warn_and_tell():
    A, _ = with_spectrum(np.linspace(1, 1.001, 600))
    with pytest.warns(ConvergenceWarning, match=r"me: \d of 4 eigenpairs miss .*solver 'block'") as caught:
        found = eigenpairs(A, 4, solver="block", max_iter=2, tol=1e-12, owner="me")
    assert caught[0].filename == __file__
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0) / sla.norm(A, 2)
    np.testing.assert_allclose(found.residuals, true, rtol=1e-3)
    assert found.residuals.max() > 1e-6
    # "auto" goes on to a solver that finishes
    again = eigenpairs(A, 4, max_iter=2, tol=1e-12)
    assert again.solver == "lapack"
    check(again, A, np.linspace(1, 1.001, 600)[::-1][:4])
    # unless a place to start from is all that is wanted: then nothing is said either
    rough = eigenpairs(A, 4, solver="block", max_iter=2, tol=1e-12, rough=True)
    np.testing.assert_array_equal(rough.vectors, found.vectors)


def test_few_digits_of_a_graph_without_structure_need_no_large_factors():
    """Of 3,000 rows in ten dimensions these take 1.6 s and 70 MB, multigrid 0.1 s."""
    X = np.random.default_rng(0).standard_normal((3000, 10))
    G = neighbor_graph(nearest(X, 15))
    G.data[:] = 1.0
    L, _ = laplacian(G)
    settings = {"which": "smallest", "skip": np.ones((3000, 1)), "tol": 1e-4, "rough": True}
    found = eigenpairs(L, 2, **settings)
    assert found.solver == "multigrid"
    assert found.residuals.max() < 1e-3
    assert eigenpairs(grid_laplacian(50, 60)[0], 2, **settings).solver == "arpack"


def test_a_failing_solver_is_followed_by_the_next(monkeypatch):
    def fail(problem):
        raise RuntimeError("broken on purpose")

    monkeypatch.setitem(solvers.SOLVERS, "block", fail)
    A, _ = with_spectrum(np.arange(500.0))
    assert eigenpairs(A, 3).solver == "lapack"
    with pytest.raises(RuntimeError, match="on purpose"):
        eigenpairs(A, 3, solver="block")


def test_arpack_completes_a_missed_copy(monkeypatch):
    values = np.array([5.0, 5.0, 4.0, 3.0, *np.linspace(0, 1, 96)])
    A, Q = with_spectrum(values)
    real, calls = solvers._eigsh, []

    def miss_one(problem, times, k, tol):
        calls.append(k)
        if len(calls) == 1:  # what one vector's Krylov space holds in exact arithmetic
            return np.array([5.0, 4.0, 3.0]), Q[:, [0, 2, 3]]
        return real(problem, times, k, tol)

    monkeypatch.setattr(solvers, "_eigsh", miss_one)
    check(eigenpairs(A, 3, solver="arpack"), A, [5.0, 5.0, 4.0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_call_same_bits(solver):
    L, _ = grid_laplacian(12, 17)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b = (eigenpairs(L, 4, which="smallest", skip=np.ones(204), solver=solver) for _ in range(2))
    np.testing.assert_array_equal(a.vectors, b.vectors)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_dense_bits_do_not_depend_on_threads(monkeypatch):
    K, _ = with_spectrum(0.8 ** np.arange(1300.0))
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(eigenpairs(K, 5, solver="block").vectors)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eigenpairs(np.eye(3), 4), r"eigenpairs: k must be an integer between 1 and 3 .*; got 4"),
        (lambda: eigenpairs(np.eye(3), 0), "k must be"),
        (lambda: eigenpairs(np.eye(3), 2, skip=2), "between 1 and 1"),
        (lambda: eigenpairs(np.ones((2, 3)), 1), "square"),
        (lambda: eigenpairs(np.ones((0, 0)), 1), "not empty"),
        (lambda: eigenpairs(np.eye(3) * 1j, 1), "real"),
        (lambda: eigenpairs(np.eye(3), 1, which="SM"), "which must be one of largest, smallest; got 'SM'"),
        (lambda: eigenpairs(np.eye(3), 1, solver="dense"), "solver must be one of auto"),
        (lambda: eigenpairs(np.eye(3), 1, mass=[1, 0, 1]), "mass must hold 3 positive"),
        (lambda: eigenpairs(np.eye(3), 1, skip=-1), "skip must be"),
        (lambda: eigenpairs(np.eye(3), 1, skip=np.ones(4)), "skip must be"),
        (lambda: eigenpairs(np.diag([1, np.nan, 1]), 1), "NaN or infinity"),
        (lambda: eigenpairs(sp.diags_array([1, np.inf, 1.0]).tocsr(), 1), "NaN or infinity"),
        (lambda: eigenpairs(np.triu(np.ones((9, 9))), 1), "must be symmetric"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_nan_anywhere_is_found():
    for i, j in ((0, 0), (5, 3), (8, 8)):
        A = np.eye(9)
        A[i, j] = A[j, i] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            eigenpairs(A, 1)


# -------------------------------------------------------------------------------------------------------- svd


def check_svd(found, X, reference, atol=1e-10):
    s1 = max(reference[0], 1e-300)
    np.testing.assert_allclose(found.values, reference, rtol=0, atol=atol * s1)
    np.testing.assert_allclose(found.U.T @ found.U, np.eye(len(reference)), atol=1e-9)
    np.testing.assert_allclose(found.Vt @ found.Vt.T, np.eye(len(reference)), atol=1e-9)
    right = np.linalg.norm(X.T @ found.U - found.Vt.T * found.values, axis=0)
    left = np.linalg.norm(X @ found.Vt.T - found.U * found.values, axis=0)
    assert np.all(np.maximum(left, right) / s1 <= 2 * found.residuals + 1e-12)
    assert np.all(found.Vt[range(len(reference)), np.abs(found.Vt).argmax(axis=1)] > 0)


def table(n, d, values, seed=0):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    V = np.linalg.qr(rng.standard_normal((d, len(values))))[0]
    return (U * values) @ V.T


@pytest.mark.parametrize("solver", ["auto", "lapack", "gram", "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(90, 40), (40, 90), (60, 60), (300, 12)])
def test_svd_agrees_with_numpy(solver, shape):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 0.5, shape[1])
    reference = np.linalg.svd(X, compute_uv=False)
    for k in (1, 4, None):
        found = svd(X, k, solver=solver)
        check_svd(found, X, reference[:k])
        assert found.residuals.max() <= 1e-8


@pytest.mark.parametrize("solver", ["auto", "gram", "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(200, 60), (60, 200)])
@pytest.mark.parametrize("wrap", [sp.csr_matrix, sp.csc_array, aslinearoperator])
def test_implicit_centring(solver, shape, wrap):
    X = sp.random_array(shape, density=0.1, random_state=np.random.default_rng(1)).toarray()
    center = X.mean(axis=0)
    reference = np.linalg.svd(X - center, compute_uv=False)
    check_svd(svd(wrap(X), 5, center=center, solver=solver), X - center, reference[:5])


def test_sparse_rows_are_never_densified():
    X = sp.random_array((100_000, 50_000), density=1e-6, random_state=np.random.default_rng(1), format="csr")
    found = svd(X, 2, center=X.mean(axis=0), tol=1e-6)  # dense: 40 GB
    assert found.residuals.max() <= 1e-6


@pytest.mark.parametrize("solver", ["lapack", "gram", "randomized"])
def test_rank_deficient_tables(solver):
    X = table(80, 50, np.array([3.0, 2.0, 1.0]))
    found = svd(X, 6, solver=solver)
    check_svd(found, X, np.array([3.0, 2, 1, 0, 0, 0]))
    check_svd(svd(np.zeros((5, 3))), np.zeros((5, 3)), np.zeros(3))


def test_gram_loses_small_triplets_and_auto_recovers_them():
    values = 10.0 ** -np.linspace(0, 11, 60)
    X = table(4000, 60, values)
    with pytest.warns(ConvergenceWarning, match="singular triplets miss the tolerance"):
        lost = svd(X, 55, solver="gram", tol=1e-10)
    assert lost.residuals.max() > 1e-10
    found = svd(X, 55, tol=1e-10)
    assert found.solver == "lapack"
    np.testing.assert_allclose(found.values, values[:55], rtol=1e-3)


def test_slow_decay_is_solved_not_approximated():
    X = np.random.default_rng(0).standard_normal((900, 700))
    found = svd(X, 5, solver="randomized")
    check_svd(found, X, np.linalg.svd(X, compute_uv=False)[:5])


def test_float32_far_from_the_origin(tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((3000, 20)) * np.linspace(0.3, 0.1, 20) + 100).astype(np.float32)
    center = X.astype(np.float64).mean(axis=0)
    reference = np.linalg.svd(X.astype(np.float64) - center, compute_uv=False)
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    for rows in (X, mapped):
        for solver in ("auto", "gram", "randomized", "lapack"):
            found = svd(rows, 4, center=center, solver=solver)
            np.testing.assert_allclose(found.values, reference[:4], rtol=1e-4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("scale", [1e-250, 1e-90, 1e90, 1e250])
def test_tables_whose_squares_are_out_of_range(scale, wrap):
    X = np.random.default_rng(0).standard_normal((700, 450)) * np.logspace(0, -2, 450)
    want = svd(X, 3, center=np.full(450, 0.1), solver="lapack")
    found = svd(wrap(X * scale), 3, center=np.full(450, 0.1 * scale))
    np.testing.assert_allclose(found.values, scale * want.values, rtol=1e-9)
    np.testing.assert_allclose(found.Vt, want.Vt, atol=1e-6)


def test_svd_bad_input():
    for call, message in (
        (lambda: svd(np.ones((3, 2)), 3), r"svd: k must be an integer between 1 and min\(n, d\) = 2; got 3"),
        (lambda: svd(np.ones((3, 2)), 1, solver="qr"), "solver must be"),
        (lambda: svd(np.full((3, 2), np.nan)), "NaN"),
        (lambda: svd(np.ones((3, 2)), center=np.ones(3)), "center must hold 2"),
        (lambda: svd(np.ones((0, 2))), "rows and columns"),
        (lambda: svd(sp.eye_array(5).tocsr(), 2, solver="lapack"), "needs a dense array"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# ---------------------------------------------------------------------------------------------------- moments


def test_covariance_equals_numpy():
    X = np.random.default_rng(0).standard_normal((5000, 7)) @ np.random.default_rng(1).standard_normal((7, 7)) + 5
    C, mean = covariance(X)
    np.testing.assert_allclose(C, np.cov(X.T), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(covariance(X, block=7)[0], C, rtol=1e-12, atol=1e-13)
    w = np.random.default_rng(2).integers(0, 4, 5000)
    C, mean = covariance(X, weights=w)
    np.testing.assert_allclose(C, np.cov(np.repeat(X, w, axis=0).T), rtol=1e-11, atol=1e-12)
    C, mean = covariance(X, mean=np.ones(7), ddof=0)
    np.testing.assert_allclose(C, (X - 1).T @ (X - 1) / 5000, rtol=1e-11)
    np.testing.assert_array_equal(mean, 1)


@pytest.mark.parametrize("offset", [1.0, 100.0])
def test_float32_covariance_far_from_the_origin(offset):
    X = (np.random.default_rng(0).standard_normal((40_000, 10)) * 0.1 + offset).astype(np.float32)
    C, _ = covariance(X)
    reference = np.linalg.eigvalsh(np.cov(X.astype(np.float64).T))
    np.testing.assert_allclose(np.linalg.eigvalsh(C), reference, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_bits_do_not_depend_on_threads(weighted):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((60_000, 30), dtype=np.float32), rng.random(60_000)
    results = [covariance(X, weights=w if weighted else None, n_jobs=jobs)[0] for jobs in (1, 2, 5)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_covariance_of_a_file_is_read_in_chunks(tmp_path):
    X = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(200_000, 20))
    X[:] = np.random.default_rng(0).standard_normal(X.shape, dtype=np.float32)
    tracemalloc.start()
    C, _ = covariance(X, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 3
    np.testing.assert_allclose(C, np.cov(np.asarray(X, dtype=np.float64).T), atol=1e-6)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(cuts=st.lists(st.integers(1, 199), max_size=4, unique=True), offset=st.sampled_from([0.0, 1e6]))
def test_moments_of_batches_add_up(cuts, offset):
    X = np.random.default_rng(0).standard_normal((200, 3)) + offset
    w = np.random.default_rng(1).random(200)
    edges = [0, *sorted(cuts), 200]
    parts = [Moments.of(X[a:b], w[a:b]) for a, b in pairwise(edges)]
    total, whole = sum(parts[1:], parts[0]), Moments.of(X, w)
    assert total.weight == pytest.approx(whole.weight)
    np.testing.assert_allclose(total.mean, np.average(X, axis=0, weights=w), rtol=1e-13, atol=1e-13)
    Z = X - np.average(X, axis=0, weights=w)
    np.testing.assert_allclose(total.scatter, (Z * w[:, None]).T @ Z, rtol=1e-8, atol=1e-8)


def test_moments_bad_input():
    for call, message in (
        (lambda: Moments.of(np.ones((0, 2))), "must have rows"),
        (lambda: Moments.of(np.array([[1.0], [np.nan]])), "finite"),
        (lambda: Moments.of(np.array([[1.0], [np.inf]])), "finite"),
        (lambda: Moments.of(np.ones((2, 2)), [1, -1]), "non-negative"),
        (lambda: Moments.of(np.ones((2, 2)), [0, 0]), "not all zero"),
        (lambda: covariance(np.ones((1, 2))), "more than ddof=1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_gram_equals_its_definition():
    for n, d in ((700, 30), (20, 3000), (1, 4)):
        X = np.random.default_rng(0).standard_normal((n, d)) + 50
        Z = X - X.mean(axis=0)
        np.testing.assert_allclose(gram(X), Z @ Z.T, atol=1e-8)
        np.testing.assert_array_equal(gram(X), gram(X).T)
        np.testing.assert_allclose(gram(sp.csr_array(X)), Z @ Z.T, atol=1e-6)
        np.testing.assert_allclose(gram(X, mean=np.zeros(d)), X @ X.T, rtol=1e-12)
        single = gram(X.astype(np.float32))
        assert single.dtype == np.float64
        np.testing.assert_allclose(single, Z @ Z.T, atol=1e-3 * max(1, d / 30))


def test_an_eigenvalue_that_hundreds_of_vectors_share_is_found_in_bounded_time():
    """ARPACK alone would restart for minutes; after some restarts the block solver takes over."""
    parts = 600
    one = np.array([[1.0, -1, 0, 0, 0], [-1, 2, -1, 0, 0], [0, -1, 2, -1, 0], [0, 0, -1, 2, -1], [0, 0, 0, -1, 1]])
    A = sp.block_diag([one] * parts, format="csr")
    found = eigenpairs(A, 3, which="smallest", skip=np.ones((5 * parts, 1)))
    np.testing.assert_allclose(found.values, 0, atol=1e-10)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-8)
    assert found.residuals.max() < 1e-10
