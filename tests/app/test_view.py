"""`lowdim view` as a user runs it: a study or a table in, an address out, and an end by Ctrl-C that leaves nothing."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowdim
from lowdim.app import cli
from lowdim.app.commands import compare
from lowdim.app.serving.scatter_files import TILES, read_scatter, tiles_of_study
from lowdim.report.tiles import Atlas
from tests._core.runtime.children import hear_ctrl_c
from tests.report.tiles import decoded

SOURCE = str(Path(lowdim.__file__).parents[1])


@contextmanager
def viewing(*words, cwd):
    """The command in a process of its own; its address."""
    temporary = Path(cwd) / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": SOURCE}
    command = [sys.executable, "-m", "lowdim.app", "view", *words, "--no-open", "--json"]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear_ctrl_c,
    )  # fmt: skip
    try:
        said = ""
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        yield process, json.loads(said)
    finally:
        process.kill()
        process.communicate()


def get(address, name=""):
    with urllib.request.urlopen(address + name, timeout=60) as answer:
        return answer.read()


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({
        "x": rng.normal(size=300), "y": rng.normal(size=300), "kind": rng.choice(["a", "b"], 300),
        "size": rng.random(300), "name": [f"<b>{i}</b>" for i in range(300)],
    })  # fmt: skip
    frame.write_csv("map.csv")
    return frame


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM"])
def test_a_table_is_served_until_it_is_stopped(table, tmp_path, kind):
    with viewing("map.csv", cwd=tmp_path) as (process, said):
        assert said["rows"] == 300
        about = json.loads(get(said["address"], "study.json"))
        assert [one["name"] for one in about["maps"]] == ["map"]
        assert [one["name"] for one in about["colours"]] == ["kind", "size"]
        assert b"<title>map</title>" in get(said["address"])
        assert os.listdir(tmp_path / "temporary")
        process.send_signal(getattr(signal, kind))
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
        assert err.splitlines()[-1] == "stopped"
        assert "Traceback" not in err
        with pytest.raises(OSError):
            get(said["address"])
    assert os.listdir(tmp_path / "temporary") == []


def test_a_study_is_served_with_its_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", "swiss-roll", "--methods", "pca,lle", "--max-rows", "200", "--no-verdict"]) == 0
    assert "lowdim view" not in capsys.readouterr().out  # the page has all of so few rows
    assert not Path("lowdim-report-swiss_roll", TILES).exists()
    folder = next(Path().glob("lowdim-report-*"))
    with viewing(str(folder), cwd=tmp_path) as (_, said):
        assert said["rows"] == 200
        about = json.loads(get(said["address"], "study.json"))
        assert about["files"] == ["report.html", "scores.json", "embeddings.csv", "embeddings.parquet"]
        for name in about["files"]:
            assert get(said["address"], name) == (folder / name).read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(said["address"], "maps/")


def test_the_maps_of_a_comparison_are_all_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compare", "swiss-roll", "--methods", "pca,lle", "--max-rows", "150", "--out", "o"]) == 0
    given = read_scatter(Path("o/embeddings.parquet"))
    frame = pl.read_parquet("o/embeddings.parquet")
    assert [place.name for place in given.maps] == ["pca", "lle", "random"]
    np.testing.assert_array_equal(given.maps[1].xy, frame.select("lle_1", "lle_2").to_numpy())
    colours = {colour.name: colour for colour in given.colours}
    assert colours["lle_quality"].only == "lle"
    assert next(iter(colours)) == "label"
    assert given.numbers.tolist() == frame["row"].to_list()


def test_many_rows_are_written_as_tiles_and_sampled_in_the_page(tmp_path, monkeypatch, capsys):
    """With a smaller limit, what happens beyond 100,000 rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare, "MOST_POINTS", 100)
    words = ["compare", "swiss-roll", "--methods", "pca,lle", "--no-verdict", "--out", "a study", "--max-rows"]
    assert cli.main([*words, "250"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "all 250 rows: lowdim view 'a study'"
    page = Path("a study/report.html").read_text(encoding="utf-8")
    assert "A random sample of 100 of 250 rows is drawn" in page
    atlas = tiles_of_study(Path("a study"))
    assert atlas.n == 250
    about = atlas.about()
    assert [one["name"] for one in about["maps"]] == ["pca", "lle", "random"]
    names = [one["name"] for one in about["colours"]]
    assert {"label", "x1", "x2", "x3", "quality: lle"} <= set(names)
    frame = pl.read_parquet("a study/embeddings.parquet")
    row = atlas.row(0)
    k = frame["row"].to_list().index(row["number"])
    z = frame["pca_1"].to_numpy()
    xs = np.array([atlas.row(i)["places"][0][0] for i in range(250)])
    numbers = [frame["row"].to_list().index(atlas.row(i)["number"]) for i in range(250)]
    assert abs(np.corrcoef(xs, z[numbers])[0, 1]) > 0.999999
    assert row["values"][names.index("quality: pca")] == pytest.approx(frame["pca_quality"][k], rel=1e-6)
    assert decoded.tile(atlas.tile(0, 0, 0, 0))["total"] == 250
    assert cli.main([*words, "90"]) == 0  # fewer rows into the same folder: the tiles of the earlier ones go
    assert not Path("a study", TILES).exists()


def test_tiles_of_another_comparison_are_not_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare, "MOST_POINTS", 100)
    assert (
        cli.main(["compare", "swiss-roll", "--methods", "pca", "--no-verdict", "--out", "o", "--max-rows", "120"]) == 0
    )
    assert isinstance(tiles_of_study(Path("o")), Atlas)
    scores = json.loads(Path("o/scores.json").read_text(encoding="utf-8"))
    Path("o/scores.json").write_text(json.dumps({**scores, "run": "another"}), encoding="utf-8")
    assert tiles_of_study(Path("o")) is None


def wrong(capsys, *words):
    assert cli.main(["view", *words, "--no-open"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_what_cannot_be_viewed(table, capsys):
    Path("empty").mkdir()
    Path("damaged").mkdir()
    Path("damaged", TILES).write_bytes(b"lowdimT1")
    pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [3.0, 4.0]}).write_csv("three.csv")
    assert "no such folder or table: nowhere" in wrong(capsys, "nowhere")
    assert "must be a folder that lowdim compare wrote" in wrong(capsys, "empty")
    assert "must be a whole file of tiles" in wrong(capsys, "damaged")
    assert "--embedding-columns A,B" in wrong(capsys, "three.csv")
    assert "'z' is not a column" in wrong(capsys, "map.csv", "--embedding-columns", "x,z")
    assert "must name one or two columns; got 3" in wrong(capsys, "map.csv", "--embedding-columns", "x,y,size")
    assert "--embedding-columns" in wrong(capsys, "map.csv", "--embedding-columns", "x,kind")
    assert "--port 70000 must be from 0 to 65535" in wrong(capsys, "map.csv", "--port", "70000")


def test_a_port_that_is_taken(table, tmp_path, capsys):
    with viewing("map.csv", cwd=tmp_path) as (_, said):
        port = said["address"].split(":")[2].split("/")[0]
        assert f"--port {port} is not free" in wrong(capsys, "map.csv", "--port", port)


def test_the_browser_is_opened_unless_told_otherwise(table, monkeypatch, capsys):
    from lowdim.app.commands import view
    from lowdim.app.serving.server import StudyServer

    opened, threads = [], []
    monkeypatch.setattr(view.webbrowser, "open", opened.append)
    monkeypatch.setattr(StudyServer, "serve_forever", lambda self, poll_interval: threads.append(self.address))
    assert cli.main(["view", "map.csv", "--no-open"]) == 0
    assert opened == []
    assert cli.main(["view", "map.csv"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "map: 300 rows, 1 map"
    for _ in range(500):
        if not opened:
            time.sleep(0.01)
    assert opened == threads[1:] == [out[-1]]


def test_keep_alive_and_head(table, tmp_path):
    """One connection, several requests: what a browser does."""
    with viewing("map.csv", "--embedding-columns", "y,size", cwd=tmp_path) as (_, said):
        host, _, path = said["address"].removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=60)
        for method in ("GET", "HEAD", "GET"):
            connection.request(method, f"/{path}study.json")
            answer = connection.getresponse()
            assert answer.status == 200
            body = answer.read()
        assert [one["name"] for one in json.loads(body)["colours"]] == ["x", "kind"]
        connection.close()
