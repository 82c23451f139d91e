"""The steps of single-cell work, on an object with the places of AnnData, and on AnnData itself where installed."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lowdim
import lowdim.scverse as ls
from tests.oracles import load_expected, load_input


class Cells:
    """The places of AnnData that are read and written."""

    def __init__(self, X):
        self.X, self.shape = X, X.shape
        self.layers, self.obsm, self.obsp, self.varm, self.uns = {}, {}, {}, {}, {}
        self.obs = pd.DataFrame(index=[f"cell{i}" for i in range(X.shape[0])])
        self.var = pd.DataFrame(index=[f"gene{j}" for j in range(X.shape[1])])


def counts(n=150, genes=70, groups=3):
    rng = np.random.default_rng(0)
    means = rng.gamma(2.0, 1.0, size=(groups, genes))
    labels = np.arange(n) % groups
    return np.log1p(rng.poisson(means[labels])).astype(np.float32), labels


@pytest.fixture
def cells():
    X, labels = counts()
    made = Cells(X)
    made.obs["kind"] = pd.Categorical([f"kind {label}" for label in labels])
    return made


def test_components_are_those_of_pca(cells):
    ls.pca(cells, n_comps=10)
    model = lowdim.PCA(10).fit(cells.X)
    np.testing.assert_allclose(cells.obsm["X_pca"], model.transform(cells.X), atol=1e-4)
    np.testing.assert_allclose(cells.varm["PCs"], model.components_.T)
    np.testing.assert_allclose(cells.uns["pca"]["variance"], model.explained_variance_)
    assert cells.obsm["X_pca"].dtype == np.float32
    ls.pca(cells)
    assert cells.obsm["X_pca"].shape == (150, 50)


@pytest.mark.parametrize("kind", ["sparse", "layer", "dask", "file"])
def test_the_same_components_of_other_tables(cells, kind, tmp_path):
    ls.pca(cells, n_comps=5)
    X, other, layer = cells.X, Cells(cells.X), None
    if kind == "sparse":
        other.X = sparse.csr_matrix(X)
    elif kind == "layer":
        other.X, other.layers["counts"], layer = np.zeros_like(X), X, "counts"
    elif kind == "dask":
        other.X = pytest.importorskip("dask.array").from_array(X, chunks=(40, 70))
    else:
        other.X = pytest.importorskip("h5py").File(tmp_path / "x.h5", "w").create_dataset("X", data=X)
    ls.pca(other, n_comps=5, layer=layer)
    np.testing.assert_allclose(other.obsm["X_pca"], cells.obsm["X_pca"], atol=1e-4)


def test_genes_that_vary_are_used_where_they_are_marked(cells):
    cells.var["highly_variable"] = np.arange(70) < 20
    ls.pca(cells, n_comps=4)
    np.testing.assert_allclose(cells.obsm["X_pca"], lowdim.PCA(4).fit_transform(cells.X[:, :20]), atol=1e-4)
    assert (cells.varm["PCs"][20:] == 0).all()
    ls.pca(cells, n_comps=4, mask_var=None, key_added="all")
    np.testing.assert_allclose(cells.obsm["all"], lowdim.PCA(4).fit_transform(cells.X), atol=1e-4)
    with pytest.raises(KeyError, match="mask_var must be a column of var"):
        ls.pca(cells, mask_var="nothing")
    with pytest.raises(ValueError, match="True or False for each of the 70 genes"):
        ls.pca(cells, mask_var=np.arange(70))


def fuzzy_union(D, k):
    """Memberships by the definition: exp(-(d - nearest) / width), of sum log2(k); both directions united."""
    W = np.zeros_like(D)
    for i, row in enumerate(D):
        near = np.argsort(row)[1:k]
        low, high = 1e-9, 1e3
        for _ in range(100):
            width = (low + high) / 2
            w = np.exp(-(row[near] - row[near[0]]) / width)
            low, high = (width, high) if w.sum() < np.log2(k) else (low, width)
        W[i, near] = w
    return W + W.T - W * W.T


def test_the_graph_counts_the_cell_itself_and_has_the_weights_of_the_definition(cells):
    ls.pca(cells, n_comps=10)
    ls.neighbors(cells, n_neighbors=8)
    X = cells.obsm["X_pca"].astype(float)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    assert (np.diff(cells.obsp["distances"].indptr) == 7).all()
    np.testing.assert_allclose(cells.obsp["connectivities"].toarray(), fuzzy_union(D, 8), atol=1e-3)
    assert cells.uns["neighbors"]["connectivities_key"] == "connectivities"
    assert cells.uns["neighbors"]["params"]["n_neighbors"] == 8
    ls.neighbors(cells, n_neighbors=5, use_rep="X", key_added="plain")
    assert cells.obsp["plain_distances"].nnz == 150 * 4


@pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has")
def test_umap_is_made_of_the_graph_that_is_there(cells):
    ls.neighbors(cells, use_rep="X")
    cells.X = None  # nothing else is looked at
    ls.umap(cells)
    settings = {"min_dist": 0.5, "learning_rate": 0.5, "disconnected": "separate"}
    again = lowdim.UMAP(affinity="precomputed", random_state=0, **settings)
    Z = again.fit_transform(cells.obsp["connectivities"].astype(float))
    np.testing.assert_allclose(cells.obsm["X_umap"], Z, rtol=1e-6, atol=1e-5)
    assert set(cells.uns["umap"]["params"]) == {"a", "b", "random_state"}
    ls.umap(cells, init_pos="X_umap", key_added="further", maxiter=5)
    assert cells.obsm["further"].shape == (150, 2)
    with pytest.raises(KeyError, match="init_pos must be"):
        ls.umap(cells, init_pos="X_nothing")


def test_tsne_takes_neighbours_that_are_there_where_they_are_enough(cells, monkeypatch):
    ls.pca(cells, n_comps=10)
    ls.neighbors(cells, n_neighbors=31)
    ls.tsne(cells, perplexity=10)
    ls.tsne(cells, perplexity=10, use_rep="X_pca", key_added="searched")  # another representation, by its name
    kept = [lowdim.quality.rnx_auc(cells.obsm["X_pca"], cells.obsm[key]) for key in ("X_tsne", "searched")]
    assert abs(kept[0] - kept[1]) < 0.05
    ls.tsne(cells, neighbors_key="neighbors", key_added="weights")
    rates = {"early_exaggeration": "auto", "learning_rate": "auto"}
    assert cells.uns["weights"]["params"] == {"neighbors_key": "neighbors", "metric": "euclidean", **rates}
    monkeypatch.setattr("lowdim.scverse._reading.representation", None)  # rows are not even read
    ls.tsne(cells, perplexity=10, key_added="again")
    np.testing.assert_array_equal(cells.obsm["again"], cells.obsm["X_tsne"])


@pytest.mark.parametrize("n_neighbors", [15, 80])  # three pieces; one
def test_the_diffusion_map_has_the_eigenvectors_of_the_walk(cells, n_neighbors):
    ls.neighbors(cells, n_neighbors=n_neighbors, use_rep="X")
    ls.diffmap(cells, n_comps=4)
    W = cells.obsp["connectivities"].toarray().astype(float)
    K = W / np.outer(W.sum(axis=0), W.sum(axis=0))
    T = K / np.sqrt(np.outer(K.sum(axis=0), K.sum(axis=0)))
    values, Z = np.linalg.eigvalsh(T)[::-1][:4], cells.obsm["X_diffmap"]
    np.testing.assert_allclose(cells.uns["diffmap_evals"], values, atol=1e-6)
    np.testing.assert_allclose(T @ Z, Z * values, atol=1e-5)  # also where the graph is in pieces, and values are equal
    np.testing.assert_allclose(Z.T @ Z, np.eye(4), atol=1e-5)


def test_any_estimator_and_its_verdict(cells):
    ls.pca(cells, n_comps=10)
    ls.embed(cells, lowdim.MDS(2, random_state=0))
    assert cells.obsm["X_mds"].shape == (150, 2)
    with pytest.raises(ValueError, match="estimator must be given for the map 'mds'"):
        ls.trust(cells, "mds")
    ls.trust(cells, "mds", estimator=lowdim.PCA(2), groupby="kind", n_null=2)
    assert list(cells.obs["mds_trust"].cat.categories) == ["trusted", "unsure", "misplaced"]
    assert cells.obs["mds_trust"].value_counts().to_dict() == cells.uns["mds_trust"]["counts"]
    assert set(cells.uns["mds_trust"]["groups"]) == {"kind 0", "kind 1", "kind 2"}
    assert cells.obs["mds_trust_p"].between(0, 1).all()


def test_what_is_not_there_is_named(cells):
    for step in (ls.umap, ls.diffmap):
        with pytest.raises(KeyError, match="there is no neighbour graph named 'neighbors'"):
            step(cells)
    with pytest.raises(KeyError, match="use_rep must be 'X' or one of"):
        ls.neighbors(cells, use_rep="X_harmony")
    with pytest.raises(KeyError, match="layer must be one of"):
        ls.pca(cells, layer="spliced")
    with pytest.warns(UserWarning, match="70 columns and no principal components, so scverse.pca was run"):
        ls.neighbors(cells)
    with pytest.raises(ValueError, match="n_pcs must be at most 50"):
        ls.neighbors(cells, n_pcs=60)


def test_the_words_of_scanpys_tutorials_are_taken(cells):
    ls.tl.pca(cells, svd_solver="arpack", n_comps=20)
    ls.pp.neighbors(cells, n_neighbors=80, n_pcs=10, knn=True, method="umap")
    ls.tl.umap(cells, method="umap", maxiter=5)
    ls.tl.tsne(cells, use_fast_tsne=True)
    assert cells.obsm["X_umap"].shape == cells.obsm["X_tsne"].shape == (150, 2)
    assert cells.uns["pca"]["params"] == {"zero_center": True, "use_highly_variable": False, "mask_var": None}
    cells.var["highly_variable"] = np.arange(70) < 20
    ls.pca(cells, n_comps=4, use_highly_variable=False, chunked=True, chunk_size=10)
    np.testing.assert_allclose(cells.obsm["X_pca"], lowdim.PCA(4).fit_transform(cells.X), atol=1e-4)
    ls.pca(cells, n_comps=4)
    assert cells.uns["pca"]["params"]["mask_var"] == "highly_variable"


@pytest.mark.parametrize(
    ("step", "theirs", "way_out"),
    [
        ("neighbors", {"method": "gauss"}, "for other weights run scanpy.pp.neighbors first"),
        ("neighbors", {"knn": False}, "see lowdim.DiffusionMaps"),
        ("pca", {"return_info": True}, "take lowdim.PCA for arrays"),
        ("umap", {"method": "rapids"}, "one implementation"),
        ("tsne", {"n_iter": 300}, "there is no parameter 'n_iter'"),
    ],
)
def test_what_is_not_here_has_an_answer(cells, step, theirs, way_out):
    with pytest.raises(TypeError, match=way_out):
        getattr(ls, step)(cells, **theirs)


def test_mistakes_of_a_first_day_are_named(cells):
    with pytest.raises(TypeError, match="adata must be an AnnData object; got ndarray"):
        ls.pca(cells.X)
    with pytest.raises(ValueError, match="n_comps must be at most 70, for 150 cells and 70 genes; got 71"):
        ls.pca(cells, n_comps=71)
    with pytest.raises(ValueError, match="n_neighbors must be a whole number >= 2, as the cell itself counts"):
        ls.neighbors(cells, n_neighbors=1)
    ls.neighbors(cells, use_rep="X")
    W = cells.obsp["connectivities"].toarray()
    W[3] = W[:, 3] = 0
    cells.obsp["connectivities"] = sparse.csr_matrix(W)
    with pytest.raises(ValueError, match=r"1 cells have no neighbour in the graph \(the first is cell 3\)"):
        ls.diffmap(cells)


def test_few_cells_are_all_neighbours():
    few = Cells(counts(n=9)[0][:, :20])
    with pytest.warns(UserWarning, match="n_neighbors=15 is more than the 9 cells"):
        ls.neighbors(few)
    assert (np.diff(few.obsp["distances"].indptr) == 8).all()
    assert few.uns["neighbors"]["params"]["n_neighbors"] == 9


def test_a_map_begins_around_the_places_of_groups(cells):
    from lowdim.scverse._paga import around_groups

    links = sparse.csr_matrix(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
    cells.uns["paga"] = {"groups": "kind", "connectivities": links, "pos": np.array([[0.0, 0], [2, 4], [9, 9]])}
    start, kind = around_groups(cells, 0, "scverse.umap"), cells.obs["kind"].cat.codes
    for group, place in enumerate(cells.uns["paga"]["pos"]):
        assert (abs(start[kind == group] - place) <= (0 if group == 2 else [1, 2])).all()
    ls.neighbors(cells, use_rep="X", n_neighbors=80)
    ls.umap(cells, init_pos="paga", maxiter=5)
    assert np.isfinite(cells.obsm["X_umap"]).all()
    del cells.uns["paga"]["pos"]
    with pytest.raises(KeyError, match=r"scanpy\.pl\.paga"):
        ls.umap(cells, init_pos="paga")


def test_the_steps_have_the_numbers_of_scanpy():
    made = Cells(np.log1p(load_input("cell_counts")[0]))
    ls.pca(made, n_comps=10, dtype="float64")
    ls.neighbors(made, n_neighbors=8)  # of 30 genes, not of components
    ls.diffmap(made, n_comps=5)

    def wanted(name):
        return load_expected("scanpy_counts60", name)

    np.testing.assert_allclose(abs(made.obsm["X_pca"]), abs(wanted("pca")), atol=1e-8)
    np.testing.assert_allclose(made.uns["pca"]["variance"], wanted("variance"), rtol=1e-10)
    for name, atol in (("distances", 1e-6), ("connectivities", 1e-3)):
        i, j, values = wanted(name).T
        theirs = sparse.csr_array((values, (i.astype(int) - 1, j.astype(int) - 1)), shape=(60, 60))
        np.testing.assert_allclose(made.obsp[name].toarray(), theirs.toarray(), atol=atol)
    np.testing.assert_allclose(made.uns["diffmap_evals"], wanted("diffmap_evals"), atol=1e-4)


def test_on_anndata_beside_scanpy(tmp_path):
    anndata = pytest.importorskip("anndata")
    sc = pytest.importorskip("scanpy")
    X, labels = counts()
    theirs, ours = (anndata.AnnData(X.copy()) for _ in range(2))
    sc.pp.pca(theirs, n_comps=20)
    sc.pp.neighbors(theirs, n_neighbors=12)
    ls.pca(ours, n_comps=20)
    ls.neighbors(ours, n_neighbors=12)
    np.testing.assert_allclose(abs(ours.obsm["X_pca"]), abs(theirs.obsm["X_pca"]), atol=1e-3)
    np.testing.assert_allclose(
        ours.obsp["connectivities"].toarray(), theirs.obsp["connectivities"].toarray(), atol=1e-3
    )
    ls.umap(ours)
    ours.obs["kind"] = pd.Categorical([f"kind {label}" for label in labels])
    ls.trust(ours, groupby="kind", n_null=1)
    anndata.settings.allow_write_nullable_strings = True
    ours.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    ls.pca(backed, n_comps=20)
    np.testing.assert_allclose(backed.obsm["X_pca"], ours.obsm["X_pca"], atol=1e-3)
