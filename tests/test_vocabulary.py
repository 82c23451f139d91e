"""One language: parameters that several estimators have mean the same, are checked by one rule, and read the same."""

import inspect
import re

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString

import lowdim
from lowdim._core.renamed import renamed_of
from lowdim._core.vocabulary import LAST, SHARED, rules_of
from tests.estimators import CASES

ESTIMATORS = [getattr(lowdim, name) for name in lowdim._ESTIMATORS]

# (estimator, parameter): why its rule or default is another one than in the table.
VARIES = {
    ("PCA", "missing"): "PCA has a model of incomplete rows; by default it is used",
    ("FAMD", "missing"): "as PCA",
    ("MCA", "missing"): "as PCA",
    **{(name, "missing"): "a normal distribution of the rows" for name in ("LDA", "CCA", "Whitening", "ICA")},
    ("CA", "missing"): "as MCA, but counts are seldom missing: an error by default",
    **{(name, "missing"): "expected features only" for name in ("FeatureMapPCA", "KernelCCA")},
    ("Autoencoder", "missing"): "the network has a likelihood of the observed cells, and two ways to encode such rows",
    ("VAE", "missing"): "as Autoencoder",
    ("NLPCA", "missing"): "as Autoencoder",
    **{(name, "device"): "networks train on a GPU where there is one" for name in ("Autoencoder", "VAE")},
    ("LDA", "tol"): "not of a stopping rule: an axis with less variance within classes counts as perfect separation",
    ("UMAP", "max_iter"): "None: a number that depends on the number of rows",
}
# Numbers that are the method's own: the rule is shared, the default is not.
OWN_DEFAULT = {"max_iter", "tol", "n_init"}

pytestmark = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)


def described(cls):
    """Parameter -> (type, text) of the docstring."""
    found = {}
    for entry in NumpyDocString(inspect.getdoc(cls))["Parameters"]:
        for name in entry.name.split(","):
            found[name.strip()] = (entry.type, " ".join(" ".join(entry.desc).split()))
    return found


def shared(cls):
    return [name for name in inspect.signature(cls).parameters if name in SHARED and (cls.__name__, name) not in VARIES]


def test_rules_are_those_of_the_table(cls):
    for name in shared(cls):
        assert rules_of(cls)[name].text == SHARED[name].rule.text, name
        assert name not in cls._rules or name in OWN_DEFAULT, f"{name} has a rule in the table already"


def test_every_parameter_has_a_rule(cls):
    assert set(inspect.signature(cls).parameters) == set(rules_of(cls))


def test_defaults_are_those_of_the_table(cls):
    for name in set(shared(cls)) - OWN_DEFAULT:
        default = inspect.signature(cls).parameters[name].default
        assert type(default) is type(SHARED[name].default), name
        assert default == SHARED[name].default, name


def test_docstrings_say_the_same(cls):
    texts = described(cls)
    for name in shared(cls):
        kind, text = texts[name]
        assert kind == SHARED[name].type, name
        assert text.startswith(SHARED[name].text), f"{name}: {text!r} must begin with {SHARED[name].text!r}"


def test_shared_parameters_come_last_and_in_order(cls):
    names = list(inspect.signature(cls).parameters)
    there = [name for name in LAST if name in names]
    assert names[len(names) - len(there) :] == there
    listed = [name for name in described(cls) if name in names]
    assert listed == names


def test_iterative_estimators_take_a_callback(cls):
    names = inspect.signature(cls).parameters
    assert ("callback" in names) == ("max_iter" in names)


def test_old_names_work_with_a_warning(cls):
    for old, new in renamed_of(cls).items():
        assert old not in inspect.signature(cls).parameters
        value = inspect.signature(cls).parameters[new].default
        with pytest.warns(FutureWarning, match=f"{cls.__name__}: {old} is now called {new}"):
            model = cls(**{old: value})
        assert getattr(model, new) is value
        assert old not in model.get_params()
        with pytest.warns(FutureWarning, match=f"{old} is now called {new}"):
            model.set_params(**{old: value})
        with pytest.raises(TypeError, match=f"{old} is the old name of {new}"):
            cls(**{old: value, new: value})


def test_callbacks_see_step_loss_and_result_and_stop(cls):
    if "callback" not in inspect.signature(cls).parameters:
        pytest.skip("not iterative")
    case = next((case for case in CASES if type(case.estimator) is cls), None)
    if case is None:
        pytest.skip("takes other tables than numbers; see its own tests")
    X = np.random.default_rng(0).normal(size=(40, 5))
    if cls.__name__ in ("PCA", "FAMD", "ProbabilisticPCA", "FactorAnalysis", "BayesianPCA"):
        X[::4, 1] = np.nan  # complete rows are solved in closed form
    seen = []

    def watch(step, loss, state):
        seen.append((step, loss, state))
        return len(seen) == 2

    parameters = case.estimator.get_params() | {"callback": watch}
    model = case.fit(cls(**parameters), X)
    assert len(seen) == 2, "returning True stops the fit"
    steps, losses, states = zip(*seen, strict=True)
    assert steps[0] < steps[1]
    assert all(isinstance(step, int) for step in steps)
    assert all(isinstance(loss, float) and np.isfinite(loss) for loss in losses)
    assert all(state is not None for state in states)
    assert not np.all(model.converged_)


def test_texts_use_the_words_of_the_field(cls):
    text = inspect.getdoc(cls)
    for word in PRIVATE_WORDS:
        assert not re.search(word, text, re.IGNORECASE), word


# Words of the project's own that a search would not find, and what is said instead.
PRIVATE_WORDS = {
    r"\bway back\b": "inverse transform",
    r"\bwith a word\b": "with a warning",
    r"\bis told\b": "a warning",
    r"\bplaces? of (the )?(fitted )?rows\b": "embedding",
    r"\bhang(s)? together\b": "connected",
    r"\bfalls? apart\b": "is not connected",
    r"\bno say\b": "ignored",
}
