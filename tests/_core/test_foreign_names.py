"""Names of other libraries get an error that says what they are called here; misspelt ones, the nearest name."""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn.cross_decomposition
import sklearn.decomposition
import sklearn.discriminant_analysis
import sklearn.manifold
import sklearn.neural_network
import sklearn.random_projection
from sklearn.base import BaseEstimator, clone

import lowdim
from lowdim._core.base import Reducer
from lowdim._core.foreign_names import NAMES, PARAMETERS, Ours
from lowdim._core.renamed import renamed_of

SKLEARN = {
    "PCA": (sklearn.decomposition.PCA, sklearn.decomposition.IncrementalPCA),
    "KernelPCA": (sklearn.decomposition.KernelPCA,),
    "ICA": (sklearn.decomposition.FastICA,),
    "FactorAnalysis": (sklearn.decomposition.FactorAnalysis,),
    "LDA": (sklearn.discriminant_analysis.LinearDiscriminantAnalysis,),
    "CCA": (sklearn.cross_decomposition.CCA,),
    "ClassicalMDS": (getattr(sklearn.manifold, "ClassicalMDS", None),),  # since scikit-learn 1.8
    "MDS": (sklearn.manifold.MDS,),
    "Isomap": (sklearn.manifold.Isomap,),
    "LLE": (sklearn.manifold.LocallyLinearEmbedding,),
    "LaplacianEigenmaps": (sklearn.manifold.SpectralEmbedding,),
    "TSNE": (sklearn.manifold.TSNE,),
}
# As of umap-learn 0.5.12 and openTSNE 1.0.4.
OTHERS = {
    "UMAP": "n_neighbors n_components metric metric_kwds output_metric output_metric_kwds n_epochs learning_rate init "
    "min_dist spread low_memory n_jobs set_op_mix_ratio local_connectivity repulsion_strength negative_sample_rate "
    "transform_queue_size a b random_state angular_rp_forest target_n_neighbors target_metric target_metric_kwds "
    "target_weight transform_seed transform_mode force_approximation_algorithm verbose tqdm_kwds unique densmap "
    "dens_lambda dens_frac dens_var_shift output_dens disconnection_distance precomputed_knn",
    "TSNE": "n_components perplexity learning_rate early_exaggeration_iter early_exaggeration n_iter exaggeration dof "
    "theta n_interpolation_points min_num_intervals ints_in_interval initialization metric metric_params "
    "initial_momentum final_momentum max_grad_norm max_step_norm n_jobs neighbors knn_kwargs negative_gradient_method "
    "callbacks callbacks_every_iters random_state verbose",
}
MODULES = (
    sklearn.manifold,
    sklearn.decomposition,
    sklearn.cross_decomposition,
    sklearn.discriminant_analysis,
    sklearn.random_projection,
)


def names_of(name):
    return set(inspect.signature(getattr(lowdim, name)).parameters)


def foreign_parameters(name):
    counterparts = [cls for cls in SKLEARN.get(name, ()) if cls is not None]
    found = {parameter for cls in counterparts for parameter in inspect.signature(cls).parameters}
    return found | set(OTHERS.get(name, "").split())


# ---- parameters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({*SKLEARN, *OTHERS}))
def test_every_parameter_of_the_counterparts_has_an_answer(name):
    cls = getattr(lowdim, name)
    lacking = foreign_parameters(name) - names_of(name) - set(renamed_of(cls))
    assert lacking or name == "ClassicalMDS", "otherwise nothing is compared"
    assert not lacking - set(PARAMETERS[name])


@pytest.mark.parametrize("name", PARAMETERS)
def test_answers_speak_of_parameters_that_exist(name):
    own = names_of(name)
    for foreign, answer in PARAMETERS[name].items():
        assert foreign not in own, f"{foreign} is a parameter already"
        text = answer.note if isinstance(answer, Ours) else answer
        spoken = set(re.findall(r"\b([a-z_]+)=", text)) - {foreign}
        assert spoken <= own, foreign
        if isinstance(answer, Ours):
            assert answer.name in own, foreign
        else:
            assert answer.startswith(("is not needed: ", "is not a parameter: ")), foreign


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("UMAP", {"n_epochs": 200}, "UMAP: n_epochs is max_iter here."),
        ("TSNE", {"n_iter": 500}, "TSNE: n_iter is max_iter here: the steps under early exaggeration are counted."),
        ("PCA", {"copy": False}, "PCA: copy is not needed: X is never changed."),
        ("KernelPCA", {"gamma": 1.0, "fit_inverse_transform": True}, "KernelPCA: fit_inverse_transform is not needed"),
        ("MDS", {"dissimilarity": "precomputed"}, "MDS: dissimilarity is metric here: 'precomputed' where X holds"),
        ("Isomap", {"neighbors_algorithm": "kd_tree"}, "Isomap: neighbors_algorithm is search here"),
        ("LaplacianEigenmaps", {"affinity": "rbf"}, "LaplacianEigenmaps: affinity is weights here"),
        ("UMAP", {"n_neigbors": 5}, "UMAP: there is no parameter 'n_neigbors'; did you mean n_neighbors?"),
        ("MCA", {"N_components": 5}, "MCA: there is no parameter 'N_components'; did you mean n_components?"),
        ("UMAP", {"n_epoch": 5}, "UMAP: there is no parameter 'n_epoch', and n_epochs is max_iter here."),
        (
            "CA",
            {"nonsense": 5},
            "CA: there is no parameter 'nonsense'. Parameters: n_components, ridge, missing, max_iter, tol, callback, "
            "random_state, n_jobs.",
        ),
    ],
)
def test_what_is_said(name, given, text):
    cls = getattr(lowdim, name)
    with pytest.raises(TypeError) as made:
        cls(**given)
    assert str(made.value).startswith(text)
    model = cls()
    before = model.get_params()
    with pytest.raises(TypeError) as changed:
        model.set_params(**given)
    assert str(changed.value).split(" Parameters: ")[0] == str(made.value).split(" Parameters: ")[0]
    assert model.get_params() == before, "all or nothing"
    with pytest.raises(ValueError, match="UMAP: n_epochs"):  # what scikit-learn raises from set_params
        lowdim.UMAP().set_params(n_epochs=1)


def test_names_of_an_earlier_release_are_still_taken():
    with pytest.warns(FutureWarning, match="reg is now called ridge"):
        assert lowdim.LLE(reg=0.1).ridge == 0.1


# ---- what scikit-learn and others read from a constructor -------------------------------------------------------


@pytest.mark.parametrize("name", lowdim._ESTIMATORS)
def test_signatures_are_explicit(name):
    cls = getattr(lowdim, name)
    parameters = inspect.signature(cls).parameters
    assert {p.kind for p in parameters.values()} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    model = cls()
    assert set(model.get_params(deep=False)) == set(parameters)
    assert type(clone(model)) is cls
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    with pytest.raises(TypeError, match=f"{name}: there is no parameter 'no_such_name'"):
        cls(no_such_name=1)


def test_classes_derived_from_an_estimator():
    class Mine(lowdim.UMAP):
        pass

    class Wider(lowdim.UMAP):
        def __init__(self, n_epochs=7, n_components=2):
            super().__init__(n_components)
            self.n_epochs = n_epochs

    class Open(Reducer):
        def __init__(self, **anything):
            self.anything = anything

    with pytest.raises(TypeError, match="Mine: n_epochs is max_iter here"):
        Mine(n_epochs=3)
    assert Wider(n_epochs=3).get_params() == {"n_components": 2, "n_epochs": 3}
    with pytest.raises(TypeError, match="Wider: there is no parameter 'n_epoch'; did you mean n_epochs"):
        Wider(n_epoch=3)
    assert Open(n_epochs=3).anything == {"n_epochs": 3}


def test_parameters_of_parts_are_left_to_scikit_learn():
    with pytest.raises(ValueError, match=r"[Ii]nvalid parameter"):
        lowdim.PCA().set_params(nobody__knows=1)


# ---- classes and functions --------------------------------------------------------------------------------------


def test_every_reducer_of_scikit_learn_is_here_or_has_an_answer():
    public = {name for module in MODULES for name in dir(module) if not name.startswith("_")}
    classes = {
        name
        for module in MODULES
        for name in public
        if inspect.isclass(cls := getattr(module, name, None))
        and issubclass(cls, BaseEstimator)
        and cls.__module__.startswith(module.__name__)
        and name not in ("BaseEstimator", "BaseRandomProjection")
    }
    assert len(classes) > 20
    assert not classes - set(lowdim.__all__) - set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_other_libraries(name):
    answer = NAMES[name]
    assert name not in lowdim.__all__
    assert not hasattr(lowdim, name)
    said = f"is lowdim.{answer.name} here" if isinstance(answer, Ours) else answer
    with pytest.raises(AttributeError, match=re.escape(f"module 'lowdim' has no attribute '{name}'; {name} {said}")):
        getattr(lowdim, name)
    with pytest.raises(ImportError, match=re.escape(f"{name} {said}")):
        exec(f"from lowdim import {name}")
    if isinstance(answer, Ours):
        found = lowdim
        for part in answer.name.split("."):
            found = getattr(found, part)
        assert callable(found)


def test_the_page_of_the_documentation_is_the_table():
    page = (Path(__file__).parents[2] / "docs" / "other-libraries.md").read_text(encoding="utf-8").splitlines()
    names = [f"| `{name}` | {in_words(answer)} |" for name, answer in NAMES.items()]
    parameters = [
        f"| `{owner}` | `{name}` | {in_words(answer)} |"
        for owner, answers in PARAMETERS.items()
        for name, answer in answers.items()
    ]
    assert [line for line in page if line.startswith("| `")] == names + parameters


def in_words(answer):
    if isinstance(answer, str):
        return answer
    return f"`{answer.name}`" + (f" ({answer.note})" if answer.note else "")


def test_names_in_another_case_and_misspelt():
    with pytest.raises(AttributeError, match="did you mean 'UMAP'"):
        lowdim.umap
    with pytest.raises(AttributeError, match="did you mean 'KernelPCA'"):
        lowdim.kernel_pca
    with pytest.raises(AttributeError, match="did you mean 'Isomap'"):
        lowdim.Isomp
    with pytest.raises(AttributeError, match=r"no attribute '_nothing'$"):
        lowdim._nothing
    with pytest.raises(AttributeError, match=r"no attribute 'Nonsense'$"):
        lowdim.Nonsense


def test_other_modules_of_the_package_can_be_imported_by_name():
    code = "from lowdim import study, report, linear, _core; from lowdim import *; print(UMAP.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["UMAP"]


def test_the_table_is_not_read_before_it_is_needed():
    code = "import sys, lowdim; lowdim.PCA(n_components=2).set_params(whiten=True); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "lowdim._core.renamed" in out.stdout.split()
    assert "lowdim._core.foreign_names" not in out.stdout.split()
