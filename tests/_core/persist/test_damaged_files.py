"""Files that are whole and hold no model: changed consistently, over every estimator. What loads also transforms."""

import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.persist.usable import digest_of
from tests import odd_inputs as odd
from tests.estimators import CASES, VARIANTS, Case, case_id

TEXT = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["c", "x"], ["b", "x"], ["c", "y"]], dtype=object)
OTHERS = [Case(lowdim.MCA(n_components=2)), Case(lowdim.CA(n_components=2))]
TABLES = {"MCA": TEXT, "CA": np.arange(1.0, 25.0).reshape(6, 4) ** 1.5 % 17}


def rows_for(case):
    return TABLES.get(case.name, np.vstack([odd.plain(), odd.plain()[::-1] * 1.1 + 0.3]))


_FILES = {}


def parts_of(case):
    """The document and the arrays of a good file, made once."""
    if case_id(case) not in _FILES:
        _FILES[case_id(case)] = _good_file(case)
    return _FILES[case_id(case)]


def _good_file(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.fit(clone(case.estimator), rows_for(case))
    stream = io.BytesIO()
    lowdim._core.persist.write_zip(stream, *lowdim._core.persist.content_of(model))
    with zipfile.ZipFile(stream) as archive:
        document = json.loads(archive.read("model.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(name))) for name in archive.namelist() if name != "model.json"}
    return json.dumps(document), arrays


def write(path, document, arrays, *, sealed):
    if sealed:
        document["digest"] = digest_of(document["model"], arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(document))
        for name, array in arrays.items():
            with archive.open(name, "w") as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)
    return path


# ---- changes ------------------------------------------------------------------------------------------------


def nodes_of(document, kind):
    """All entries of a kind, each with the table it is in and its key."""

    def walk(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict) and value.get("kind") == kind:
                yield node, key
            if isinstance(value, (dict, list)):
                yield from walk(value)

    return list(walk(document["model"]))


def _declare(document, arrays):
    """Shapes and types in the document follow the arrays; arrays that nobody uses are left out."""
    used = set()
    for table, key in nodes_of(document, "array"):
        entry = table[key]
        array = arrays[entry["member"]]
        entry |= {"dtype": array.dtype.str, "shape": list(array.shape)}
        used.add(entry["member"])
    for name in set(arrays) - used:
        del arrays[name]


def drop(rng, document, arrays):
    places = [(document["model"]["state"], name) for name in document["model"]["state"]]
    places += [
        (node["fields"], name) for t, k in nodes_of(document, "record") for node in [t[k]] for name in node["fields"]
    ]
    table, key = places[rng.integers(len(places))]
    del table[key]


def reshape(rng, document, arrays):
    name = sorted(arrays)[rng.integers(len(arrays))]
    array, way = arrays[name], rng.integers(5)
    arrays[name] = (
        lambda: array[:-1] if array.ndim else array[None],
        lambda: array[..., :-1] if array.ndim else array[None],
        lambda: array.ravel(),
        lambda: array.T.copy() if array.ndim == 2 else array[None],
        lambda: np.concatenate([array, array]) if array.ndim else array[None],
    )[way]()


def retype(rng, document, arrays):
    name = sorted(arrays)[rng.integers(len(arrays))]
    kind = ("<f4", "<i4", "|b1", "<c16", "<U8", "|i1", "<f2")[rng.integers(7)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        arrays[name] = arrays[name].astype(kind)


def swap(rng, document, arrays):
    names = sorted(arrays)
    a, b = names[rng.integers(len(names))], names[rng.integers(len(names))]
    arrays[a], arrays[b] = arrays[b], arrays[a]


def spoil(rng, document, arrays):
    names = [name for name in sorted(arrays) if arrays[name].size]
    name = names[rng.integers(len(names))]
    array = arrays[name].copy()
    bad = [np.nan, np.inf, -1e300] if array.dtype.kind == "f" else [-1, 2**30]
    if array.dtype.kind in "fi":
        array.flat[rng.integers(array.size)] = bad[rng.integers(len(bad))]
    arrays[name] = array


def number(rng, document, arrays):
    state = document["model"]["state" if rng.random() < 0.7 else "params"]
    names = sorted(name for name, value in state.items() if not isinstance(value, dict))
    if names:
        state[names[rng.integers(len(names))]] = (None, -3, 0.5, "text", 10**6, True)[rng.integers(6)]


def anywhere(rng, document, arrays):
    """A number, a name or a shape in any record."""

    def leaves(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, (dict, list)):
                yield from leaves(value)
            elif key not in ("kind", "member", "dtype"):
                yield node, key

    found = list(leaves(document["model"]))
    table, key = found[rng.integers(len(found))]
    table[key] = (None, -1, 0, 1, 3, 1e308, 10**30, True, "x", [], {}, 0.5)[rng.integers(12)]


CHANGES = (drop, reshape, retype, swap, spoil, number, anywhere)


def changed(case, rng, change):
    text, arrays = parts_of(case)
    document, arrays = json.loads(text), dict(arrays)
    change(rng, document, arrays)
    _declare(document, arrays)
    return document, arrays


# ---- what must hold -----------------------------------------------------------------------------------------


def judged(case, path):
    """ "" where the file is refused, or loads, transforms and brings rows back; what is wrong otherwise."""
    try:
        model = lowdim.load(path)
    except lowdim.ModelFileError:
        return ""
    except Exception as error:  # noqa: BLE001 (anything else is what is looked for)
        return f"load raised {type(error).__name__}: {error}"
    rows = rows_for(case)
    said = odd.outcome(lambda: model.transform(rows), (case.name,))
    if not said and hasattr(model, "inverse_transform"):
        said = odd.outcome(lambda: model.inverse_transform(model.transform(rows[:5])), (case.name,))
    return "" if said.startswith("warned") else said  # numbers far out of range may overflow on the way


def sweep(case, path, seed, count):
    rng, wrong = np.random.default_rng(seed), []
    for i in range(count):
        change = CHANGES[i % len(CHANGES)]
        document, arrays = changed(case, rng, change)
        if said := judged(case, write(path, document, arrays, sealed=True)):
            wrong.append(f"{change.__name__} {i}: {said}")
    return wrong


@pytest.mark.parametrize("case", CASES + OTHERS, ids=case_id)
def test_consistent_changes_are_refused_or_harmless(case, tmp_path):
    assert sweep(case, tmp_path / "m", 0, 14) == []


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", CASES + VARIANTS + OTHERS, ids=case_id)
def test_thousands_of_consistent_changes(case, tmp_path):
    assert sweep(case, tmp_path / "m", 1, 60) == []


@pytest.mark.parametrize("case", CASES + OTHERS, ids=case_id)
def test_every_change_after_writing_is_seen(case, tmp_path):
    """Arrays exchanged, a digit changed: the digest knows, also where the model would work."""
    rng = np.random.default_rng(2)
    text, arrays = parts_of(case)
    assert lowdim.load(write(tmp_path / "good", json.loads(text), dict(arrays), sealed=False)) is not None
    for change in CHANGES:
        document, spoilt = changed(case, rng, change)
        same = document == json.loads(text) and all(
            np.array_equal(spoilt[k], v, equal_nan=v.dtype.kind == "f") for k, v in arrays.items()
        )
        if not same:
            with pytest.raises(lowdim.ModelFileError, match="cannot be read as a model"):
                lowdim.load(write(tmp_path / "bad", document, spoilt, sealed=False))


@pytest.mark.parametrize("case", CASES + OTHERS, ids=case_id)
def test_a_part_that_is_left_out_is_missed(case, tmp_path):
    """Every array that `transform` reads: without it the file is refused."""
    text, arrays = parts_of(case)
    needed = [n for n in json.loads(text)["model"]["state"] if n in ("components_", "mean_", "_rows", "_extension")]
    for name in needed:
        document, rest = json.loads(text), dict(arrays)
        del document["model"]["state"][name]
        _declare(document, rest)
        if said := judged(case, write(tmp_path / "m", document, rest, sealed=True)):
            pytest.fail(f"without {name}: {said}")
