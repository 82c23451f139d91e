"""All rows or landmarks: what "auto" does at each of three limits, with the bits of the call that asks for them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import LLE, MVU, TCIE, DiffusionMaps, Isomap, LaplacianEigenmaps, datasets
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.policy import LandmarkChoice, solved
from lowdim._core.spectrum import TooHard, choice, eigen, eigenpairs
from tests.spectral.test_isomap import procrustes_error

FEW = 60  # landmarks in these tests
pytestmark = [
    pytest.mark.filterwarnings("ignore:LLE. the gap after the last axis"),
    pytest.mark.filterwarnings("ignore:.*seems to have short circuits"),
]

# By the limit they meet: tables of all rows, factors, or a solver that gives up.
TABLES = {
    "Isomap": lambda **k: Isomap(random_state=0, **k),
    "kernel Isomap": lambda **k: Isomap(kernelize=True, repair="stability", random_state=0, **k),
    "DiffusionMaps": lambda **k: DiffusionMaps(random_state=0, **k),
    "MVU": lambda **k: MVU(random_state=0, slack=0.3, tol=0.1, **k),
    "TCIE": lambda **k: TCIE(random_state=0, **k),
}
SOLVERS = {
    "LaplacianEigenmaps": lambda **k: LaplacianEigenmaps(random_state=0, **k),
    "DiffusionMaps on a graph": lambda **k: DiffusionMaps(n_neighbors=8, random_state=0, **k),
    "LLE": lambda **k: LLE(random_state=0, **k),
}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(policy, "USUAL", FEW)


@pytest.fixture(scope="module")
def roll():
    return datasets.swiss_roll(250, random_state=0).X


def check(make, X, why):
    """Landmarks are taken, named, and those that the explicit call takes."""
    with pytest.warns(
        UserWarning, match=rf"{why}; {FEW} landmarks are used instead of all rows. Set n_landmarks={FEW}"
    ):
        model = make().fit(X)
    asked = make(n_landmarks=FEW).fit(X)
    assert len(model.landmarks_) == FEW
    np.testing.assert_array_equal(model.landmarks_, asked.landmarks_)
    np.testing.assert_array_equal(model.embedding_, asked.embedding_)
    np.testing.assert_array_equal(model.transform(X[:9]), asked.transform(X[:9]))
    assert model.n_landmarks == "auto"


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_do_not_fit(name, roll):
    make = TABLES[name]
    whole, some = (make(n_landmarks=m).estimate_memory(roll) for m in (None, FEW))
    assert some < whole
    with lowdim.config(memory_limit=(whole + some) // 2):
        assert make().estimate_memory(roll) == some
        check(make, roll, r"all 250 rows need about [\d.]+ [kM]B, and the limit is [\d.]+ [kM]B")
        with pytest.raises(MemoryError, match="n_landmarks="):
            make(n_landmarks=None).fit(roll)
    with lowdim.config(memory_limit=2 * whole):
        model = make().fit(roll)
    assert model.landmarks_ is None
    np.testing.assert_array_equal(model.embedding_, make(n_landmarks=None).fit_transform(roll))


@pytest.mark.parametrize("name", TABLES)
def test_rows_that_take_very_long(name, roll, monkeypatch):
    make = TABLES[name]
    monkeypatch.setattr(type(make()), "_most_rows", 200)
    check(make, roll, "all 250 rows would take very long")
    assert make().estimate_memory(roll) == make(n_landmarks=FEW).estimate_memory(roll)
    assert make(n_landmarks=None).fit(roll).landmarks_ is None


def test_factors_that_do_not_fit(roll, monkeypatch):
    monkeypatch.setattr(policy, "_SMALL", 100)
    assert LLE(random_state=0).fit(roll).landmarks_ is None
    monkeypatch.setattr(policy, "LARGEST_FACTORS", 1000)
    check(SOLVERS["LLE"], roll, r"LLE: the factors of a matrix of 250 rows would take [\d.]+ [kM]B")
    assert LLE(n_landmarks=None, random_state=0).fit(roll).landmarks_ is None


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_that_give_up(name, roll, monkeypatch):
    """The start of the solver has been drawn by then, and still the landmarks are those of the explicit call."""
    make = SOLVERS[name]
    usual = choice.chain_of
    monkeypatch.setattr(
        choice, "chain_of", lambda p, rough=False: ["lobpcg"] if p.is_sparse and p.n > 100 else usual(p)
    )
    monkeypatch.setattr(choice, "_patience", lambda *_: 1)  # steps
    check(make, roll, r"the eigensolver gave up on all rows \(\d of \d eigenpairs miss the tolerance .*\)")


def test_where_there_are_no_landmarks_the_solver_goes_on(roll, monkeypatch):
    """Parts, degrees and graphs: "auto" is then None."""
    monkeypatch.setattr(eigen, "solve", lambda problem, give_up: 1 / (not give_up) and _lapack(problem))
    two = np.concatenate([roll[:120], roll[:100] + 500])
    with pytest.warns(UserWarning, match="2 components"):
        assert LLE(disconnected="separate", random_state=0).fit(two).landmarks_ is None
    assert LaplacianEigenmaps(normalization="symmetric").fit(roll).landmarks_ is None
    assert LaplacianEigenmaps().fit(csr_array(roll)).landmarks_ is None
    with pytest.raises(ValueError, match=r"n_landmarks must be None for .* sparse rows"):
        LaplacianEigenmaps(n_landmarks=5).fit(csr_array(roll))
    D = np.linalg.norm(roll[:, None] - roll, axis=2)
    assert LaplacianEigenmaps(metric="precomputed").fit(D).landmarks_ is None
    graph = csr_array(np.where(D < 8, D, 0))
    assert DiffusionMaps(metric="precomputed").fit(graph).landmarks_ is None


def _lapack(problem):
    return choice.first_good(problem, ["lapack"])


@pytest.mark.parametrize("make", [Isomap, TCIE, DiffusionMaps], ids=lambda m: m.__name__)
def test_tables_of_distances(make, roll, monkeypatch):
    monkeypatch.setattr(make, "_most_rows", 200)
    D = np.linalg.norm(roll[:, None] - roll, axis=2)
    with pytest.warns(UserWarning, match=f"{FEW} landmarks are used instead of all rows"):
        model = make(metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(model.transform(D[:20]), model.embedding_[:20], atol=1e-8 * np.ptp(model.embedding_))


def test_tcie_through_landmarks_unrolls_a_sheet_with_a_hole():
    """Close to what all rows give, and fitted rows stay where they are."""
    roll = datasets.swiss_roll_hole(1500, noise=0, random_state=0)
    flat = roll.isometric_coordinates
    model = TCIE(n_landmarks=600, random_state=0).fit(roll.X)
    isomap = Isomap(n_landmarks=None, random_state=0).fit(roll.X)
    assert procrustes_error(flat, model.embedding_) < 0.8 * procrustes_error(flat, isomap.embedding_)
    np.testing.assert_allclose(model.transform(roll.X[:50]), model.embedding_[:50], atol=1e-9)
    assert model.boundary_.shape == (1500,)


def test_routes():
    assert LandmarkChoice.of(7, 100) == LandmarkChoice(7)
    assert LandmarkChoice.of(None, 100) == LandmarkChoice(None)
    assert LandmarkChoice.of("auto", 100) == LandmarkChoice(None, undecided=True)
    assert LandmarkChoice.of("auto", FEW) == LandmarkChoice(None)  # landmarks would not be fewer
    assert LandmarkChoice.of("auto", 100, possible=False).not_all_rows("too large") == LandmarkChoice(None)
    calls = []
    assert solved(LandmarkChoice(7), calls.append, lambda m: m, "me") == 7
    assert solved(LandmarkChoice(None), lambda give_up: give_up, calls.append, "me") is False
    assert calls == []

    def hard(give_up):
        raise TooHard("me: too hard.")

    with pytest.warns(UserWarning, match=r"me: the eigensolver gave up on all rows \(too hard\); 60 landmarks"):
        assert solved(LandmarkChoice(None, undecided=True), hard, lambda m: m, "me") == FEW


def test_a_solver_that_gives_up_says_so(monkeypatch):
    """Too large factors and too few steps; without `give_up` the factors are made after all."""
    n = 700
    L = csr_array(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    L[[0, n - 1], [0, n - 1]] = 1.0
    monkeypatch.setattr(choice, "LARGEST_FACTORS", 10)
    monkeypatch.setattr(choice, "_patience", lambda problem, name, rest: 2)
    monkeypatch.setattr(choice, "chain_of", lambda problem, rough=False: ["arpack", "block", "lobpcg"])
    settings = {"which": "smallest", "skip": np.ones(n)}
    with pytest.raises(TooHard, match="2 of 2 eigenpairs miss the tolerance"):
        eigenpairs(L, 2, give_up=True, **settings)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        rough = eigenpairs(L, 2, solver="lobpcg", max_iter=2, **settings)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):  # a near miss is better than landmarks
        near = eigenpairs(L, 2, give_up=True, tol=float(rough.residuals.max()) / 5, **settings)
    np.testing.assert_array_equal(near.vectors, rough.vectors)
    found = eigenpairs(L, 2, **settings)
    assert found.solver == "arpack"
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(np.pi * np.arange(1, 3) / n), rtol=1e-6)
