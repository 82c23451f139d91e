"""NLPCA and InverseNLPCA: derivatives, identities with PCA, the helical loop, and another implementation."""

import warnings

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import approx_fprime
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim.datasets import helical_loop, remove_cells
from lowdim.latent.networks._bottleneck import Bottleneck
from lowdim.latent.networks._decoder_codes import DecoderWithCodes
from lowdim.latent.networks._decoder_placement import Decoder, expected, place
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._network import ACTIVATIONS, Network
from lowdim.latent.networks._settings import Architecture
from lowdim.latent.self_organizing_map import organize
from tests.oracles import case, load_expected, load_input

KINDS = [(False, False), (True, False), (False, True), (True, True)]


def table(n=15, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def holed(X, share=0.2, seed=1):
    X = X.copy()
    X[:, 1:][np.random.default_rng(seed).random(X[:, 1:].shape) < share] = np.nan
    return X


def correlated(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ np.diag([3, 2, 1.5, 1, 0.5]) @ rng.standard_normal((5, 5)) + 7


def quarter_circle(n=100, noise=0.03, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, np.pi / 2, n)
    return np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.standard_normal((n, 2)), t


def circle(n=100, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-np.pi, np.pi, n)
    return np.column_stack([np.cos(t), np.sin(t)]) + noise * rng.standard_normal((n, 2)), t


def agreement(angles, t):
    """Of angles with the truth, up to rotation and reflection: 1 is the same."""
    return max(abs(np.exp(1j * (sign * angles - t)).mean()) for sign in (1, -1))


def linear_error(X, k):
    """Mean squared error of a cell in k principal components."""
    P = lowdim.PCA(k).fit(X)
    return np.square(X - P.inverse_transform(P.transform(X))).mean()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_and_bends_are_derivatives(name):
    f, x, h = ACTIVATIONS[name], np.array([-2.1, -0.3, 0.4, 1.7]), 1e-5
    np.testing.assert_allclose(f.slope(f.value(x)), (f.value(x + h) - f.value(x - h)) / (2 * h), atol=1e-8)
    slopes = [f.slope(f.value(x + step)) for step in (h, -h)]
    np.testing.assert_allclose(f.bend(f.value(x)), (slopes[0] - slopes[1]) / (2 * h), atol=1e-8)


@pytest.mark.parametrize(("hierarchical", "circular"), KINDS)
def test_the_gradient_is_the_derivative_of_the_loss(hierarchical, circular):
    weights = (1.0, 0.3) if hierarchical else None
    architecture = Architecture(2, "tanh", hierarchical, weights, circular, 0.01)
    for problem in (
        Bottleneck.of(table(), (5, 3), architecture),
        DecoderWithCodes.of(holed(table()), (5, 3), architecture),
    ):
        x = problem.initial(np.random.default_rng(3))
        loss, slope = problem.loss(x)
        np.testing.assert_allclose(slope, approx_fprime(x, lambda x, p=problem: p.loss(x)[0], 1e-6), atol=3e-5)
        assert loss > 0


@pytest.mark.parametrize(("hierarchical", "circular"), KINDS)
def test_new_rows_have_exact_second_derivatives(hierarchical, circular):
    """They are what makes a row's place accurate to the last digits."""
    architecture = Architecture(2, "tanh", hierarchical, None, circular, 0.01)
    problem = DecoderWithCodes.of(holed(table()), (5, 3), architecture)
    x = problem.initial(np.random.default_rng(3))
    decoder = problem.decoder(x)
    Z, X, seen, h = problem.codes(x) + 0.3, problem.X, problem.observed, 1e-6
    gradient, H = decoder.slopes(Z, X, seen)
    for j, e in enumerate(h * np.eye(2)):
        np.testing.assert_allclose(
            gradient[:, j], (decoder.costs(Z + e, X, seen) - decoder.costs(Z - e, X, seen)) / (2 * h), atol=1e-7
        )
        np.testing.assert_allclose(
            H[:, :, j], (decoder.slopes(Z + e, X, seen)[0] - decoder.slopes(Z - e, X, seen)[0]) / (2 * h), atol=1e-7
        )
    costs = decoder.costs(place(decoder, X, seen), X, seen)
    assert (costs <= decoder.costs_at(decoder.anchors, X, seen).min(axis=1) + 1e-12).all()


def test_linear_hierarchical_units_are_the_principal_components_in_order():
    X = correlated()
    P = lowdim.PCA(3).fit(X)
    settings = {"hidden": (), "activation": "linear", "hierarchical": True, "weight_decay": 0, "tol": 1e-12}
    model = lowdim.NLPCA(3, random_state=0, **settings).fit(X)
    R = np.abs(np.corrcoef(model.embedding_.T, P.transform(X).T)[:3, 3:])
    np.testing.assert_allclose(R, np.eye(3), atol=1e-4)
    lost = [lowdim.PCA(k).fit(X).reconstruction_error_ for k in (1, 2, 3)]
    np.testing.assert_allclose(model.level_errors_, lost, rtol=1e-6)
    # Without levels only the subspace is determined.
    plain = lowdim.NLPCA(3, random_state=0, **settings | {"hierarchical": False}).fit(X)
    assert subspace_angles(plain.decoder_weights_[0].T, P.components_.T).max() < 1e-5
    assert np.abs(np.abs(np.corrcoef(plain.embedding_.T, P.transform(X).T)[:3, 3:]) - np.eye(3)).max() > 0.05
    weighted = lowdim.NLPCA(3, level_weights=(5, 1, 0.2), random_state=0, **settings).fit(X)
    np.testing.assert_allclose(weighted.level_errors_, lost, rtol=1e-5)


def test_linear_inverse_units_are_the_principal_components_too():
    X = correlated(150)
    model = lowdim.InverseNLPCA(2, hidden=(), activation="linear", weight_decay=1e-9, tol=1e-10, random_state=0).fit(X)
    P = lowdim.PCA(2).fit(X)
    assert subspace_angles(model.weights_[0].T, P.components_.T).max() < 1e-3
    assert model.reconstruction_error_ == pytest.approx(P.reconstruction_error_, rel=1e-5)


def test_the_first_level_is_as_good_as_a_network_of_its_own():
    X = np.column_stack([quarter_circle(150)[0], np.random.default_rng(1).normal(0, 0.1, 150)])
    settings = {"weight_decay": 1e-5, "random_state": 0}
    ordered = lowdim.NLPCA(2, hierarchical=True, **settings).fit(X)
    symmetric = lowdim.NLPCA(2, **settings).fit(X)
    first = symmetric._decode(symmetric._codes(X) * [1.0, 0.0])
    assert ordered.level_errors_[0] < np.square(first - X).mean()
    alone = lowdim.NLPCA(1, **settings).fit(X)
    assert ordered.level_errors_[0] < 2 * alone.reconstruction_error_
    assert ordered.level_errors_[0] > ordered.level_errors_[1]


def test_a_curve_is_followed_where_a_line_is_not():
    X, t = quarter_circle()
    line = lowdim.PCA(1).fit(X).reconstruction_error_
    for model in (lowdim.NLPCA(1, random_state=0), lowdim.InverseNLPCA(1, weight_decay=1e-4, random_state=0)):
        model.fit(X)
        assert model.reconstruction_error_ < 0.5 * line
        assert abs(spearmanr(model.embedding_[:, 0], t)[0]) > 0.99
    assert np.all(np.diff(model.loss_curve_[-20:]) <= 1e-12)


@pytest.mark.parametrize("method", [lowdim.NLPCA, lowdim.InverseNLPCA])
def test_circular_units_close_the_curve(method):
    X, t = circle()
    model = method(1, circular=True, n_init=2, random_state=0).fit(X)
    angles = model.embedding_[:, 0]
    assert angles.min() >= -np.pi
    assert angles.max() <= np.pi
    assert agreement(angles, t) > 0.8  # the speed along the circle is free
    # The ends are one: nothing happens at the cut.
    np.testing.assert_allclose(model.inverse_transform([[np.pi]]), model.inverse_transform([[-np.pi]]), atol=1e-9)
    near = model.inverse_transform([[np.pi - 1e-6], [-np.pi + 1e-6]])
    assert np.abs(near[0] - near[1]).max() < 1e-4
    open_curve = method(1, n_init=2, random_state=0).fit(X)
    assert model.reconstruction_error_ < open_curve.reconstruction_error_ + 0.01


def test_decay_shrinks_the_weights():
    X, _ = quarter_circle()
    size = [
        sum(
            np.square(W).sum() for W in lowdim.InverseNLPCA(1, weight_decay=w, n_init=1, random_state=0).fit(X).weights_
        )
        for w in (1e-4, 1e-2)
    ]
    assert size[1] < size[0]


@pytest.mark.parametrize(("noise", "most"), [(0.0, 0.01), (0.05, 0.02)])
def test_the_helical_loop_with_a_cell_missing_in_every_row(noise, most):
    loop = helical_loop(1000, noise, random_state=0)
    X = remove_cells(loop.X, random_state=0)
    model = lowdim.InverseNLPCA(1, hidden=12, n_init=5, random_state=0).fit(X)
    gone = np.isnan(X)
    assert np.square(model.completed_ - loop.noise_free)[gone].mean() < most
    np.testing.assert_array_equal(model.completed_[~gone], X[~gone])
    assert model.missing_share_ == pytest.approx(1 / 3)
    # New rows, complete or not, each on its own, land on the loop.
    new = helical_loop(101, noise, random_state=5)
    with_holes = remove_cells(new.X, random_state=5)
    back = model.inverse_transform(model.transform(with_holes))
    assert np.median(np.square(back - new.noise_free)) < 0.005
    assert np.square(model.inverse_transform(model.transform(new.X)) - new.noise_free).mean() < 0.01


def test_rows_with_holes_need_no_filling_in():
    """What stands in a missing cell cannot matter, since there is nothing in it."""
    X = correlated(60)
    Y = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
    settings = {"hidden": (), "activation": "linear", "weight_decay": 1e-8, "tol": 1e-9, "random_state": 0}
    model = lowdim.InverseNLPCA(2, **settings).fit(Y)
    fitted = model.inverse_transform(model.embedding_)
    em = lowdim.PCA(2, missing="em", tol=1e-12).fit(Y)
    seen = ~np.isnan(Y)
    # Both minimise the squared error of the observed cells over planes.
    assert np.square((fitted - Y)[seen]).mean() == pytest.approx(em.reconstruction_error_, rel=1e-3)


def test_the_other_implementation_is_matched():
    """pcaMethods' nlpca (inverse network): error of the observed cells and order of the codes."""
    X, _ = load_input("helix60_na")
    theirs = case("pcamethods_nlpca_helix60")["scalars"]["rmse_observed"]
    model = lowdim.InverseNLPCA(1, random_state=0, weight_decay=1e-4).fit(X)
    assert np.sqrt(model.reconstruction_error_) < 1.3 * theirs
    assert abs(spearmanr(model.embedding_[:, 0], load_expected("pcamethods_nlpca_helix60", "scores"))[0]) > 0.9


def test_the_width_is_chosen_on_hidden_cells():
    loop = helical_loop(150, 0.05, random_state=0)
    model = lowdim.InverseNLPCA(1, hidden="auto", n_init=1, max_iter=1000, tol=1e-3, random_state=0).fit(loop.X)
    assert model.hidden_ == (int(min(model.size_errors_, key=model.size_errors_.get)),)
    assert min(model.size_errors_.values()) < 0.3
    with pytest.warns(UserWarning, match="no row keeps more than n_components=1"):
        lowdim.InverseNLPCA(1, hidden="auto", n_init=1, tol=1e-2, random_state=0).fit(remove_cells(loop.X))


def test_a_map_unfolds_a_loop():
    loop = helical_loop(300, 0, random_state=0)
    X = (loop.X - loop.X.mean(axis=0)) / loop.X.std()
    best = max(
        abs(spearmanr(organize(X, np.ones_like(X), 1, np.random.default_rng(s)).units, np.arange(300))[0])
        for s in range(3)
    )
    assert best > 0.99


def test_networks_count_and_unpack_their_parameters():
    net = Network.of((3, 4, 1), "tanh")
    assert net.n_parameters == 3 * 4 + 4 + 4 + 1
    layers = net.layers(np.arange(21.0))
    assert [W.shape for W, _ in layers] == [(3, 4), (4, 1)]
    assert net.weights_mask().sum() == 16
    assert lowdim.NLPCA(1, hidden=4, n_init=1, tol=0.1).fit(table(30, 3)).n_weights_ == 16 + 5 + 8 + 15  # 3-4-1-4-3


def test_what_makes_no_sense_is_refused():
    X = table(20)
    for method in (lowdim.NLPCA, lowdim.InverseNLPCA):
        with pytest.raises(ValueError, match="level_weights must be None unless hierarchical=True"):
            method(2, level_weights=(1, 1)).fit(X)
        with pytest.raises(ValueError, match="one number for each of the 2 components; got 3"):
            method(2, hierarchical=True, level_weights=(1, 1, 1)).fit(X)
        with pytest.raises(ValueError, match="hidden must be a whole number >= 1 or a tuple of them"):
            method(2, hidden=(4, 0)).fit(X)
        with pytest.warns(UserWarning, match="can copy its input"):
            method(5, n_init=1, tol=0.1).fit(X)
        with pytest.warns(ConvergenceWarning, match="not converged after max_iter=3 steps"):
            method(2, n_init=1, max_iter=3).fit(X)
    with pytest.raises(ValueError, match="NLPCA: X has 1 missing values"):
        lowdim.NLPCA(1, missing="error").fit(np.where(np.arange(80).reshape(20, 4) == 7, np.nan, X))


def test_no_other_library_is_needed(monkeypatch):
    """These two run on arrays alone."""
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lowdim.NLPCA(1, n_init=1, max_iter=5).fit(table())
        lowdim.InverseNLPCA(1, n_init=1, max_iter=5).fit(table())


def test_levels_count_as_much_as_they_are_given():
    """A first level that counts for nearly all is nearly as good as a network of one component."""
    X = np.tanh(correlated(80, seed=3) / 4)
    settings = {"hierarchical": True, "weight_decay": 1e-6, "n_init": 2, "random_state": 0}
    first, last = (lowdim.NLPCA(2, level_weights=w, **settings).fit(X).level_errors_ for w in ((100, 1), (1, 100)))
    assert first[0] < last[0]
    assert first[1] > last[1]


def test_a_row_that_may_be_in_two_places_is_completed_by_their_mean():
    """z -> (|z|, z), of which |z| is seen: both signs fit, and count as often as fitted rows have them."""
    net = Network.of((1, 2, 2), "relu")
    layers = [(np.array([[1.0, -1.0]]), np.zeros(2)), (np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2))]
    anchors = np.array([[-1.0], [1.0], [1.0], [1.0], [-3.0]])
    decoder = Decoder(net, layers, Levels.of(1, False, None, False), False, 0.0, anchors)
    X, seen = np.array([[1.1, 0.0], [2.9, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    found = expected(decoder, X, seen, 0.01)
    np.testing.assert_allclose(found[:, 0], [1.1, 2.9], atol=1e-6)
    assert found[0, 1] == pytest.approx((3 - 1) / 4 * 1.1, abs=1e-6)
    assert found[1, 1] == pytest.approx(-2.9, abs=1e-6)  # no fitted row is near the other
    assert set(np.abs(place(decoder, X, seen)[:, 0]).round(6)) == {1.1, 2.9}


@pytest.mark.deep
def test_every_one_of_ten_loops_is_completed():
    for seed in range(10):
        loop = helical_loop(1000, 0.05, random_state=seed)
        X = remove_cells(loop.X, random_state=seed)
        model = lowdim.InverseNLPCA(1, hidden=12, random_state=seed).fit(X)
        assert np.square(model.completed_ - loop.noise_free)[np.isnan(X)].mean() < 0.02


@pytest.mark.parametrize("cls", [lowdim.NLPCA, lowdim.InverseNLPCA])
@pytest.mark.parametrize("last", [3, 320])
def test_a_callback_sees_the_codes_and_stops_in_a_start_or_in_the_final_run(cls, last):
    X, _ = quarter_circle(40)
    seen = []

    def watch(step, loss, codes):
        seen.append((loss, codes))
        return step == last

    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = cls(1, n_init=1, tol=0.0, random_state=0, callback=watch).fit(X)
    assert len(seen) == len(model.loss_curve_) == model.n_iter_ == last
    assert not model.converged_
    assert seen[-1][0] == model.loss_ == model.loss_curve_[-1]
    assert abs(spearmanr(seen[-1][1][:, 0], model.embedding_[:, 0])[0]) > 0.99
