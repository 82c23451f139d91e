"""KernelCCA against kernlab, CCA, explicit maps and the eigenproblem it stands for."""

import numpy as np
import pytest
import scipy.linalg as sla
from scipy import sparse
from scipy.stats import kstest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim import CCA, KernelCCA
from lowdim.kernels import RBF, Linear, Polynomial, Sigmoid
from lowdim.spectral.kernel._feature_space import FeatureSpace
from tests.oracles import case, load_expected, load_input


def up_to_sign(A, B):
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def tables(n=60, p=4, q=3, seed=0):
    """Two tables with a straight relation."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    return X + 3, X[:, :q] @ rng.standard_normal((q, q)) + 0.5 * rng.standard_normal((n, q)) - 7


def curved(n, seed=0, noise=0.05):
    """The place on a circle against its angle, folded: no straight line goes with the first column."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-np.pi, np.pi, n)
    X = np.column_stack([np.cos(t), np.sin(t)])
    return X + noise * rng.standard_normal((n, 2)), np.abs(t)[:, None] ** 2 * [1, -1] + 3 * rng.standard_normal((n, 1))


def circle(n, seed=0):
    """Noise-free: the angle determines the place and the place the angle, but not along a line."""
    t = np.random.default_rng(seed).uniform(-np.pi, np.pi, n)
    return np.column_stack([np.cos(2 * t), np.sin(2 * t)]), t[:, None]


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def eigenproblem(Kx, Ky, cx, cy, jitter=0.0):
    """[0 KxKy; KyKx 0] v = rho [(Kx + c)Kx 0; 0 (Ky + c)Ky] v, the largest rho first."""
    n = len(Kx)
    right = sla.block_diag(*(K @ K + c * K + jitter * np.eye(n) for K, c in ((Kx, cx), (Ky, cy))))
    zero = np.zeros((n, n))
    values, vectors = sla.eigh(np.block([[zero, Kx @ Ky], [Ky @ Kx, zero]]), right)
    return values[::-1], vectors[:, ::-1]


# ---- kernlab, and why it differs ----------------------------------------------------------------------------------


def test_kernlab_does_not_centre():
    """Its numbers are those of raw kernels: the constant function, which is no relation at all, comes first."""
    case_id, n, k = "kcca_kernlab_rbf", 100, RBF(0.5)
    X, Y = load_input("kcca_x")[0], load_input("kcca_y")[0]
    c = case(case_id)["params"]["gamma"]
    theirs = load_expected(case_id, "kcor")
    theirs = theirs[theirs > 0]  # each comes with both signs
    raw, _ = eigenproblem(k(X), k(Y), c, c, jitter=1e-6)
    np.testing.assert_allclose(raw[:5], theirs, atol=1e-6)

    ours = KernelCCA(5, kernel=k, ridge=c / (n - 1)).fit(X, Y)
    right, _ = eigenproblem(centred(k(X)), centred(k(Y)), c, c, jitter=1e-6)
    np.testing.assert_allclose(ours.correlations_, right[:5], atol=2e-5)  # the jitter is kernlab's
    # What is left once the constant is out: theirs from the second on, nearly.
    np.testing.assert_allclose(ours.correlations_[:4], theirs[1:], atol=5e-3)

    order = np.random.default_rng(0).permutation(n)
    raw, _ = eigenproblem(k(X), k(Y[order]), c, c, jitter=1e-6)
    assert raw[0] > 0.99 > 0.7 > raw[1]  # "correlated" whatever the rows
    assert KernelCCA(1, kernel=k, ridge=c / (n - 1)).fit(X, Y[order]).correlations_[0] < 0.7


# ---- what it maximises --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(2, 1.0, 0.2), RBF(0.1) + 0.5 * Linear()])
def test_the_criterion_and_its_constraints(kernel):
    X, Y = tables()
    n, ridge = len(X), (0.02, 0.3)
    model = KernelCCA(4, kernel=kernel, ridge=ridge).fit(X, Y)
    Kx, Ky = centred(kernel(X)), centred(kernel(Y))
    values, _ = eigenproblem(Kx, Ky, (n - 1) * ridge[0], (n - 1) * ridge[1], jitter=1e-9 * np.trace(Kx @ Kx) / n)
    np.testing.assert_allclose(model.correlations_, values[:4], atol=1e-5)
    # The weights themselves, scaled back to the constraint.
    a, b = model.x_weights_, model.y_weights_
    Mx, My = Kx @ Kx + (n - 1) * ridge[0] * Kx, Ky @ Ky + (n - 1) * ridge[1] * Ky
    a, b = a / np.sqrt(np.diag(a.T @ Mx @ a)), b / np.sqrt(np.diag(b.T @ My @ b))
    np.testing.assert_allclose(a.T @ Mx @ a, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(b.T @ My @ b, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(a.T @ Kx @ Ky @ b, np.diag(model.correlations_), atol=1e-8)


@pytest.mark.parametrize("ridge", [0.1, (0.5, 0.02), 1e-9])
def test_linear_kernels_are_ridge_cca(ridge):
    (X, Y), (newX, newY) = tables(), tables(9, seed=5)
    for kernel in ("linear", (Linear(), "linear"), Polynomial(1, coef0=2.0)):
        ours, cca = KernelCCA(None, kernel=kernel, ridge=ridge).fit(X, Y), CCA(ridge=ridge).fit(X, Y)
        np.testing.assert_allclose(ours.correlations_, cca.correlations_, atol=1e-9)
        np.testing.assert_allclose(ours.score_correlations_, cca.score_correlations_, atol=1e-9)
        scale = [Z.std(axis=0, ddof=1) for Z in cca.transform(X, Y)]
        for rows in ((X, Y), (newX, newY)):
            for Z, expected, unit in zip(ours.transform(*rows), cca.transform(*rows), scale, strict=True):
                np.testing.assert_allclose(up_to_sign(expected, Z) * unit, expected, atol=1e-8)


def test_a_vanishing_ridge_is_plain_cca():
    X, Y = tables()
    ours, cca = KernelCCA(3, kernel="linear", ridge=1e-10).fit(X, Y), CCA().fit(X, Y)
    np.testing.assert_allclose(ours.correlations_, cca.correlations_, atol=1e-8)
    np.testing.assert_allclose(up_to_sign(cca.transform(X), ours.embedding_), cca.transform(X), atol=1e-6)


def test_explicit_feature_map():
    """(x'y)² has the features x1², x2², sqrt(2) x1 x2: CCA of those is the same thing."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 2))
    Y = X**2 + rng.standard_normal((50, 2))

    def features(A):
        return np.column_stack([A[:, 0] ** 2, A[:, 1] ** 2, np.sqrt(2) * A[:, 0] * A[:, 1]])

    ours = KernelCCA(3, kernel=Polynomial(2, coef0=0.0), ridge=0.2).fit(X, Y)
    cca = CCA(ridge=0.2).fit(features(X), features(Y))
    np.testing.assert_allclose(ours.correlations_, cca.correlations_, atol=1e-10)
    new = rng.standard_normal((6, 2))
    expected = cca.transform(features(new)) / cca.transform(features(X)).std(axis=0, ddof=1)
    np.testing.assert_allclose(up_to_sign(expected, ours.transform(new)), expected, atol=1e-8)


def test_scores_have_unit_variance_and_the_correlations_reported():
    """For the fitted rows as for any: what cca-zoo's transform gets wrong."""
    X, Y = curved(80)
    for settings in ({}, {"kernel": "linear"}, {"n_landmarks": 30, "random_state": 0}):
        model = KernelCCA(2, **settings).fit(X + 40, Y - 9)
        Zx, Zy = model.transform(X + 40, Y - 9)
        np.testing.assert_allclose(Zx, model.embedding_, atol=1e-8)
        for Z in (Zx, Zy):
            np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
            np.testing.assert_allclose(Z.var(axis=0, ddof=1), 1, atol=1e-9)
        found = [np.corrcoef(Zx[:, j], Zy[:, j])[0, 1] for j in range(model.n_components_)]
        np.testing.assert_allclose(model.score_correlations_, found, atol=1e-9)
        assert (model.score_correlations_ >= model.correlations_).all()
        assert (Zx[np.abs(Zx).argmax(axis=0), np.arange(Zx.shape[1])] > 0).all()
        assert model.score(X + 40, Y - 9) == pytest.approx(np.mean(found), abs=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("landmarks", [None, 30])
def test_a_shift_of_either_table_changes_nothing(kernel, landmarks):
    """In sample and out of it: the defect of kernlab (raw kernels) and of cca-zoo (new rows left uncentred)."""
    (X, Y), (newX, newY) = tables(), tables(9, seed=5)
    model = KernelCCA(2, kernel=kernel, ridge=0.1, n_landmarks=landmarks, random_state=0)
    before = model.fit(X, Y)
    expected, correlations = before.transform(newX, newY), before.correlations_
    for dx, dy in ((100.0, 0.0), (0.0, -300.0), ([7.0, -50.0, 3.0, 0.0], 11.0), (1e6, -1e6)):
        after = KernelCCA(**model.get_params()).fit(X + dx, Y + dy)
        np.testing.assert_allclose(after.correlations_, correlations, atol=1e-9)
        for Z, same in zip(after.transform(newX + dx, newY + dy), expected, strict=True):
            np.testing.assert_allclose(up_to_sign(same, Z), same, atol=1e-6)


# ---- what it is for -----------------------------------------------------------------------------------------------


def test_a_curved_relation_that_cca_cannot_see():
    (X, Y), (newX, newY) = circle(150), circle(150, seed=1)
    kernel = KernelCCA(2, ridge=1e-5).fit(X, Y)
    assert kernel.score(newX, newY) > 0.99
    Zx, Zy = CCA().fit(X, Y).transform(newX, newY)
    assert abs(np.corrcoef(Zx[:, 0], Zy[:, 0])[0, 1]) < 0.7
    # Rows that do not belong together: high on the fitted ones, as always, and nothing on others.
    order = np.random.default_rng(2).permutation(150)
    wrong = KernelCCA(2, ridge=1e-5).fit(X, Y[order])
    assert wrong.score_correlations_[0] > 0.3
    assert abs(wrong.score(newX, newY)) < 0.2


def test_too_many_dimensions_are_called_spurious():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 6)), rng.standard_normal((40, 6))
    with pytest.warns(UserWarning, match=r"KernelCCA: with this ridge .* 3\d \+ 3\d effective dimensions for 40 rows"):
        model = KernelCCA(1, ridge=1e-6).fit(X, Y)
    assert model.correlations_[0] > 0.999
    KernelCCA(1, ridge=0.1).fit(X, Y)


# ---- the ridge by cross-validation --------------------------------------------------------------------------------


def test_the_curve_against_plain_refitting():
    X, Y = curved(55)
    ridges = [0.003, 0.03, 0.3]
    model = KernelCCA(2, kernel=RBF(0.4), ridge="cv", ridges=ridges, random_state=3).fit(X, Y)
    np.testing.assert_array_equal(model.ridges_, np.repeat(ridges[::-1], 2).reshape(3, 2))
    folds = np.array_split(np.random.default_rng(3).permutation(55), 5)
    for ridge, found in zip(model.ridges_[:, 0], model.ridge_curve_, strict=True):
        sums = np.zeros((3, 2))
        for test in folds:
            train = np.setdiff1d(np.arange(55), test)
            Zx, Zy = KernelCCA(2, kernel=RBF(0.4), ridge=ridge).fit(X[train], Y[train]).transform(X[test], Y[test])
            sums += [(Zx**2).sum(axis=0), (Zy**2).sum(axis=0), (Zx * Zy).sum(axis=0)]
        assert found == pytest.approx(np.mean(sums[2] / np.sqrt(sums[0] * sums[1])), abs=1e-8)
    best = model.ridges_[np.argmax(model.ridge_curve_)]
    assert model.ridge_ == tuple(best)
    fixed = KernelCCA(2, kernel=RBF(0.4), ridge=tuple(best)).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, fixed.correlations_)
    assert fixed.ridges_ is fixed.ridge_curve_ is None


def test_the_chosen_ridge_does_better_on_new_rows_than_the_extremes():
    (X, Y), (newX, newY) = curved(120, noise=0.4), curved(400, seed=1, noise=0.4)
    chosen = KernelCCA(1, ridge="cv", random_state=0).fit(X, Y)
    assert chosen.ridges_.shape == (9, 2)
    small = KernelCCA(1, ridge=float(chosen.ridges_[-1, 0])).fit(X, Y)
    assert chosen.score(newX, newY) > small.score(newX, newY) + 0.05
    scaled = KernelCCA(1, kernel="linear", ridge="cv", random_state=0)
    first, second = scaled.fit(X, Y).ridge_, scaled.fit(1000 * X, Y).ridge_
    assert second[0] == pytest.approx(1e6 * first[0], rel=1e-6)  # the grid is in the units of the kernel
    with pytest.raises(ValueError, match="ridge='cv' must have at least 10 rows; got 9"):
        KernelCCA(ridge="cv").fit(X[:9], Y[:9])


def test_a_fold_whose_other_rows_do_not_vary_is_left_out():
    X, _ = curved(30)
    rare = np.zeros(30)
    rare[np.array_split(np.random.default_rng(0).permutation(30), 5)[2][:2]] = 1.0
    model = KernelCCA(1, ridge="cv", random_state=0).fit(X, rare)
    assert np.isfinite(model.ridge_curve_).all()


def test_scikit_learn_can_choose_too():
    X, Y = curved(60, noise=0.5)
    search = GridSearchCV(KernelCCA(1), {"ridge": [1e-4, 0.1]}, cv=KFold(3)).fit(X, Y)
    assert search.best_params_["ridge"] == 0.1
    assert make_pipeline(StandardScaler(), KernelCCA(1)).fit(X, Y).score(X, Y) > 0.5


# ---- landmarks ----------------------------------------------------------------------------------------------------


def test_all_rows_as_landmarks_are_the_exact_answer(monkeypatch):
    (X, Y), new = curved(70), curved(9, seed=1)
    order = np.random.default_rng(0).permutation(70)
    for kernel in (RBF(0.5), Linear(), Polynomial(3)):
        exact, drawn = (FeatureSpace.of(kernel, X, chosen, None, "KernelCCA") for chosen in (None, order))
        np.testing.assert_allclose(drawn.F @ drawn.F.T, exact.F @ exact.F.T, atol=1e-7 * np.abs(exact.F).max() ** 2)
    exact, drawn = KernelCCA(2).fit(X, Y), KernelCCA(2, n_landmarks=69, random_state=0).fit(X, Y)
    np.testing.assert_allclose(drawn.correlations_, exact.correlations_, atol=1e-3)
    assert exact.landmarks_ is None
    assert KernelCCA(2, n_landmarks=70).fit(X, Y).landmarks_ is None
    monkeypatch.setattr(KernelCCA, "_landmarks", lambda self, n, rng: order)
    drawn = KernelCCA(2, n_landmarks=70).fit(X, Y)
    np.testing.assert_array_equal(drawn.landmarks_, order)
    np.testing.assert_allclose(drawn.correlations_, exact.correlations_, atol=1e-9)
    for Z, same in zip(drawn.transform(*new), exact.transform(*new), strict=True):
        np.testing.assert_allclose(Z, same, atol=1e-6)


def test_few_landmarks_say_nearly_the_same():
    (X, Y), new = circle(400), circle(50, seed=1)
    exact, drawn = (
        KernelCCA(2, ridge=1e-3).fit(X, Y),
        KernelCCA(2, ridge=1e-3, n_landmarks=60, random_state=0).fit(X, Y),
    )
    assert drawn.x_weights_.shape == (60, 2)
    assert drawn.landmarks_.shape == (60,)
    np.testing.assert_allclose(drawn.correlations_, exact.correlations_, atol=1e-3)
    np.testing.assert_allclose(
        up_to_sign(exact.transform(new[0]), drawn.transform(new[0])), exact.transform(new[0]), atol=0.02
    )
    tuned = KernelCCA(2, ridge="cv", n_landmarks=60, random_state=0).fit(X, Y)
    assert tuned.score(*new) > 0.99


# ---- what is given ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", [None, 25])
def test_precomputed_kernels(landmarks):
    (X, Y), (newX, newY) = tables(), tables(9, seed=5)
    kx, ky = RBF(0.2), RBF(0.3)
    settings = {"ridge": 0.05, "n_landmarks": landmarks, "random_state": 0}
    expected = KernelCCA(2, kernel=(kx, ky), **settings).fit(X, Y)
    both = KernelCCA(2, kernel="precomputed", **settings).fit(kx(X), ky(Y))
    first = KernelCCA(2, kernel=("precomputed", ky), **settings).fit(kx(X), Y)
    second = KernelCCA(2, kernel=(kx, "precomputed"), **settings).fit(X, ky(Y))
    given = {"x": kx(newX, X), "y": ky(newY, Y)}
    for model, rows in ((both, given.values()), (first, (given["x"], newY)), (second, (newX, given["y"]))):
        for Z, same in zip(model.transform(*rows), expected.transform(newX, newY), strict=True):
            np.testing.assert_allclose(Z, same, atol=1e-8)
    assert both.__sklearn_tags__().input_tags.pairwise
    assert not second.__sklearn_tags__().input_tags.pairwise
    with pytest.raises(ValueError, match="fitted on distances or similarities alone"):
        both.inverse_transform(np.zeros((1, 2)))
    for bad in (kx(X)[:, :30], np.triu(kx(X))):
        with pytest.raises(ValueError, match="KernelCCA: the kernel m"):
            KernelCCA(2, kernel=(kx, "precomputed")).fit(X, bad)


def test_sparse_rows():
    X, Y = tables()
    X, Y = np.where(np.abs(X) < 2, 0, X), np.where(np.abs(Y) < 2, 0, Y)
    dense = KernelCCA(2, kernel=("rbf", "linear")).fit(X, Y)
    model = KernelCCA(2, kernel=("rbf", "linear")).fit(sparse.csr_array(X), sparse.csr_array(Y))
    for Z, same in zip(model.transform(sparse.csr_array(X), sparse.csc_array(Y)), dense.transform(X, Y), strict=True):
        np.testing.assert_allclose(Z, same, atol=1e-9)
    holed = sparse.csr_array(Y)
    holed.data[0] = np.nan
    with pytest.raises(ValueError, match="Y has missing"):
        KernelCCA(2).fit(X, holed)


def test_precision_of_both_tables():
    X, Y = curved(60)
    model = KernelCCA(2).fit(X, Y)
    single = KernelCCA(2).fit(X.astype(np.float32), Y.astype(np.float32))
    for Z, same in zip(
        single.transform(X.astype(np.float32), Y.astype(np.float32)), model.transform(X, Y), strict=True
    ):
        assert Z.dtype == np.float32
        np.testing.assert_allclose(up_to_sign(same, Z), same, atol=1e-3)


def test_every_component_of_a_narrow_kernel():
    """Eigenvalues down to rounding: none of them may spoil the scores of the fitted rows."""
    X = np.linspace(0, 1, 40)[:, None]
    model = KernelCCA(None, width=1.0, ridge=1e-4).fit(X, np.sin(9 * X))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-4)  # 1e-9 of the axis it began as
    assert (np.diff(model.correlations_) <= 0).all()
    assert model.n_components_ == model.embedding_.shape[1] < 39


def test_an_indefinite_kernel_is_said():
    X, Y = tables()
    with pytest.warns(UserWarning, match="KernelCCA: the kernel is not positive semidefinite on these rows"):
        model = KernelCCA(2, kernel=(Sigmoid(1.0, -1.0), "rbf")).fit(X, Y)
    assert np.isfinite(model.transform(X)).all()


def test_one_column_and_few_rows():
    X, Y = curved(30)
    model = KernelCCA(2).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.transform(X, Y[:, 0])[1], KernelCCA(2).fit(X, Y[:, :1]).transform(X, Y[:, :1])[1])
    with pytest.warns(UserWarning, match="keeping 1"):
        assert KernelCCA(2).fit(X, Y[:, 0] > 3).n_components_ == 1


def test_refused_with_the_way_out():
    X, Y = curved(30)
    for ridge in (0, 0.0, -1, (0.1, 0.0), (0.1,), "auto", None):
        with pytest.raises(ValueError, match=r"ridge must be a number > 0 \(at 0 every correlation is 1, whatever"):
            KernelCCA(ridge=ridge).fit(X, Y)
    for ridges in ([], [0.0, 1.0], 3):
        with pytest.raises(ValueError, match="ridges must be None or numbers > 0"):
            KernelCCA(ridge="cv", ridges=ridges).fit(X, Y)
    for kernel in (("rbf",), ("rbf", 3), 3):
        with pytest.raises(ValueError, match="kernel must be"):
            KernelCCA(kernel=kernel).fit(X, Y)
    with pytest.raises(ValueError, match=r"KernelCCA: kernel must be one of linear, .*; got 'rfb'"):
        KernelCCA(kernel=("rbf", "rfb")).fit(X, Y)
    with pytest.raises(ValueError, match="Y must be the second table"):
        KernelCCA().fit(X)
    with pytest.raises(ValueError, match="same number of rows; got 30 and 29"):
        KernelCCA().fit(X, Y[1:])
    with pytest.raises(ValueError, match=r"KernelCCA: Y has missing .* in 1 of 30 rows; KernelCCA needs complete rows"):
        KernelCCA().fit(X, np.where(np.arange(30)[:, None] == 3, np.nan, Y))
    for constant, name in (((np.ones((30, 2)), Y), "X"), ((X, np.ones(30)), "Y")):
        with pytest.raises(ValueError, match=f"{name} must vary"):
            KernelCCA(gamma=1.0).fit(*constant)
        with pytest.raises(ValueError, match=f"KernelCCA: {name} must vary; all its rows are equal"):
            KernelCCA().fit(*constant)
        with pytest.raises(ValueError, match=f"KernelCCA: {name} must vary; all its rows are equal"):
            KernelCCA().fit(*map(sparse.csr_array, (table.reshape(30, -1) for table in constant)))
    model = KernelCCA().fit(X, Y)
    with pytest.raises(ValueError, match="Y must have 2 columns, as at fit; got 3"):
        model.transform(X, np.ones((30, 3)))
    with pytest.raises(ValueError, match="same number of rows"):
        model.transform(X, Y[1:])
    with pytest.raises(MemoryError, match="n_landmarks=1000"), lowdim.config(memory_limit="1MB"):
        KernelCCA().fit(np.ones((500, 2)), np.ones((500, 2)))


def test_model_files_keep_the_curve(tmp_path):
    X, Y = curved(40)
    model = KernelCCA(1, kernel=(RBF(0.3), "laplacian"), ridge="cv", n_landmarks=20, random_state=0).fit(X, Y)
    lowdim.save(model, tmp_path / "model")
    again = lowdim.load(tmp_path / "model")
    np.testing.assert_array_equal(again.ridge_curve_, model.ridge_curve_)
    for Z, same in zip(again.transform(X, Y), model.transform(X, Y), strict=True):
        np.testing.assert_array_equal(Z, same)


# ---- permutations -------------------------------------------------------------------------------------------------


def test_permutations_of_independent_tables_are_uniform():
    rng = np.random.default_rng(0)
    found = [
        KernelCCA(1, ridge=0.05, n_jobs=1).permutation_test(
            rng.standard_normal((20, 2)), rng.standard_normal((20, 2)), 29, random_state=i
        )[0]
        for i in range(60)
    ]
    assert kstest(found, "uniform").pvalue > 0.01


def test_permutations_see_a_curved_relation():
    X, Y = circle(50)
    model = KernelCCA(2, ridge=0.02)
    results = [KernelCCA(2, ridge=0.02, n_jobs=j).permutation_test(X, Y, 49, random_state=1) for j in (1, 2, None)]
    assert all((r == results[0]).all() for r in results)
    assert results[0][0] == 1 / 50
    assert CCA().permutation_test(X, Y, 49, random_state=1)[0] > 0.1
    model.permutation_test(X, Y, 3)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(ValueError, match="ridge must be a number for a permutation test; got 'cv'"):
        KernelCCA(ridge="cv").permutation_test(X, Y)
    with pytest.raises(ValueError, match="n_permutations must be a whole number >= 1; got 0"):
        model.permutation_test(X, Y, 0)


def test_the_first_p_value_against_plain_refitting():
    X, Y = curved(30, noise=0.6)
    settings = {"kernel": RBF(0.5), "ridge": 0.02}
    p = KernelCCA(1, **settings).permutation_test(X, Y, 40, random_state=3)[0]
    seeds = np.random.default_rng(3).integers(2**32, size=40)
    orders = [np.random.default_rng(int(seed)).permutation(30) for seed in seeds]

    def wilks(Y):
        return -np.log(1 - KernelCCA(None, **settings).fit(X, Y).correlations_ ** 2).sum()

    drawn = [wilks(Y[order]) for order in orders]
    assert p == pytest.approx((1 + np.sum(drawn >= wilks(Y))) / 41)


@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_kernels_that_are_none_are_refused(n_landmarks):
    X, Y = tables(40)
    K = RBF(0.05)(X)
    model = KernelCCA(1, kernel="precomputed", n_landmarks=n_landmarks, random_state=0)
    for bad, word in ((K[:, :15], "square"), (np.hstack([K, K]), "square"), (np.triu(K), "symmetric")):
        with pytest.raises(ValueError, match=f"KernelCCA: the kernel .*{word}"):
            model.fit(bad, K)
    with pytest.raises(ValueError, match="KernelCCA: the kernel must be symmetric"):
        KernelCCA(1, kernel=lambda x, y: float(x[0] - y[1]), n_landmarks=n_landmarks).fit(X, Y)
