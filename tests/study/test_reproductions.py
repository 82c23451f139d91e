"""Published experiments run again."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigs
from sklearn.datasets import load_digits

import lowdim
from lowdim import datasets
from lowdim._core.neighbors import nearest
from lowdim.app.cli import main
from lowdim.quality import knn_error
from lowdim.study import reproductions
from lowdim.study.reproductions import _neighbor_tables, helix_missing, kpca_svm, table_4_1


def test_incomplete_swiss_roll_keeps_the_published_order():
    found = reproductions.reproduce("incomplete-swiss-roll", repeats=2, random_state=0)
    ours = {line.what: line.ours for line in found.lines}
    assert abs(ours["complete"] - 0.52) < 0.04
    assert ours["50% missing, regularised"] > ours["50% missing, iterative (EM)"]
    assert ours["17% missing, regularised"] > ours["17% missing, iterative (EM)"]
    for line in found.lines:
        if line.published != "-":
            assert abs(line.ours - float(line.published)) < 0.04, line
    assert found.notes


def test_cells_of_a_helical_loop(monkeypatch):
    """A small loop: curves fill the cells, lines cannot."""
    monkeypatch.setattr(helix_missing, "ROWS", 150)
    monkeypatch.setattr(helix_missing, "NOISES", (0.05,))
    monkeypatch.setattr(helix_missing, "STARTS", 3)
    monkeypatch.setattr(helix_missing, "_width_note", lambda rng: "")
    found = reproductions.reproduce("helix-missing", repeats=1, random_state=0)
    ours = {line.what: line.ours for line in found.lines}
    error = {name: ours[f"unit height, noise 0.05, {name}"] for name in helix_missing.METHODS}
    assert error["inverse NLPCA"] < 0.2 * error["best linear predictor"]
    assert abs(error["column means"] - 4 / 9) < 0.1
    assert abs(error["best linear predictor"] - 0.276) < 0.06
    # Linear models come no nearer than the best linear predictor.
    assert min(error[name] for name in ("regularised PCA", "probabilistic PCA", "NIPALS")) > 0.25
    assert abs(ours["height t, noise 0.05, column means"] - 1.43) < 0.3
    assert ours["unit height, noise 0.05, inverse NLPCA: cos"] < 0.05
    assert ours["complete rows, noise 0.05, inverse NLPCA (63 weights)"] < 0.005


@pytest.mark.deep
def test_cells_of_the_published_loop():
    ours = {line.what: line.ours for line in reproductions.reproduce("helix-missing", repeats=3, random_state=0).lines}
    assert ours["unit height, noise 0, inverse NLPCA"] < 0.01
    assert ours["unit height, noise 0.05, inverse NLPCA"] < 0.02


def test_command_line(capsys):
    assert main(["reproduce"]) == 0
    listed = capsys.readouterr().out
    assert "incomplete-swiss-roll" in listed
    assert "kpca-svm" in listed
    assert main(["reproduce", "incomplete-swiss-roll", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out
    assert "published" in printed
    assert "50% missing, regularised" in printed
    assert main(["reproduce", "incomplete-swiss-roll", "--repeats", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeats"] == 1


def test_unknown_names_are_answered(capsys):
    with pytest.raises(ValueError, match="Did you mean 'incomplete-swiss-roll'"):
        reproductions.reproduce("incomplete-swis-roll")
    assert main(["reproduce", "nothing"]) == 2
    assert "got 'nothing'" in capsys.readouterr().err


def by_name(found):
    return {line.what: line for line in found.lines}


def test_kernel_pca_and_a_linear_machine_keep_the_published_order():
    found = reproductions.reproduce("kpca-svm", repeats=1, random_state=0)
    lines = by_name(found)
    error = {what: line.ours for what, line in lines.items()}
    # Nonlinear components beat as many linear ones, more of them are better, and they reach the nonlinear machine.
    assert error["kernel PCA, degree 4, 64 components + linear machine"] < error["PCA, 64 components + linear machine"]
    degree_4 = [error[f"kernel PCA, degree 4, {k} components + linear machine"] for k in (32, 128, 512)]
    assert degree_4[0] > degree_4[1] >= degree_4[2] - 0.003
    machine = error["nonlinear machine (Gaussian kernel)"]
    assert machine < error["linear machine on pixels"]
    assert abs(error["kernel PCA, Gaussian, 512 components + linear machine"] - machine) < 0.005
    assert max(error.values()) < 0.1
    # The printed numbers have that order too.
    printed = {what: float(line.published) for what, line in lines.items() if line.published != "-"}
    assert printed["PCA, 64 components + linear machine"] == 0.088
    assert printed["kernel PCA, degree 4, 512 components + linear machine"] == 0.044
    assert min(printed, key=printed.get) == "nonlinear machine (Gaussian kernel)"
    assert "scikit-learn" in found.notes[0]


def test_kernel_pca_on_the_data_of_the_paper_where_there_is_a_folder(tmp_path, monkeypatch):
    """Its shape only: every fourth of the digits as if it were USPS."""
    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "usps.npz", X=X[::4].astype(np.float32) / 16, y=y[::4].astype(np.uint8), n_train=np.int32(300))
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    found = reproductions.reproduce("kpca-svm", repeats=1, random_state=0)
    assert "USPS" in found.notes[0]
    assert "scikit-learn" not in found.notes[0]
    assert max(line.ours for line in found.lines) < 0.3
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path / "elsewhere"))
    assert kpca_svm._usps() is None


def test_maps_of_artificial_sets(monkeypatch):
    """Few rows and one number of neighbours: every method on every set, the published numbers beside."""
    monkeypatch.setattr(table_4_1, "ROWS", 1500)
    monkeypatch.setattr(_neighbor_tables, "NEIGHBORS", (8,))
    told = []
    found = by_name(reproductions.reproduce("table-4.1", repeats=1, random_state=0, tell=told.append))
    assert [line.what for line in told] == list(found)
    assert len(found) == 5 * 8 + 2
    error = {re.sub(r" \(.*?\)|, \d+ neighbours", "", what): line.ours for what, line in found.items()}
    assert error["Swiss roll, Isomap"] < 0.5 * error["Swiss roll, PCA"]
    assert error["Broken Swiss roll, Isomap, components embedded separately"] < 5 < error["Broken Swiss roll, PCA"]
    assert error["Helix, Isomap, cut"] < 10 < error["Helix, PCA"]
    narrow, wide = (f"Swiss roll, Laplacian eigenmaps, {width} weights" for width in ("narrow", "wide"))
    assert error[narrow] < 0.6 * error[wide]
    published = [line.published for what, line in found.items() if what.startswith("HD")]
    assert published == ["24.19", "22.14", "29.25", "20.45", "35.81", "35.81", "41.70", "41.70"]


def test_the_best_number_of_neighbours_of_each_draw_counts(monkeypatch):
    """Draws whose best numbers differ: the mean of their least errors, and the numbers."""
    monkeypatch.setattr(_neighbor_tables, "NEIGHBORS", (5, 6))
    errors = iter([10.0, 20.0, 40.0, 30.0])
    monkeypatch.setattr(_neighbor_tables.Draw, "error", lambda self, Z: next(errors))
    monkeypatch.setattr(_neighbor_tables, "_PLAIN", {})
    monkeypatch.setattr(_neighbor_tables, "_GRAPHS", {"LLE": lambda r, k, length: None})
    rows = np.arange(20.0)[:, None]
    one = _neighbor_tables.TableEntry("set", lambda rng: (rows, rows[:, 0]), 1, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    steps = []
    (line,) = _neighbor_tables.run_sets([one], 2, np.random.default_rng(0), lambda *step: steps.append(step))
    assert (line.what, line.published) == ("set (20 rows, 1 components), LLE, 5 to 6 neighbours", "5.00")
    assert (line.ours, line.spread) == (20.0, 10.0)
    assert steps == [("set, LLE", 0, 2), ("set, LLE", 1, 2)]


@pytest.mark.deep
def test_published_eigenmaps_of_the_roll_had_edges_one_way():
    """The paper's toolbox joined more than 4,000 rows to their neighbours without the way back, and kept the largest
    part that can be left and reached. That gives the published 10.16 % or so; edges both ways give nearly twice that.
    """
    roll = datasets.swiss_roll(5000, 0.05, np.random.default_rng(0))
    found = [one_way_error(roll, k) for k in (5, 6, 7, 8, 9)]
    assert 8 < min(found) < 12
    both = lowdim.LaplacianEigenmaps(2, n_neighbors=7, width="largest", random_state=0).fit_transform(roll.X)
    assert knn_error(both, roll.labels) > 0.15


def one_way_error(roll, k):
    near = nearest(roll.X, k)
    squares = near.distances**2
    weights = np.exp(-squares / squares.max() / 2)
    rows = np.repeat(np.arange(5000), k)
    W = sparse.csr_array((weights.ravel(), (rows, near.indices.ravel())), shape=(5000, 5000))
    parts = csgraph.connected_components(W, connection="strong")[1]
    kept = np.flatnonzero(parts == np.bincount(parts).argmax())
    W = W[kept][:, kept]
    D = sparse.diags_array(W.sum(axis=1) + 1.0)  # a row was its own neighbour too
    L = sparse.diags_array(W.sum(axis=1)) - W
    start = 1.0 + np.random.default_rng(0).random(len(kept))
    values, vectors = eigs(L.tocsc(), 3, M=D.tocsc(), sigma=-1e-9, v0=start)
    axes = vectors[:, np.argsort(abs(values))[1:]].real.copy()
    return 100 * knn_error(axes, roll.labels[kept])


def test_maps_of_natural_sets(monkeypatch, tmp_path):
    """One of the files is there; the others are printed without a number of ours."""
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    with pytest.raises(ValueError, match=r"LOWDIM_DATA must name the folder of mnist\.npz, coil20"):
        reproductions.reproduce("table-4.2", repeats=1)
    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "coil20.npz", X=X[:300].astype(np.uint8), y=y[:300])
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    monkeypatch.setattr(_neighbor_tables, "NEIGHBORS", (10,))
    found = by_name(reproductions.reproduce("table-4.2", repeats=1, random_state=0))
    assert found["COIL-20 (300 rows, 5 components), PCA"].ours < 20
    assert found["NiSIS (15 components), LLE"].ours is None


def test_numbers_of_a_long_table_are_printed_as_they_come(monkeypatch, tmp_path, capsys):
    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "orl_faces_32.npz", X=X[:120].astype(np.uint8), y=y[:120])
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path))
    monkeypatch.setattr(_neighbor_tables, "NEIGHBORS", (10,))
    assert main(["reproduce", "table-4.2"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"ORL \(120 rows, 8 components\), Isomap, 10 neighbours: \d+\.\d+ \(published: 44\.20\)", err)
    assert "NiSIS" not in err
    assert "Mean and standard deviation over 5 runs." in out
    main(["reproduce", "incomplete-swiss-roll", "--repeats", "1"])  # its lines come all at once
    assert capsys.readouterr().err == "roll 1 (1 of 1)\n"
