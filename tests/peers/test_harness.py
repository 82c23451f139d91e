"""The harness itself: what it replaces and what it leaves alone, and a list that stays true."""

import re
from pathlib import Path

import pytest
import sklearn.decomposition

import lowdim
from tests.peers import adopt, exceptions, quick
from tests.peers.adapters import linear
from tests.peers.scikit_learn.replaced import REPLACED

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_is_for_the_release_that_make_installs():
    pinned = re.search(r"^scikit-learn==(\d+\.\d+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[1]
    assert pinned == adopt.MADE_FOR, "make exceptions.txt again for the new release, then change MADE_FOR"


def test_every_line_has_a_kind_and_a_reason_and_stands_once():
    lines = exceptions.lines()
    assert all(exceptions.parsed(line).kind in exceptions.KINDS for line in lines)
    assert all(exceptions.parsed(line).reason.strip() for line in lines)
    assert len(exceptions.read()) == len(lines)


def test_every_line_and_every_name_of_the_sample_is_a_test(request):
    """Of the modules that were collected in this run."""
    seen = request.config.stash[exceptions.SEEN]
    modules = {module for module, _ in seen}
    if not modules:
        pytest.skip("no adopted test was collected")
    named = set(exceptions.read()) | quick.SAMPLE
    assert {(module, test) for module, test in named if module in modules} <= seen


def test_a_copy_sees_ours_and_nobody_else_does(tmp_path):
    view = adopt.View(sklearn, REPLACED)
    assert view.decomposition.PCA is linear.PCA
    assert sklearn.decomposition.PCA is not linear.PCA
    assert view.decomposition.NMF is sklearn.decomposition.NMF


def test_a_module_without_its_tests_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr(adopt, "INSTALLED", adopt.MADE_FOR)
    with pytest.raises(pytest.skip.Exception, match="came without its tests"):
        adopt.adopt("sklearn.decomposition.tests.test_nothing", REPLACED)
    monkeypatch.setattr(adopt, "INSTALLED", "1.6")
    with pytest.raises(pytest.skip.Exception, match=r"this is 1\.6"):
        adopt.adopt("sklearn.decomposition.tests.test_pca", REPLACED)


def test_an_adapter_computes_with_ours(rng):
    X = rng.standard_normal((20, 4))
    model = linear.PCA(n_components=2, svd_solver="full").fit(X)
    assert isinstance(model._fitted, lowdim.PCA)
    assert model._fitted.solver == "svd"
    assert (model.transform(X) == lowdim.PCA(2, solver="svd").fit(X).transform(X)).all()
    assert model.get_params()["svd_solver"] == "full"


def test_sources_that_are_not_there_are_skipped_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("LOWDIM_PEER_TESTS", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="sources in the folder that LOWDIM_PEER_TESTS names"):
        adopt.adopt_source("sklearn", "nothing/test_nothing.py", REPLACED)


def test_a_copy_of_a_source_sees_ours(monkeypatch, tmp_path):
    folder = tmp_path / "decomposition" / "tests"
    folder.mkdir(parents=True)
    (folder / "test_one.py").write_text("from sklearn.decomposition import PCA\nfrom .._pca import PCA as OTHER\n")
    monkeypatch.setenv("LOWDIM_PEER_TESTS", str(tmp_path))
    monkeypatch.setattr(adopt, "_package_of", lambda package, file: "sklearn.decomposition.tests")
    assert adopt.adopt_source("sklearn", "decomposition/tests/test_one.py", REPLACED)["PCA"] is linear.PCA
