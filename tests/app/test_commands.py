"""Commands on tables as people have them: describe, impute, inverse, JSON, and a stop in the middle."""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app import cli, commands
from lowdim.app.parsers import parser
from tests._core.runtime.children import hear_ctrl_c

SOURCE = str(Path(lowdim.__file__).parents[1])


def say(capsys, *words):
    code = cli.main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def penguins(tmp_path, monkeypatch, rng):
    """A table with an id, a label, categories, dates, text, codes, missing cells, constants and markup."""
    monkeypatch.chdir(tmp_path)
    n = 60
    species = rng.choice(["Adelie", "Gentoo"], n)
    frame = pl.DataFrame({
        "rowid": [i + (i > 30) for i in range(n)],
        "species": species,
        "<b>island</b>": rng.choice(["Dream", "Biscoe", "<i>T</i>"], n),
        "bill": 40 + 5 * (species == "Gentoo") + rng.normal(size=n),
        "mass": [None if i % 9 == 7 else 4000.5 + 900 * (s == "Gentoo") + i * 17 % 29 for i, s in enumerate(species)],
        "sex": [None if i % 11 == 3 else ["male", "female"][i % 2] for i in range(n)],
        "date": [f"2007-11-{i % 28 + 1:02d}" for i in range(n)],
        "study": ["PAL"] * n,
        "comment": [f"{'a long remark ' * 6}{i}" for i in range(n)],
    })  # fmt: skip
    frame.write_csv("penguins.csv")
    return frame


def test_any_table_without_an_option(penguins, capsys):
    code, out, err = say(capsys, "compare", "penguins.csv")
    assert code == 0
    assert re.search(r"^  sex +category +map ", err, re.M)
    assert re.search(r"^  date +date +shown .*--as number:date", err, re.M)
    assert "methods: numbers and categories: famd" in out
    page = Path("lowdim-report-penguins/report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;island&lt;/b&gt;" in page
    assert "<b>island</b>" not in page
    assert "<i>T</i>" not in page.split('id="data"')[0]
    found = json.loads(Path("lowdim-report-penguins/scores.json").read_text())
    assert not [row for row in found["methods"] if row["error"]]
    assert found["reference"] == "gower"
    kinds = {column["name"]: column["kind"] for column in found["column_kinds"]}
    assert (kinds["rowid"], kinds["study"], kinds["comment"]) == ("id", "constant", "text")


def test_in_a_pipe_each_step_is_one_plain_line(penguins, capsys):
    code, out, err = say(capsys, "compare", "penguins.csv", "--methods", "famd,classical-mds", "--out", "o")
    assert code == 0
    steps = re.findall(r"^([^ ].*) \((\d+) of (\d+)\)$", err, re.M)
    assert [name for name, _, _ in steps[:3]] == ["reference distances", "famd", "classical-mds"]
    assert [name for name, _, _ in steps[-3:]] == ["scores", "maps of noise", "groups and dimension"]
    assert [int(number) for _, number, _ in steps] == list(range(1, len(steps) + 1))
    assert len({name for name, _, _ in steps}) == len(steps)
    assert not re.search("[\x1b\r]", out + err)


def test_options_change_what_is_done(penguins, capsys):
    words = ["compare", "penguins.csv", "--methods", "pca", "--out", "o", "--json"]
    options = ["--as", "number:date", "--drop", "sex,<b>island</b>", "--label", "sex"]
    code, _, _ = say(capsys, *words, *options)
    assert code == 0
    found = json.loads(Path("o/scores.json").read_text())
    assert found["column_names"] == ["species", "bill", "mass", "date"]
    assert found["label"] == "sex"


def test_describe(penguins, capsys):
    code, out, _ = say(capsys, "describe", "penguins.csv")
    assert code == 0
    assert "60 rows; 4 of 9 columns would be in the map (2 of numbers, 2 of categories)" in out
    assert re.search(r"missing (together )?in \d+ rows: ", out)
    found = json.loads(say(capsys, "describe", "penguins.csv", "--json")[1])
    assert found["rows"] == 60
    assert found["missing_cells"] == penguins["mass"].null_count() + penguins["sex"].null_count()
    assert found["duplicate_rows"] == 0
    pl.concat([penguins, penguins.head(5)]).drop("rowid", "comment").write_csv("twice.csv")
    assert "5 rows are equal to an earlier one" in say(capsys, "describe", "twice.csv")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,note\nann,long story\nbob,\ncec,another\ndan,x\n", "4 rows; none of 2 columns can be in a map as it is"),
        ("a,b\n", "no rows, 2 columns"),
        ("a,b\n1,x\n", "1 row; none of 2 columns can be in a map"),
        ("a\n\n", "no rows, 1 columns"),
        (",x,y,z\nx,0,1,2\ny,1,0,3\nz,2,3,0\n", "distances between 3 items: 1 to 3"),
        (",x,y,z\nx,0,1,\ny,1,0,3\nz,,3,0\n", "1 of 3 pairs have no distance"),
        (",x,y,z\nx,1,.5,.2\ny,.5,1,.1\nz,.2,.1,1\n", "distances between points of a Euclidean space"),
    ],
)
def test_describe_answers_for_every_table(tmp_path, monkeypatch, capsys, text, said):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(text)
    code, out, err = say(capsys, "describe", "t.csv")
    assert code == 0, err
    assert said in out
    code, out, _ = say(capsys, "describe", "t.csv", "--json")
    assert code == 0
    assert json.loads(out)["source"] == "t"


def test_what_a_file_says_of_its_columns_goes_with_them(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"R_{k},{rng.integers(20, 70)},{rng.normal():.2f}\n" for k in range(12))
    Path("survey.csv").write_text(f"ip,ResponseId,q1,q2\nIP,Response,How old are you?,<b>Score</b>\n{_with_ip(rows)}")
    code, out, _ = say(capsys, "describe", "survey.csv")
    assert code == 0
    assert re.search(r"ResponseId +id +name +'Response': ", out)  # of two ids the one that is called so
    assert "q1          number  map    'How old are you?': whole numbers" in out
    _, out, _ = say(capsys, "describe", "survey.csv", "--json")
    about = {column["name"]: column.get("about") for column in json.loads(out)["columns"]}
    assert about == {"ip": "IP", "ResponseId": "Response", "q1": "How old are you?", "q2": "<b>Score</b>"}
    code, _, _ = say(capsys, "compare", "survey.csv", "--methods", "pca", "--no-verdict", "--out", "r")
    assert code == 0
    assert "“How old are you?”: whole numbers" in Path("r/report.html").read_text(encoding="utf-8")
    assert "“&lt;b&gt;Score&lt;/b&gt;”" in Path("r/report.html").read_text(encoding="utf-8")


def _with_ip(rows):
    return "".join(f"10.0.0.{k},{row}\n" for k, row in enumerate(rows.splitlines()))


def test_counts_have_no_different_units(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    counts = rng.poisson(np.geomspace(0.5, 500, 30), (20, 30))
    lines = [f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    Path("counts.csv").write_text("\n".join(["site," + ",".join(f"k{j}" for j in range(30)), *lines]) + "\n")
    _, out, _ = say(capsys, "describe", "counts.csv")
    assert "the cells seem to be counts: the method ca compares rows by shares of their counts" in out
    assert "units" not in out
    _, out, err = say(capsys, "compare", "counts.csv", "--methods", "ca,pca", "--no-verdict", "--out", "r")
    assert "the cells seem to be counts, and columns with the largest ones would decide all distances" in out + err
    assert "different units" not in out + err
    assert "codes of categories" not in out + err  # counts of 0 to 3 are counts as the others are
    code, _, err = say(capsys, "fit", "counts.csv", "--method", "ca", "--out", "m.lowdim")
    assert code == 0
    assert "standard deviation" not in err  # which ca does not see
    names = ",".join(["kind", *(f"s{i}" for i in range(20))])
    turned = "".join(f"k{j}," + ",".join(map(str, counts[:, j])) + "\n" for j in range(30))
    Path("turned.csv").write_text(f"{names}\n{turned}")
    code, _, err = say(capsys, "transform", "m.lowdim", "turned.csv", "--out", "z.csv")
    assert (code, "which is a row here, in 'kind': --transpose exchanges" in err) == (2, True)
    assert say(capsys, "transform", "m.lowdim", "turned.csv", "--transpose", "--out", "z.csv")[0] == 0


def test_score_takes_missing_cells_and_distances(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    holes = X.copy()
    holes[3, 1] = np.nan
    pl.DataFrame(holes, schema=["a", "b", "c"]).fill_nan(None).write_csv("t.csv")
    pl.DataFrame(X[:, :2], schema=["u", "v"]).write_csv("z.csv")
    code, out, err = say(capsys, "score", "t.csv", "z.csv")
    assert code == 0, err
    assert "expected distances between the rows of the data under a Gaussian model" in out
    kinds = pl.Series("kind", ["x", "y", "z"] * 10)
    pl.read_csv("t.csv").with_columns(kinds).write_csv("k.csv")
    code, out, err = say(capsys, "score", "k.csv", "z.csv", "--as", "category:kind")
    assert (code, "Gower distances" in out, "3.3% of the rows have missing cells" in " ".join(out.split())) == (
        0,
        True,
        True,
    )
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.save("d.npy", D)
    found = json.loads(say(capsys, "score", "d.npy", "z.csv", "--json")[1])
    pl.DataFrame(X, schema=["a", "b", "c"]).write_csv("full.csv")
    rows = json.loads(say(capsys, "score", "full.csv", "z.csv", "--no-scale", "--json")[1])
    assert found["auc"] == pytest.approx(rows["auc"])
    assert found["reference"] == "given"


def test_incomplete_distances_have_a_way_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(12, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    D[2, 5] = D[5, 2] = D[2, 7] = D[7, 2] = np.nan
    np.save("d.npy", D)
    code, _, err = say(capsys, "compare", "d.npy", "--methods", "mds")
    assert code == 2
    assert "2 pairs of items have no distance (first: '3' and '6')" in err
    assert "--rows complete uses 11 of 12 items" in err
    code, _, err = say(capsys, "compare", "d.npy", "--methods", "classical-mds", "--rows", "complete")
    assert code == 0
    assert "1 items with unknown distances left out (--rows complete): 3" in err


def test_ordered_categories_go_through_a_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size = [["small", "medium", "large"][i] for i in rng.integers(3, size=30)]
    frame = pl.DataFrame({"size": size, "mood": ["a", "b", "c"] * 10, "u": rng.normal(size=30)})
    frame.write_csv("t.csv")
    words = ("--method", "isomap", "--out", "m", "--as", "ordinal:mood=c,a,b")
    code, _, err = say(capsys, "fit", "t.csv", *words)
    assert code == 0, err
    assert "ordinal  map  3 values in an order: 'small' < 'medium' < 'large'" in err
    assert "ordinal  map  as asked, 'c' < 'a' < 'b'" in err
    code, _, err = say(capsys, "transform", "m", "t.csv", "--out", "z.csv")
    assert code == 0, err
    first, again = pl.read_csv("m-embedding.csv"), pl.read_csv("z.csv")
    np.testing.assert_allclose(again.to_numpy(), first.to_numpy(), atol=1e-6)
    frame.with_columns(pl.Series("size", ["huge"] * 30)).write_csv("new.csv")
    code, _, err = say(capsys, "transform", "m", "new.csv", "--out", "z.csv")
    assert code == 2
    assert "one of its ordered values (small, medium, large); got 'huge'" in err
    code, _, err = say(capsys, "describe", "t.csv", "--as", "ordinal:mood")
    assert "--as 'ordinal:mood=LOW,...,HIGH'" in err
    assert "kinds=" not in err


def test_impute(penguins, capsys):
    code, out, _ = say(capsys, "impute", "penguins.csv", "--out", "full.csv", "--draws", "5")
    assert code == 0
    full, cells = pl.read_csv("full.csv"), pl.read_csv("full-cells.csv")
    assert full.columns == penguins.columns
    assert full.select("mass", "sex").null_count().sum_horizontal().item() == 0
    known = penguins["mass"].is_not_null()
    np.testing.assert_allclose(full["mass"].filter(known), penguins["mass"].filter(known))
    for name in penguins.columns:
        kept = penguins[name].is_not_null()
        assert full[name].filter(kept).to_list() == penguins[name].filter(kept).to_list()
    assert len(cells) == penguins["mass"].null_count() + penguins["sex"].null_count()
    assert f"{len(cells)} cells filled" in out
    masses = cells.filter(pl.col("column") == "mass")
    assert (masses["standard_deviation"] > 0).all()
    assert cells.filter(pl.col("column") == "sex")["agreement"].is_between(0, 1).all()


def test_impute_says_that_a_label_keeps_its_holes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    t = np.sort(np.random.default_rng(0).standard_normal(30))
    b, word = (t**3).tolist(), ["low" if v < 0 else "high" for v in t]
    b[3] = word[28] = None
    pl.DataFrame({"a": t, "b": b, "c": np.sin(t), "word": word}).write_csv("labelled.csv")
    code, _, err = say(capsys, "impute", "labelled.csv", "--out", "full.csv", "--method", "neighbors", "--draws", "3")
    assert code == 0
    assert "1 missing cells of word" in err
    assert "--as category:word fills them too" in err
    options = ("--as", "category:word", "--method", "neighbors", "--draws", "3")
    assert say(capsys, "impute", "labelled.csv", "--out", "full.csv", *options)[0] == 0
    assert pl.read_csv("full.csv")["word"][28] == "high"


def test_fit_transform_and_inverse_of_a_mixed_table(penguins, capsys):
    assert say(capsys, "fit", "penguins.csv", "--method", "famd", "--out", "m.lowdim")[0] == 0
    penguins.head(3).drop("species").write_csv("new.csv")
    code, _, err = say(capsys, "transform", "m.lowdim", "new.csv", "--out", "z.csv")
    assert code == 0, err
    first = pl.read_csv("m-embedding.csv").head(3).select("famd0", "famd1").to_numpy()
    np.testing.assert_allclose(pl.read_csv("z.csv").select("famd0", "famd1").to_numpy(), first, atol=1e-8)
    assert say(capsys, "inverse", "m.lowdim", "z.csv", "--embedding-columns", "famd0,famd1", "--out", "r.csv")[0] == 0
    rows = pl.read_csv("r.csv")
    assert rows.columns == ["<b>island</b>", "bill", "mass", "sex"]
    assert set(rows["sex"]) <= {"male", "female"}


@pytest.mark.parametrize("method", ["famd", "umap"])
def test_transform_of_other_values_and_columns_than_the_model_has(penguins, capsys, method):
    assert say(capsys, "fit", "penguins.csv", "--method", method, "--out", "m.lowdim")[0] == 0
    penguins.head(3).with_columns(sex=pl.lit("unknown sex")).write_csv("new.csv")
    words = ["transform", "m.lowdim", "new.csv", "--out", "z.csv"]
    code, _, err = say(capsys, *words)
    assert code == 0
    assert err.count("column 'sex' has 'unknown sex' (3 cells): not there at fit") == 1
    assert len(pl.read_csv("z.csv")) == 3
    os.remove("z.csv")
    for option, message in (
        (["--drop", "sex,mass"], "--drop leaves out columns 'mass' and 'sex', which the model was fitted with"),
        (["--columns", "mass,bill,sex"], "--columns leaves out column '<b>island</b>', which the model was fitted"),
        (["--as", "category:mass"], "--as category:mass is not what the model was fitted with: 'mass' was a number"),
    ):
        code, _, err = say(capsys, *words, *option)
        assert (code, os.path.exists("z.csv")) == (2, False)
        assert message in err
    assert say(capsys, *words, "--drop", "comment,species")[0] == 0


def test_fit_says_how_good_the_fit_is(penguins, capsys):
    code, out, _ = say(capsys, "fit", "penguins.csv", "--method", "mds", "--out", "m.lowdim")
    assert code == 0
    stress = lowdim.load("m.lowdim").stress1_
    assert f"stress1: {stress:.4g}\n" in out
    assert "converged: yes\n" in out


@pytest.mark.parametrize("method", ["pca", "kernel-pca", "lda", "isomap"])
def test_any_method_is_fitted_to_a_mixed_table_as_compare_does(penguins, capsys, method):
    words = ["--as", "number:date", "--label", "species"]
    code, _, err = say(capsys, "fit", "penguins.csv", "--method", method, "--out", "m", *words)
    assert code == 0, err
    coded = method != "isomap"
    assert ("each category is a column of ones and zeros" in err) is coded
    assert ("distances are Gower's" in err) is not coded
    compared = lowdim.compare(penguins, "species", [method], kinds={"date": "number"}, verdict=False, n_jobs=1)
    first = (
        pl.read_csv("m-embedding.csv").select(pl.col(pl.Float64)).to_numpy()[:, -compared.embeddings[method].shape[1] :]
    )
    assert np.allclose(first, compared.embeddings[method], atol=1e-6)
    rows = [20, 4, 41]
    shuffled = penguins[rows].select("comment", "date", "sex", "study", "mass", "<b>island</b>", "bill")
    shuffled.with_columns(weather=pl.lit("calm")).write_csv("new.csv")  # in another order, without label, with another
    code, _, err = say(capsys, "transform", "m", "new.csv", "--out", "z.csv")
    assert code == 0, err
    again = pl.read_csv("z.csv").select(pl.col(pl.Float64)).to_numpy()[:, -first.shape[1] :]
    assert np.allclose(again, first[rows], atol=1e-6)


def test_units_are_those_of_the_fit_for_new_rows(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"a": 1000 * rng.normal(size=30), "b": rng.normal(size=30), "c": rng.normal(size=30)})
    frame.write_csv("t.csv")
    frame[:3].write_csv("new.csv")
    for option, largest in (("--no-scale", 0.99), ("--scale", 0.7)):
        code, out, _ = say(capsys, "fit", "t.csv", "--method", "pca", "--out", "m", option, "--json")
        assert code == 0
        share = json.loads(out)["diagnostics"]["explained_variance_ratio_"][0]
        assert (share > largest) is (option == "--no-scale")
        assert say(capsys, "transform", "m", "new.csv", "--out", "z.csv")[0] == 0
        first, again = (pl.read_csv(name).select("pca0", "pca1").to_numpy() for name in ("m-embedding.csv", "z.csv"))
        assert np.allclose(first[:3], again)
    code, _, err = say(capsys, "fit", "t.csv", "--method", "pca", "--out", "m")
    assert "columns have different units" in err  # as compare does
    assert say(capsys, "inverse", "m", "z.csv", "--out", "back.csv")[0] == 0
    assert pl.read_csv("back.csv")["a"].abs().max() > 100


def test_mca_of_numbers_places_the_same_rows_again(penguins, capsys):
    penguins.select("sex", "species", pl.col("rowid") % 4).write_csv("answers.csv")
    words = ["fit", "answers.csv", "--method", "mca", "--out", "m", "--as", "category:species", "--as", "number:rowid"]
    assert say(capsys, *words)[0] == 0
    code, _, err = say(capsys, "transform", "m", "answers.csv", "--out", "z.csv")
    assert code == 0, err
    first, again = (pl.read_csv(name).select("mca0", "mca1").to_numpy() for name in ("m-embedding.csv", "z.csv"))
    assert np.nanmax(np.abs(first - again)) < 1e-6


def test_cautions_are_there_when_a_map_is_used_again(penguins, capsys):
    words = ["compare", "penguins.csv", "--methods", "tsne", "--out", "o", "--no-verdict"]
    first, second = say(capsys, *words)[1], say(capsys, *words)[1]
    assert "tsne: a t-SNE map does not show" in first
    assert "tsne: a t-SNE map does not show" in second


def test_another_distance_matrix_gets_another_folder(penguins, capsys):
    for scale in (1, 2):
        text = "x,y,z,w\n" + "\n".join(",".join(str(abs(i - j) ** scale) for j in range(4)) for i in range(4))
        Path("d.csv").write_text(text + "\n")
        assert say(capsys, "compare", "d.csv", "--methods", "classical-mds")[0] == 0
    assert Path("lowdim-report-d/report.html").exists()
    assert Path("lowdim-report-d-2/report.html").exists()


def test_one_new_row_is_enough(penguins, capsys):
    assert say(capsys, "fit", "penguins.csv", "--method", "umap", "--out", "m.lowdim")[0] == 0
    penguins.head(1).write_csv("one.csv")
    code, _, err = say(capsys, "transform", "m.lowdim", "one.csv", "--out", "z.csv")
    assert code == 0, err
    assert len(pl.read_csv("z.csv")) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "penguins.csv", "--methods", "famd", "--out", "o"],
        ["describe", "penguins.csv"],
        ["impute", "penguins.csv", "--out", "full.csv", "--draws", "2"],
        ["fit", "penguins.csv", "--method", "famd", "--out", "m"],
        ["datasets"],
        ["datasets", "helix", "--out", "h.csv"],
    ],
)
def test_json_everywhere(penguins, capsys, words):
    code, out, _ = say(capsys, *words, "--json")
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kompare", "penguins.csv"], "Did you mean 'compare'?"),
        (["compare", "penguins.csv", "--methds", "pca"], "Did you mean '--methods'?"),
        (["compare", "penguins.csv", "--methods", "lda,pca", "--no-label"], "See lowdim"),
    ],
)
def test_typos_get_a_suggestion(penguins, capsys, words, message):
    code, _, err = say(capsys, *words)
    assert code == 2
    assert message in err
    assert os.listdir() == ["penguins.csv"]


def test_errors_of_methods_are_in_words_of_the_command_line(penguins, capsys):
    _, out, _ = say(capsys, "compare", "penguins.csv", "--methods", "lda,truncated-svd,pca", "--columns", "bill,mass")
    assert "np." not in out
    assert "X[" not in out
    assert "--rows complete" in out


def test_help_lists_the_methods_in_groups(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["compare", "--help"])
    text = capsys.readouterr().out
    assert "who is near whom:" in text
    assert all(name in text for name in ("laplacian-eigenmaps", "mutual-information", "opentsne", "inverse-nlpca"))


BARE = """
import contextlib, io, json, sys
LOST = ("anywidget", "jinja2", "markupsafe", "matplotlib", "pandas", "PIL", "polars", "python_calamine", "rich")
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in LOST:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from lowdim.app.cli import main
said = {}
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(words.split())
    said[words] = (code, out.getvalue()[:200], err.getvalue())
print(json.dumps(said))
"""
TABLE_COMMANDS = (
    "compare t.csv", "compare swiss-roll", "view lowdim-report-t", "describe t.csv", "impute t.csv --out c.csv",
    "fit t.csv --method pca --out m", "transform m t.csv --out z.csv", "inverse m z.csv --out r.csv",
    "score t.csv z.csv", "datasets", "datasets helix --out h.csv", "reproduce", "reproduce conic", "datasets --json",
)  # fmt: skip


def bare(code, *words):
    """Run code as after `pip install lowdim`, without any extra."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment)


def test_every_command_without_the_libraries_of_the_command_line(penguins):
    helped = ("", "--help", "--version", "compare --help", "fit --help", "comprae t.csv")
    said = json.loads(bare(BARE, json.dumps([*TABLE_COMMANDS, *helped])).stdout)
    known = {name for name in commands._HOMES if any(words.split()[0] == name for words in TABLE_COMMANDS)}
    assert known == set(commands._HOMES)
    for words in TABLE_COMMANDS:
        code, out, err = said[words]
        assert (code, out) == (2, "")
        assert re.fullmatch(
            r"lowdim: the command line needs (polars|rich); install it with: pip install 'lowdim\[app\]'\n", err
        )
    for words in helped[:-1]:
        code, out, err = said[words]
        assert (code, err) == (0, "")
        assert out.startswith(("usage: lowdim", "lowdim "))
    assert "Did you mean 'compare'?" in said["comprae t.csv"][2]


BARE_PYTHON = (
    BARE.split("from lowdim")[0]
    + """
import numpy as np
import lowdim
X = np.random.default_rng(0).normal(size=(40, 3))
made = lowdim.compare(X, methods=["pca"], n_jobs=1)
lowdim.compare({"a": X[:, 0], "b": X[:, 1], "c": list("xyyx") * 10, "d": list("uvuu") * 10}, methods=["famd"], n_jobs=1)
print(made.verdict, made, made.table, made.to_dict())
for write in (made.report, lambda: lowdim.plot.embedding(X[:, :2])):
    try:
        write()
    except ImportError as error:
        print(error)
"""
)


def test_python_without_the_libraries_of_the_command_line():
    done = bare(BARE_PYTHON)
    assert not done.stderr
    assert done.stdout.count("install it with: pip install 'lowdim[app]'") == 2


KILLED = [sys.executable, "-m", "lowdim.app", "compare", "penguins.csv", "--out", "o", "--seed", "3"]


@pytest.mark.parametrize("moment", [pytest.param(k, marks=[pytest.mark.deep] if k else []) for k in range(10)])
def test_a_run_that_is_killed_loses_nothing(penguins, capsys, moment):
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    say(capsys, "compare", "penguins.csv", "--methods", "famd", "--out", "o")
    before = {name: Path("o", name).read_bytes() for name in ("report.html", "scores.json", "embeddings.parquet")}
    child = subprocess.Popen(KILLED, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    with child:
        wait = np.random.default_rng(moment).uniform(0, 3)
        lines = iter(child.stderr.readline, "")
        next((line for line in lines if line.startswith("famd")), None)
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.wait(240)
    after = {name: Path("o", name).read_bytes() for name in before}
    assert after == before or json.loads(after["scores.json"])["seed"] == 3  # the old report, or the new one, whole
    finished = (
        path for path in Path("o/maps").glob("[!.]*.npy") if path.with_suffix(".json").exists()
    )  # which says so
    kept = {path.name: path.stat().st_mtime_ns for path in finished}
    code, _, _ = say(capsys, "compare", "penguins.csv", "--out", "o", "--seed", "3")
    assert code == 0
    assert json.loads(Path("o/scores.json").read_text())["seed"] == 3
    assert {path.name: path.stat().st_mtime_ns for path in Path("o/maps").glob("*.npy") if path.name in kept} == kept
    assert not [name for name in os.listdir("o") if name.startswith(".lowdim-")]


@pytest.mark.deep
@pytest.mark.parametrize("moment", range(10))
def test_ctrl_c_at_any_moment_is_one_line_and_leaves_whole_files(penguins, moment):
    """From the imports to the writing of the page: a code and a line that say so, and no part of a file."""
    child = subprocess.Popen(
        KILLED, env={**os.environ, "PYTHONPATH": SOURCE}, preexec_fn=hear_ctrl_c, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with child:
        time.sleep(0.3 + np.random.default_rng(moment).uniform(0, 4))
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=240)[1]
    assert child.returncode in (0, 130)
    assert "Traceback" not in err
    assert (child.returncode == 0) == Path("o/report.html").exists() or "stopped" in err
    if Path("o").exists():
        left = [path.name for path in Path("o").rglob("*")]
        assert left
        assert not [name for name in left if name.startswith(".lowdim-")]
        if "report.html" in left:
            assert Path("o/report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
            json.loads(Path("o/scores.json").read_text())


@pytest.mark.deep
def test_two_runs_into_one_folder_lose_nothing(penguins):
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    words = [sys.executable, "-m", "lowdim.app", "compare", "penguins.csv", "--methods", "famd", "--out", "o"]
    runs = [
        subprocess.Popen([*words, "--seed", seed], env=environment, stdout=subprocess.PIPE, text=True) for seed in "123"
    ]
    said = [run.communicate(timeout=240)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    found = {
        Path(folder): json.loads((Path(folder) / "scores.json").read_text())["seed"] for folder in ("o", "o-2", "o-3")
    }
    assert sorted(found.values()) == [1, 2, 3]
    for text, seed in zip(said, (1, 2, 3), strict=True):
        folder = next(folder for folder, other in found.items() if other == seed)
        assert f"report: {(folder / 'report.html').resolve()}" in text


def test_ctrl_c_writes_the_report_of_what_is_finished(penguins, capsys, monkeypatch):
    def stop(self, X, y=None):
        raise KeyboardInterrupt

    unstopped = lowdim.Isomap.fit_transform
    monkeypatch.setattr(lowdim.Isomap, "fit_transform", stop)
    code, out, err = say(capsys, "compare", "penguins.csv", "--methods", "famd,isomap,tsne", "--out", "o")
    assert code == 130
    assert "stopped: without isomap, tsne. The same command goes on where it was" in err
    assert "famd" in out
    assert Path("o/report.html").exists()
    monkeypatch.setattr(lowdim.Isomap, "fit_transform", unstopped)
    evidence = importlib.import_module("lowdim.study.verdict.evidence")
    with monkeypatch.context() as patch:
        patch.setattr(evidence, "rank_all", lambda *arguments, **options: stop(None, None))
        code, out, err = say(capsys, "compare", "penguins.csv", "--methods", "famd,isomap,tsne", "--out", "o")
    assert code == 130
    assert "stopped: without the verdict. The same command goes on" in err
    assert "isomap" in Path("o/report.html").read_text(encoding="utf-8")
    code, out, err = say(capsys, "compare", "penguins.csv", "--methods", "famd,isomap,tsne", "--out", "o")
    assert code == 0
    assert "failed" not in out
