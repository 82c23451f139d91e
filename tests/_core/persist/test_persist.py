"""Model files: what goes in comes out bit for bit, and nothing bad gets in or out."""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

import lowdim
from lowdim import kernels
from lowdim._core import persist
from lowdim._core.kernels import algebra
from lowdim._core.persist import nodes
from lowdim._core.runtime import memory
from lowdim._core.tables.align import procrustes
from lowdim.kernels import RBF, Constant, Custom, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


class Toy(TransformerMixin, BaseEstimator):
    """Stands for the estimators of the library."""

    def __init__(self, n_components=2, *, kernel="rbf", random_state=None, options=None):
        self.n_components = n_components
        self.kernel = kernel
        self.random_state = random_state
        self.options = options

    def fit(self, X, y=None):
        self.components_ = np.linalg.svd(X - X.mean(axis=0))[2][: self.n_components]
        self.mean_ = X.mean(axis=0)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return (X - self.mean_) @ self.components_.T


@pytest.fixture(autouse=True)
def _known_toy(monkeypatch):
    monkeypatch.setattr(lowdim, "_ESTIMATORS", ("Toy", *lowdim._ESTIMATORS))
    monkeypatch.setattr(lowdim, "Toy", Toy, raising=False)


def holding(value):
    """A model whose only fitted attribute is `value`."""
    model = Toy()
    model.value_ = value
    return model


def through_file(model, folder):
    path = Path(folder) / "model.lowdim"
    persist.save(model, path)
    return persist.load(path)


def assert_same(a, b):
    """Equal in type, structure and every bit."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes("A") == b.tobytes("A")
    elif sparse.issparse(a):
        assert a.shape == b.shape
        for part in nodes.SPARSE_PARTS[a.format]:
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
        assert a.dtype == b.dtype
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, (float, np.floating)):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes() or (a != a and b != b)
    elif isinstance(a, BaseEstimator):
        assert_same(vars(a), vars(b))
    elif type(a).__module__.startswith("lowdim"):
        assert_same(*({f.name: getattr(record, f.name) for f in fields(record)} for record in (a, b)))
    else:
        assert a == b


# There and back ---------------------------------------------------------------------------------------------


def test_a_fitted_model_transforms_to_the_same_bits(tmp_path):
    model = Toy(
        3,
        kernel=2 * RBF(0.1) + Linear() * Polynomial(2) ** 2,
        random_state=7,
        options={"a": [1, (2.5, None)]},
    )
    model.fit(X)
    again = through_file(model, tmp_path)
    assert again.transform(X).tobytes() == model.transform(X).tobytes()
    assert again.get_params() == model.get_params()
    assert_same(again, model)


def test_callbacks_are_not_written(tmp_path):
    model = lowdim.MDS(2, callback=lambda step, loss, Z: None, random_state=0).fit(X)
    again = through_file(model, tmp_path)
    assert again.callback is None
    assert again.transform(X[:3]).tobytes() == model.transform(X[:3]).tobytes()


def test_unfitted_models_and_paths(tmp_path):
    for name in ("plain", "with spaces and ü.zip", "no.extension.at.all"):
        persist.save(Toy(5), tmp_path / name)
        assert persist.load(str(tmp_path / name)).get_params() == Toy(5).get_params()
    assert {p.name for p in tmp_path.iterdir()} == {"plain", "with spaces and ü.zip", "no.extension.at.all"}
    assert not hasattr(persist.load(tmp_path / "plain"), "components_")


VALUES = [
    None,
    True,
    0,
    -(2**53) - 1,
    10**5000,
    2**64,
    -0.0,
    0.1,
    5e-324,
    float("nan"),
    float("inf"),
    -float("inf"),
    "",
    "Größe \U0001f600 \ud800 \x00 \"'",
    [],
    (),
    {},
    {"": 1, "a b": {"kind": "array"}},
    [1, [2, (3, {"x": None})]],
    slice(None, 5, -1),
    np.float32(0.1),
    np.float64("nan"),
    np.float16(2.5),
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("text"),
    np.array(3.5),
    np.empty((0, 4), np.float32),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(RNG.normal(size=(4, 3))),
    RNG.normal(size=(6, 4))[::2, 1:3],
    np.array([True, False]),
    np.array([np.nan, np.inf, -0.0]),
    np.array(["ab", "ü"]),
    np.array([b"ab"]),
    np.array([1 + 2j], np.complex64),
    np.arange(3, dtype=">i4"),
    np.array(["x", "length of stay"], dtype=object),
    np.array([], dtype=object),
    sparse.csr_array(np.where(X > 0.5, X, 0).astype(np.float32)),
    sparse.csr_matrix((np.array([0.0, 2.0]), np.array([2, 0]), np.array([0, 2, 2])), shape=(2, 3)),
    sparse.csc_array(np.eye(3)),
    sparse.coo_array(np.eye(3)),
    sparse.coo_matrix(np.eye(3)),
    sparse.bsr_array(np.kron(np.eye(2), np.ones((2, 2)))),
    sparse.dia_array(np.eye(3)),
    RBF(0.1),
    2 * RBF(0.1) + Constant(0.5) ** 3,
    procrustes(X[:5], X[5:10]),
    Toy(4).fit(X),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{type(v).__name__}")
def test_values_come_back_bit_for_bit(value, tmp_path):
    again = through_file(holding(value), tmp_path).value_
    assert_same(again, value)
    as_parameter = through_file(Toy(options=value), tmp_path)
    assert_same(as_parameter.options, value)


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | arrays.arrays(st.sampled_from(["f4", "f8", "i2", "?"]), arrays.array_shapes(min_dims=0, min_side=0, max_side=4)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(value=DATA)
def test_any_nesting_of_data_comes_back(value, tmp_path):
    assert_same(through_file(holding(value), tmp_path).value_, value)


def test_memory_layout_is_kept(tmp_path):
    again = through_file(holding([np.asfortranarray(X), np.ascontiguousarray(X)]), tmp_path).value_
    assert again[0].flags.f_contiguous
    assert not again[0].flags.c_contiguous
    assert again[1].flags.c_contiguous


def test_an_array_used_twice_is_written_once(tmp_path):
    model = holding({"a": X, "b": [X]})
    again = through_file(model, tmp_path)
    assert again.value_["a"] is again.value_["b"][0]
    assert (tmp_path / "model.lowdim").stat().st_size < 1.8 * X.nbytes + 2000


def test_memory_maps_are_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "raw", np.float64, "w+", shape=(3, 2))
    mapped[:] = X[:3, :2]
    again = through_file(holding(mapped), tmp_path).value_
    assert type(again) is np.ndarray
    np.testing.assert_array_equal(again, X[:3, :2])


def test_scikit_learns_settings_survive(tmp_path):
    model = Toy().fit(X)
    model.feature_names_in_ = np.array(list("abcd"), dtype=object)
    model.set_params(kernel="poly")
    again = through_file(model, tmp_path)
    assert again.feature_names_in_.dtype == object
    assert again.kernel == "poly"
    assert_same(again, model)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in "ab":
        persist.save(Toy().fit(X), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_file_is_open_to_other_programs(tmp_path):
    persist.save(Toy(2).fit(X), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        document = json.loads(archive.read("model.json"))
        assert document["format"] == "lowdim-model"
        assert document["version"] == nodes.VERSION == 3
        assert document["lowdim"] == lowdim.__version__
        assert document["model"]["class"] == "Toy"
        member = document["model"]["state"]["components_"]["member"]
        np.testing.assert_array_equal(np.load(io.BytesIO(archive.read(member))), Toy(2).fit(X).components_)


# What cannot be written -------------------------------------------------------------------------------------


class Secret:
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (holding(Secret()), r"save: Toy\.value_ must be data.*Secret"),
        (Toy(kernel=Custom(np.dot)), r"Toy\.kernel\.f must be data.*which is code"),
        (Toy(kernel=lambda x, y: 0), r"Toy\.kernel must be data.*which is code"),
        (Toy(kernel=2 * Custom(np.dot) + RBF(1.0)), r"Toy\.kernel\.terms\[0\]\.kernel\.f must be data"),
        (Toy(random_state=np.random.RandomState(0)), r"Toy\.random_state.*Pass an int as random_state"),
        (Toy(random_state=np.random.default_rng(0)), r"Toy\.random_state.*Pass an int as random_state"),
        (holding([{"deep": (1, print)}]), r"Toy\.value_\[0\]\.deep\[1\] must be data.*'print'"),
        (holding(np.array([1, "a"], dtype=object)), "dtype object"),
        (holding(np.zeros(2, [("a", "f8")])), "dtype"),
        (holding(np.ma.masked_array([1.0])), "MaskedArray"),
        (holding({1: 2}), r"the keys of Toy\.value_ must be text; got 1"),
        (holding({1, 2}), "builtins.set"),
        (holding(RBF), "which is code"),
    ],
)
def test_what_is_not_data_is_named_before_anything_is_written(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        persist.save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_only_estimators_of_the_library(tmp_path):
    class Lookalike(Toy):
        pass

    Lookalike.__name__ = "Toy"
    for model in (Lookalike(), 3, "pca", RBF(1.0), Toy):
        with pytest.raises(TypeError, match="model must be an estimator of lowdim"):
            persist.save(model, tmp_path / "model")


def test_what_contains_itself_is_refused(tmp_path):
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="may contain itself"):
        persist.save(holding(endless), tmp_path / "model")


# The file appears whole or not at all -----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["write_array", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(where, error, tmp_path, monkeypatch):
    path = tmp_path / "model"
    persist.save(Toy(1).fit(X), path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(np.lib.format if where == "write_array" else os, where, fail)
    with pytest.raises(type(error)):
        persist.save(Toy(2).fit(X), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_an_existing_file_is_replaced_through_its_link(tmp_path):
    path, link = tmp_path / "model", tmp_path / "latest"
    persist.save(Toy(1), path)
    path.chmod(0o600)
    link.symlink_to(path)
    persist.save(Toy(2), link)
    assert link.is_symlink()
    assert persist.load(path).n_components == 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(IsADirectoryError, match="must be a file name"):
        persist.save(Toy(), tmp_path)
    with pytest.raises(FileNotFoundError, match="folder that exists"):
        persist.save(Toy(), tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        persist.load(tmp_path / "nothing")


# What must not be read --------------------------------------------------------------------------------------


def members_of(model, folder):
    """The members of a good file, to be spoilt."""
    persist.save(model, folder / "good")
    with zipfile.ZipFile(folder / "good") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


class Bomb:
    fuse = []

    def __reduce__(self):
        return (self.fuse.append, ("burnt",))


def refused(path, message):
    with pytest.raises(ValueError, match=message) as caught:
        persist.load(path)
    assert path.name in str(caught.value)
    assert Bomb.fuse == []


def spoil(document, **changes):
    """The document with entries of its model replaced."""
    return document | {"model": document["model"] | changes}


@pytest.fixture
def good(tmp_path):
    members = members_of(Toy().fit(X), tmp_path)
    return members, json.loads(members["model.json"])


ENTRY = {"kind": "array", "member": "arrays/0.npy", "dtype": "<f8", "shape": [2, 4]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d | {"format": "pickle"}, "does not say format 'lowdim-model'"),
        (lambda d: d | {"version": 4}, "has format version 4.*Upgrade lowdim"),
        (lambda d: d | {"version": "1"}, "version must be a positive integer"),
        (lambda d: d | {"version": True}, "version must be a positive integer"),
        (lambda d: d | {"extra": 1}, "must have the keys"),
        (lambda d: [d], "does not say format"),
        (lambda d: d | {"model": None}, "it holds no estimator"),
        (lambda d: d | {"model": {"kind": "dict", "items": {}}}, "it holds no estimator"),
        (lambda d: spoil(d, **{"class": "os:system"}), "estimator of the unknown class 'os:system'"),
        (lambda d: spoil(d, **{"class": "__class__"}), "unknown class"),
        (lambda d: spoil(d, **{"class": ["Toy"]}), "unknown class"),
        (lambda d: spoil(d, kind="pickle"), "unknown kind 'pickle'"),
        (lambda d: spoil(d, kind={"a": 1}), "unknown kind"),
        (lambda d: spoil(d, params={"shell": "rm"}), r"Toy has no parameters \['shell'\]"),
        (lambda d: spoil(d, params=[1]), "must be of type dict"),
        (lambda d: spoil(d, state={"transform": 3}), "'transform' is a method of Toy"),
        (lambda d: spoil(d, state={"__class__": 3}), "Toy has no attribute '__class__'"),
        (lambda d: spoil(d, state={"n_components": 3}), "Toy has no attribute 'n_components'"),
        (lambda d: spoil(d, state={"a b": 3}), "Toy has no attribute 'a b'"),
    ],
)
def test_tampered_documents(change, message, good, tmp_path):
    members, document = good
    refused(write(tmp_path / "bad", members | {"model.json": json.dumps(change(document))}), message)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([1, 2], "an entry must be of type dict"),
        ({"kind": "record", "class": "os:system", "fields": {}}, "record of the unknown class 'os:system'"),
        ({"kind": "record", "class": "kernel:np", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "kernel:Kernel", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "kernel:dataclass", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "memory:config", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "extension:Later", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "lowdim._core.kernel_algebra:np", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "lowdim._core.memory:config", "fields": {}}, "unknown class"),
        ({"kind": "record", "class": "kernel:RBF", "fields": {"gamma": -1}}, "gamma must be"),
        ({"kind": "record", "class": "kernel:RBF", "fields": {"sigma": 1}}, "sigma"),
        (
            {"kind": "record", "class": "kernel:Custom", "fields": {"f": "os.system"}},
            "f must be",
        ),
        ({"kind": "record", "class": "kernel:RBF"}, "must have the keys"),
        ({"kind": "float", "text": "1e400"}, "special number"),
        ({"kind": "int", "hex": 3}, "must be of type str"),
        ({"kind": "int", "hex": "zz"}, "invalid literal"),
        ({"kind": "scalar", "type": "object", "value": 1}, "number of the unknown type"),
        ({"kind": "scalar", "type": "int8", "value": 1000}, "1000"),
        ({"kind": "scalar", "type": "float32", "value": "1"}, "float32 must be of type float"),
        ({"kind": "slice", "items": [1, 2, 3, 4]}, "slice"),
        ({"kind": "names", "items": [1]}, "a name must be of type str"),
        (ENTRY | {"member": "arrays/9.npy"}, "'arrays/9.npy' is missing"),
        (ENTRY | {"member": "../../etc/passwd"}, "is missing"),
        (ENTRY | {"member": None}, "a member must be of type str"),
        (ENTRY | {"shape": [4, 2]}, "is not of type .* as declared"),
        (ENTRY | {"shape": [-2, -4]}, "non-negative integers"),
        (ENTRY | {"shape": "24"}, "a shape must be of type list"),
        (ENTRY | {"dtype": "<f4"}, "as declared"),
        (ENTRY | {"dtype": None}, "as declared"),
        (
            {"kind": "sparse", "type": "lil_array", "shape": [1, 1], "parts": {}},
            "sparse array of the unknown type",
        ),
        ({"kind": "sparse", "type": "csr_array", "shape": [1, 1], "parts": {}}, "must have the keys"),
    ],
)
def test_tampered_entries(entry, message, good, tmp_path):
    members, document = good
    document["model"]["state"]["mean_"] = entry
    refused(write(tmp_path / "bad", members | {"model.json": json.dumps(document)}), message)


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("indices", np.array([0, 10**6], np.int32)),
        ("indices", np.array([0, -1], np.int32)),
        ("indices", np.array([0.0, 1.0])),
        ("indptr", np.array([0, 1, 10**6], np.int32)),
        ("indptr", np.array([2, 1, 0], np.int32)),
        ("data", np.ones((2, 2))),
    ],
)
def test_sparse_indices_are_checked_before_compiled_code_sees_them(part, values, tmp_path):
    members = members_of(holding(sparse.csr_array(np.eye(2))), tmp_path)
    document = json.loads(members["model.json"])
    entry = document["model"]["state"]["value_"]["parts"][part]
    entry |= {"dtype": values.dtype.str, "shape": list(values.shape)}
    members[entry["member"]] = npy(values)
    refused(write(tmp_path / "bad", members | {"model.json": json.dumps(document)}), "indices|indptr|index|data")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"format": NaN}',
        b"[" * 100_000,
        b'{"format": "a", "format": "lowdim-model"}',
    ],
)
def test_broken_json(text, good, tmp_path):
    refused(write(tmp_path / "bad", good[0] | {"model.json": text}), "cannot be read as a model")


def test_nothing_in_a_file_runs(good, tmp_path):
    members, document = good
    bomb = np.empty(2, dtype=object)
    bomb[:] = [Bomb(), Bomb()]
    for content in (npy(bomb, allow_pickle=True), pickle.dumps(Bomb())):
        refused(write(tmp_path / "bad", members | {"arrays/0.npy": content}), "not plain data|magic string")
    honest = ENTRY | {"dtype": "|O", "shape": [2]}
    document["model"]["state"]["components_"] = honest
    spoilt = members | {"model.json": json.dumps(document), "arrays/0.npy": npy(bomb, allow_pickle=True)}
    refused(write(tmp_path / "bad", spoilt), "not plain data")
    (tmp_path / "bad").write_bytes(pickle.dumps(Bomb()))
    refused(tmp_path / "bad", "it is not a zip file")


def header_only(shape, body=b""):
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + body


@pytest.mark.parametrize(
    "content",
    [
        header_only((2**40, 4)),
        header_only((2, 4)),
        header_only((2, 4), b"x" * 1000),
        header_only((2**62, 2**62)),
    ],
)
def test_sizes_are_checked_before_memory_is_taken(content, good, tmp_path):
    refused(write(tmp_path / "bad", good[0] | {"arrays/0.npy": content}), "does not have the size of its shape")


def test_other_npy_headers(good, tmp_path):
    second = io.BytesIO()
    np.lib.format.write_array(second, Toy().fit(X).components_, version=(2, 0))
    assert persist.load(write(tmp_path / "model", good[0] | {"arrays/0.npy": second.getvalue()})).n_components == 2
    for content in (b"", b"\x93NUMPY\x09\x00", b"\x93NUMPY\x01\x00\x10\x00{'descr': evil()}"):
        refused(write(tmp_path / "bad", good[0] | {"arrays/0.npy": content}), "cannot be read as a model")


def test_compressed_members_are_refused(good, tmp_path):
    path = write(tmp_path / "bad", good[0] | {"arrays/0.npy": bytes(10**6)}, compression=zipfile.ZIP_DEFLATED)
    refused(path, "is compressed")


def test_more_than_the_memory_limit(tmp_path):
    persist.save(holding(np.zeros(10_000)), tmp_path / "model")
    with (
        memory.config(memory_limit="50kB"),
        pytest.raises(MemoryError, match=r"load: this needs about .*arrays 80.* kB"),
    ):
        persist.load(tmp_path / "model")


def test_the_objects_of_a_document_count_too(tmp_path):
    """A list takes twenty times as much memory as its two brackets in the file."""
    persist.save(holding([[]] * 10_000), tmp_path / "model")
    with (
        memory.config(memory_limit="5MB"),
        pytest.raises(MemoryError, match=r"load: this needs about .*the objects of model\.json"),
    ):
        persist.load(tmp_path / "model")
    assert len(persist.load(tmp_path / "model").value_) == 10_000


def test_missing_and_extra_members(good, tmp_path):
    members, _ = good
    for name in members:
        refused(
            write(tmp_path / "bad", {k: v for k, v in members.items() if k != name}),
            "missing|must have one model.json",
        )
    for name in ("../../evil", "/etc/passwd", "arrays/7.npy", "model.json.bak"):
        refused(write(tmp_path / "bad", members | {name: b"x"}), "members the model does not use")
    write(tmp_path / "bad", members)
    with zipfile.ZipFile(tmp_path / "bad", "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("model.json", members["model.json"])
    refused(tmp_path / "bad", "no member twice")


def test_truncated_files(tmp_path):
    persist.save(Toy().fit(X), tmp_path / "good")
    content = (tmp_path / "good").read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        (tmp_path / "bad").write_bytes(content[:length])
        refused(tmp_path / "bad", "cannot be read as a model")


def test_damaged_bytes_are_noticed_or_harmless(tmp_path):
    model = Toy().fit(X)
    persist.save(model, tmp_path / "good")
    content = bytearray((tmp_path / "good").read_bytes())
    rng, noticed = np.random.default_rng(1), 0
    for position in rng.integers(0, len(content), size=300):
        damaged = content.copy()
        damaged[position] ^= int(rng.integers(1, 256))
        (tmp_path / "bad").write_bytes(damaged)
        try:
            assert_same(persist.load(tmp_path / "bad"), model)
        except ValueError:
            noticed += 1
    assert noticed > 200


def test_files_that_are_something_else(tmp_path):
    for content in (b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)):
        (tmp_path / "bad").write_bytes(content)
        refused(tmp_path / "bad", "cannot be read as a model")


def test_reading_imports_nothing_a_file_names(good, tmp_path):
    members, document = good
    document["model"]["state"]["mean_"] = {"kind": "record", "class": "antigravity:geohash", "fields": {}}
    refused(write(tmp_path / "bad", members | {"model.json": json.dumps(document)}), "unknown class")
    assert "antigravity" not in sys.modules


def test_records_live_where_they_say(good, tmp_path, monkeypatch):
    @dataclass(frozen=True)
    class Alien:
        x: int = 1

    monkeypatch.setattr(algebra, "Alien", Alien, raising=False)  # as if a module had imported it
    members, document = good
    document["model"]["state"]["mean_"] = {
        "kind": "record",
        "class": "kernel:Alien",
        "fields": {},
    }
    refused(write(tmp_path / "bad", members | {"model.json": json.dumps(document)}), "unknown class")
    with pytest.raises(TypeError, match="Alien"):
        persist.save(holding(Alien()), tmp_path / "bad")


def test_older_files_take_new_parameters_at_their_defaults(good, tmp_path):
    members, document = good
    del document["model"]["params"]["kernel"], document["digest"]
    document["version"] = 2
    again = persist.load(write(tmp_path / "old", members | {"model.json": json.dumps(document)}))
    assert again.kernel == "rbf"


def test_every_public_kernel_can_be_saved(tmp_path):
    made = [
        RBF(1.0),
        kernels.Laplace(2.0, "l2"),
        kernels.Sigmoid(0.1),
        kernels.Precomputed(),
        kernels.Cosine(),
    ]
    assert through_file(holding(made), tmp_path).value_ == made
