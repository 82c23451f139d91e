"""Tables as people of different trades have them: what each column is taken for, without an option."""

import re

import polars as pl
import pytest

from lowdim.app.cli import main
from lowdim.app.input_table import read
from lowdim.app.read_options import ReadOptions


def lines(header, row, n):
    return "\n".join([header, *(row(i) for i in range(n))]) + "\n"


CUSTOMERS = lines(
    "Customer ID;Signup;Plan;Spend (€);Country;Notes",
    lambda i: f"C-{1000 + i};{f'2020-03-{i % 28 + 1:02d}' if i % 3 else f'{i % 28 + 1:02d}.04.2020'};"
    f"{['basic', 'Basic', 'pro'][i % 3]};{'n/a' if i % 11 == 5 else f'{20 + i * 7 % 31},5'}"
    f";{['DE', 'FR', '-'][i * 5 % 3]};{'' if i % 4 else f'called {i}'}",
    40,
)  # fmt: skip
COUNTS = lines(
    "site\tday\thabitat\tSp_1\tSp_2\tSp_3",
    lambda i: (
        f"S{i // 4}\t{i % 12 + 1:02d}/{i % 28 + 1:02d}/2021\t{['bog', 'fen', 'mire'][i % 3]}\t{i * 7 % 5 + 1}\t"
        f"{'NA' if i % 9 == 2 else i * 3 % 11}\t{i % 2}"
    ),
    40,
)
LOG = lines(
    "timestamp,temp °C,rpm,state,error,valve",
    lambda i: f"2023-05-01 {i % 24:02d}:10:00,{20 + i * 7 % 5}.5,{1500 + i * 31 % 90}.5,{['run', 'idle'][i % 2]},0,"
    f"{'true' if i % 3 else 'false'}",
    40,
)  # fmt: skip
TABLES = {
    "data scientist": (CUSTOMERS.encode("cp1252"), {
        "Customer ID": "id name", "Signup": "date shown", "Plan": "category map", "Spend (€)": "number map",
        "Country": "category map", "Notes": "id shown",
    }),
    "ecologist": (COUNTS.encode(), {
        "site": "category map", "day": "date shown", "habitat": "category map", "Sp_1": "number map",
        "Sp_2": "number map", "Sp_3": "number map",
    }),
    "engineer": (LOG.encode(), {
        "timestamp": "date shown", "temp °C": "number map", "rpm": "number map", "state": "category label",
        "error": "constant left out", "valve": "number map",
    }),
}  # fmt: skip


@pytest.mark.parametrize("who", TABLES)
def test_columns_are_understood_without_an_option(tmp_path, who):
    content, expected = TABLES[who]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    found = read(path, ReadOptions(missing="keep"))
    assert {column.name: f"{column.kind} {column.use}" for column in found.table.columns} == expected


@pytest.mark.parametrize("method", ["pca", "famd", "ca"])
def test_counts_with_holes_go_through_a_model(tmp_path, monkeypatch, capsys, method):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text(COUNTS)
    assert main(["fit", "t.tsv", "--method", method, "--out", "m"]) == 0
    err = capsys.readouterr().err
    assert ("the columns of numbers alone are used" in err) is (method == "ca")
    assert main(["transform", "m", "t.tsv", "--out", "z.csv"]) == 0
    columns = [f"{method}0", f"{method}1"]
    first, again = (pl.read_csv(name).select(columns).to_numpy() for name in ("m-embedding.csv", "z.csv"))
    assert abs(first - again).max() < 1e-6


def test_parameters_and_labels_of_another_file_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(LOG)
    (tmp_path / "y.txt").write_text("\n".join("ab"[i % 2] for i in range(40)) + "\n")
    words = ["compare", "t.csv", "--methods", "isomap,lle", "--no-verdict", "--drop", "state"]
    assert main([*words, "--label-file", "y.txt", "--set", "isomap.n_neighbors=7", "--out", "r", "--json"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r'"n_neighbors": 7', out)
    assert "labels '1' from y.txt, by the order of the rows" in err
    assert main([*words, "--set", "n_neighbors=7"]) == 2
    assert "--set must be METHOD.KEY=VALUE" in capsys.readouterr().err
    assert main([*words, "--set", "isomap.neighbors=7"]) == 2
    assert "isomap has no parameter 'neighbors'. Did you mean 'n_neighbors'?" in capsys.readouterr().err
    assert main(["compare", "swiss-roll", "--label-file", "y.txt"]) == 2
    assert "--label-file is for files" in capsys.readouterr().err
