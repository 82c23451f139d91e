"""Spreadsheets, written here cell by cell: types, titles, sheets, oddities."""

import io
import zipfile
from xml.sax.saxutils import escape, quoteattr

import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import load
from lowdim.app.read_options import ReadOptions

pytest.importorskip("python_calamine")

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROWS = [["a", "b", "kind"], [1, 2.5, "x"], [2, -1, "y"], [3, 0, "x"]]
CELLS = {"a": [1, 2, 3], "b": [2.5, -1, 0], "kind": ["x", "y", "x"]}


def xlsx(sheets):
    """The bytes of a workbook: sheet name -> rows of numbers, texts, true/false or None."""
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>'
        + "".join(f'<sheet name={quoteattr(n)} sheetId="{i}" r:id="s{i}"/>' for i, n in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">'
        + "".join(
            f'<Relationship Id="s{i}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        + "</Relationships>",
    }
    for i, rows in enumerate(sheets.values(), 1):
        body = "".join(f'<row r="{r}">{"".join(map(cell, row))}</row>' for r, row in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
    return packed(parts)


def cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def ods(rows):
    """The bytes of an OpenDocument spreadsheet with one sheet."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    body = "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)
    content = (
        f'<office:document-content{names} office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="one">{body}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return packed({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def ods_cell(value):
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"/>'


def packed(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def load_rows(tmp_path):
    def run(rows, how=ReadOptions(), name="t.xlsx"):  # noqa: B008 (frozen: safe to share)
        path = tmp_path / name
        path.write_bytes(xlsx(rows if isinstance(rows, dict) else {"one": rows}))
        loaded = load(path, how)
        return loaded.frame.to_dict(as_series=False), loaded.notes

    return run


def test_a_plain_sheet(load_rows):
    assert load_rows(ROWS) == (CELLS, ())
    assert load_rows(ROWS, name="t.xlsm") == (CELLS, ())


def test_a_workbook_under_another_name(load_rows):
    cells, notes = load_rows(ROWS, name="t.csv")
    assert cells == CELLS
    assert notes == ("the file is a spreadsheet, whatever its extension .csv says",)


def test_an_open_document(tmp_path):
    (tmp_path / "t.ods").write_bytes(ods(ROWS))
    assert load(tmp_path / "t.ods", ReadOptions()).frame.to_dict(as_series=False) == CELLS


def test_what_is_above_the_data(load_rows):
    title = ["Results of 2020", None, None]
    units = ["cm", "kg", None]
    cells, notes = load_rows([title, [None] * 3, ROWS[0], units, *ROWS[1:]])
    assert cells == CELLS
    assert len(notes) == 2
    assert "title" in notes[0]
    assert "has units (cm, kg)" in notes[1]


def test_titles_and_merged_cells_above_the_names(load_rows):
    above = [["Water quality", None, None, None], ["by the lab", None, None, None], [None] * 4]
    names = [["Station", "Chemistry", None, "Life"], [None, "pH", "O2", "Taxa"]]
    cells, notes = load_rows([*above, *names, ["A", 7.5, 80, 3], ["B", 6.5, 95, 9], ["C", 7.1, 88, 4]])
    assert cells == {"Station": ["A", "B", "C"], "pH": [7.5, 6.5, 7.1], "O2": [80, 95, 88], "Taxa": [3, 9, 4]}
    assert [note.split(":")[0].split(";")[0] for note in notes] == [
        "the text above the column names is a title, not used as data", "the column names stand in two lines",
    ]  # fmt: skip


def test_empty_columns_and_rows_are_layout(load_rows):
    rows = [[None, None, None, None], [None, "a", None, "b"], [None, 1, None, 2.5], [None] * 4, [None, 2, None, 3]]
    assert load_rows(rows) == ({"a": [1, 2], "b": [2.5, 3]}, ("1 blank row left out",))


def test_cells_keep_their_types(load_rows):
    rows = [["flag", "n", "code", "mixed"], [True, 1.5, "007", 1], [False, "n/a", "008", "x"], [None, 2, "x9", None]]
    cells, notes = load_rows(rows)
    assert cells == {
        "flag": [True, False, None],
        "n": [1.5, None, 2],
        "code": ["007", "008", "x9"],
        "mixed": ["1", "x", None],
    }
    assert notes == ("'n/a' read as missing: 1 cell in column n",)


def test_markup_and_emoji_survive(load_rows):
    name = '<script>"&\n🦆'
    assert load_rows([[name, "b"], ["<b>", 1], ["שלום", 2]])[0] == {name: ["<b>", "שלום"], "b": [1, 2]}


def test_the_sheet_can_be_chosen(load_rows):
    sheets = {"empty": [], "first": ROWS, "second": [["z"], [1.5], [2.5]]}
    cells, notes = load_rows(sheets)
    assert cells == CELLS
    assert notes == ("the sheet 'first' is read (--sheet chooses one of empty, first, second)",)
    assert load_rows(sheets, ReadOptions(sheet="second"))[0] == {"z": [1.5, 2.5]}
    assert load_rows(sheets, ReadOptions(sheet="3"))[0] == {"z": [1.5, 2.5]}
    with pytest.raises(UserError, match=r"--sheet 'secondd' is not a sheet\. Did you mean 'second'\? Sheets: empty"):
        load_rows(sheets, ReadOptions(sheet="secondd"))
    with pytest.raises(UserError, match="the sheet 'empty' has no cells"):
        load_rows(sheets, ReadOptions(sheet="empty"))


PREFACE = [["Results of the survey"], ["made in May"], [None], ["see the other sheets"]]


def test_the_only_sheet_with_a_table_is_taken(load_rows):
    cells, notes = load_rows({"Read me": PREFACE, "data": ROWS, "empty": []})
    assert cells == CELLS
    assert "the first sheet, 'Read me', has no table; 'data' is the only sheet that has one" in notes
    cells, notes = load_rows({"Read me": PREFACE, "one column": [["z"], [1.5], [2.5], [3]]})
    assert cells == {"z": [1.5, 2.5, 3]}
    assert len(load_rows({"Read me": PREFACE, "data": ROWS}, ReadOptions(sheet="Read me", header=False))[0]["1"]) == 3


def test_several_sheets_with_tables_are_named(load_rows):
    sheets = {"Read me": PREFACE, "year 2020": ROWS, "b": ROWS}
    with pytest.raises(UserError, match="'Read me', has no table; choose another: --sheet 'year 2020', --sheet b"):
        load_rows(sheets)
    assert load_rows(sheets, ReadOptions(sheet="b"))[0] == CELLS
    assert load_rows({"data": ROWS, "other": ROWS})[0] == CELLS


def test_a_table_of_distances_in_a_sheet(tmp_path):
    (tmp_path / "d.xlsx").write_bytes(
        xlsx({"one": [[None, "x", "y", "z"], ["x", 0, 1, 2], ["y", 1, 0, 3], ["z", 2, 3, 0]]})
    )
    loaded = load(tmp_path / "d.xlsx", ReadOptions())
    assert loaded.kind == "distances"
    assert loaded.frame.to_dict(as_series=False) == {"x": [0, 1, 2], "y": [1, 0, 3], "z": [2, 3, 0]}


def test_a_damaged_workbook(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(xlsx({"one": ROWS})[:-40])
    with pytest.raises(UserError, match="cannot be read as"):
        load(tmp_path / "t.xlsx", ReadOptions())


def test_without_the_library(load_rows, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(UserError, match=r'reading spreadsheets needs python_calamine: pip install "lowdim\[app\]"'):
        load_rows(ROWS)


def test_remarks_and_totals_below_the_rows(load_rows):
    rows = [["Sales of 2023", "", ""], ["item", "a", "b"], ["x", 1.5, 2], ["y", 2.5, 4], ["z", 3, 6], ["w", 1, 8],
            ["Total", 8, 20], ["", "", ""], ["Source: ministry", "", ""], ["preliminary", "", ""]]  # fmt: skip
    cells, notes = load_rows(rows)
    assert cells["item"] == ["x", "y", "z", "w", "Total"]
    assert cells["b"] == [2, 4, 6, 8, 20]
    assert any(note.endswith("not used as data: 'Source: ministry' and 1 more line") for note in notes)
    assert not any("remark" in note for note in load_rows(rows[:7])[1])
    names = [["name", "a"], ["ann", 1], ["bob", 2], ["eve", ""]]
    assert load_rows(names)[0]["name"] == ["ann", "bob", "eve"]  # a row with gaps is no remark


def test_a_second_table_in_a_sheet(load_rows):
    rows = [["a", "b"], [1, 2], [3, 4], ["", ""], ["name", "value"], ["x", 9], ["y", 8]]
    with pytest.raises(UserError, match=r"a second table begins in row 5 of the cells \(name, value\)"):
        load_rows(rows)
    assert load_rows([["a", "b"], [1, "u"], ["", ""], [3, "v"]])[0]["a"] == [1, 3]
