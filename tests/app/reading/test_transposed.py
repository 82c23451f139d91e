"""Tables whose columns are the items."""

import pytest

from lowdim.app.errors import UserError
from lowdim.app.input_table import load, read
from lowdim.app.read_options import ReadOptions

GENES = "gene,sample_1,sample_2,sample_3,sample_4\nBRCA1,1.5,2,3,4\nTP53,5,6,7,8\nEGFR,9,1,2,3\n"
TURNED = ReadOptions(transpose=True)


def written(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_and_columns_are_exchanged(tmp_path):
    table = read(written(tmp_path, GENES), TURNED)
    assert table.columns == ["BRCA1", "TP53", "EGFR"]
    assert table.names == ["sample_1", "sample_2", "sample_3", "sample_4"]
    assert table.X.tolist() == [[1.5, 5, 9], [2, 6, 1], [3, 7, 2], [4, 8, 3]]
    assert any("rows and columns exchanged: 4 rows, named by the column names, and 3 columns, named by 'gene'" in n
               for n in table.notes)  # fmt: skip


def test_a_row_of_classes_becomes_a_column_of_text(tmp_path):
    found = load(written(tmp_path, GENES + "group,case,case,control,control\n"), TURNED).frame
    assert found["group"].to_list() == ["case", "case", "control", "control"]
    assert found["TP53"].to_list() == [5, 6, 7, 8]


def test_annotations_of_the_rows_are_left_out_by_name(tmp_path):
    text = "gene,chr,s1,s2,s3\nA,one,1,2,3\nB,two,4,5,6\nC,two,7,8,9\n"
    loaded = load(written(tmp_path, text), TURNED)
    assert loaded.frame.columns == ["item", "A", "B", "C"]
    assert any("left out: chr" in note for note in loaded.notes)


def test_without_names(tmp_path):
    loaded = load(written(tmp_path, "1.5,2,3\n4,5.5,6\n"), ReadOptions(transpose=True, header=False))
    assert loaded.frame["item"].to_list() == ["1", "2", "3"]
    assert loaded.frame["1"].to_list() == [1.5, 2, 3]


def test_what_cannot_be_turned(tmp_path):
    with pytest.raises(UserError, match="--transpose needs columns of numbers"):
        load(written(tmp_path, "a,b\nx,y\nz,w\n"), TURNED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GENES, True),
        ("gene,ctrl_1,ctrl_2,trt_1,trt_2\nA,1,2,3,4\nB,5,6,7,8\nC,9,1,2,3\n", True),
        ("#OTU ID,S0,S1,S2\nA,1,2,3\nB,5,6,7\nC,9,1,2\n", True),
        ("id,height,weight,age\na,1,2,3\nb,5,6,7\nc,9,1,2\n", False),
        ("gene,length,weight,start\nA,1,2,3\nB,5,6,7\nC,9,1,2\n", False),
        ("item,q1,q2,q3\nx,1,2,3\ny,5,6,7\nz,9,1,2\n", False),
    ],
)
def test_items_in_columns_are_pointed_out(tmp_path, text, said):
    notes = load(written(tmp_path, text), ReadOptions()).notes
    assert any("--transpose exchanges rows and columns" in note for note in notes) == said
