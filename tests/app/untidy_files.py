"""More files as people have them: remarks below the rows, drawn tables, other scripts, other formats of text.

Beside `messy_files`, in the same form; `test_messy_files` reads both.
"""

import codecs
import gzip

import polars as pl

from tests.app.messy_files import AB, PLAIN, SEMICOLONS, Messy, saved, text, wrong

REMARK = "the text below the rows is a remark, not used as data: "
ABC = {"a": [1, 4, 7], "b": [2, 5, 8], "c": [3, 6, 10]}
ROWS = "a,b,c\n1,2,3\n4,5,6\n7,8,10\n"
THREE = [1, 2, 3]
PIPES = "columns are separated by vertical bars"


def one(id, cells, numbers, *notes):
    """A column written in some way beside a column of plain numbers."""
    quoted = "".join(f'"{cell.replace(chr(34), chr(34) * 2)}",{i}\n' for i, cell in enumerate(cells, 1))
    return text(id, "a,b\n" + quoted, {"a": numbers, "b": [float(i) for i in range(1, len(cells) + 1)]}, *notes)


BELOW = [
    text("a source below a blank line", ROWS + "\nSource: ministry, 2020\n", ABC, REMARK + "'Source: ministry, 2020'"),
    text("remarks in the first of all cells", ROWS + "Quelle: Amt,,\n* vorläufig,,\n", ABC, "'Quelle: Amt' and 1 more"),
    text(
        "a source and a word under names",
        "name,b,c\nann,1,2\nbob,2,3\nSource: ministry\npreliminary\n",
        {"name": ["ann", "bob"], "b": [1, 2], "c": [2, 3]},
        "'Source: ministry' and 1 more line",
    ),
    text("a remark under numbers", ROWS + "preliminary\n", ABC, REMARK + "'preliminary'"),
    text("a comment at the end", ROWS + "# end of file\n", ABC, REMARK + "'# end of file'"),
    text("the number of rows at the end", ROWS + "(3 rows)\n", ABC, REMARK),
    text(
        "a remark that only looks like one",
        "name,b,c\nann,1,2\nbob,2,3\nNote,,\n",
        {"name": ["ann", "bob", "Note"], "b": [1, 2, None], "c": [2, 3, None]},
    ),
    wrong("a cut row under names", "name,b,c\nann,1,2\nbob,2,3\nNew Yo\n", "line 4 has 1 fields; 3 are expected"),
    wrong("a cut row of numbers", ROWS + "11\n", "line 5 has 1 fields"),
    wrong("a comment between the rows", "a,b\n1,2\n# break\n3,4\n5,6\n", "line 3 has 1 fields; 2 are expected"),
    text(
        "the names again", PLAIN + PLAIN, {k: v * 2 for k, v in AB.items()}, "the column names come 2 times; read once"
    ),
    wrong(
        "a second table", "a,b\n1,2\n3,4\n\nname,value\nx,9\ny,8\n", r"a second table begins in line 5 \(name, value\)"
    ),
    wrong("a second, wider table", "a,b\n1,2\n3,4\n\nx,y,z\n1,2,3\n", r"a second table begins in line 5 \(x, y, z\)"),
    text("no remark in one column", "word\none\ntwo\nSource: three\n", {"word": ["one", "two", "Source: three"]}),
    text(
        "separators at the end of some lines",
        "a,b,c\n1,2,3,,\n4,5,6\n7,8,10,\n",
        ABC,
        "separators at the end of 2 lines",
    ),
]

FORMS = [
    text("a separator in the first line", "sep=;\na;b\n1;2.5\n2;-1\n3;0\n", AB, "the first line, 'sep=;', gives"),
    text(
        "a separator in the first line and a mark",
        "\ufeffsep=|\r\na|b\r\n1|2.5\r\n2|-1\r\n3|0\r\n",
        AB,
        r"the first line, 'sep=\|', gives",
    ),
    text("Markdown", "| a | b |\n|---|--:|\n| 1 | 2.5 |\n| 2 | -1 |\n| 3 | 0 |\n", AB, "1 drawn line left out", PIPES),
    text(
        "a table of PostgreSQL",
        " a |  b \n---+-----\n 1 | 2.5\n 2 |  -1\n 3 |   0\n(3 rows)\n\n",
        AB,
        "1 drawn line",
        PIPES,
        REMARK,
        name="t.txt",
    ),
    text(
        "a table of MySQL",
        "+---+-----+\n| a | b   |\n+---+-----+\n| 1 | 2.5 |\n| 2 | -1  |\n| 3 | 0   |\n+---+-----+\n",
        AB,
        "3 drawn lines",
        PIPES,
        name="t.txt",
    ),
    text("dashes in one column", "a\n---\nx\n", {"a": ["---", "x"]}),
    text(
        "ARFF",
        "% iris\n@RELATION iris\n@attribute 'petal length' numeric\n@attribute c {x,y}\n\n@DATA\n1.5,x\n?,y\n2.5,y\n",
        {"petal length": [1.5, None, 2.5], "c": ["x", "y", "y"]},
        "the file is ARFF",
        r"'\?' read as missing",
        name="t.arff",
    ),
    wrong("sparse ARFF", "@relation x\n@attribute a numeric\n@data\n{0 1.5}\n", "is sparse ARFF", name="t.arff"),
    text(
        "GCT",
        "#1.2\n2\t2\nNAME\tDescription\ts1\ts2\ng1\tx\t1.5\t2\ng2\ty\t3\t4\n",
        {"NAME": ["g1", "g2"], "Description": ["x", "y"], "s1": [1.5, 3.0], "s2": [2, 4]},
        "the file is GCT",
        "separated by tabs",
        name="t.gct",
    ),
    text(
        "Matrix Market",
        "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1.5\n3 1 2\n2 2 4\n",
        {"1": [1.5, 0.0, 2.0], "2": [0.0, 4.0, 0.0]},
        "a matrix of 3 x 2: cells that are not written are 0",
        name="t.mtx",
    ),
    text(
        "Matrix Market, dense",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
        {"1": [1.0, 2.0], "2": [3.0, 4.0]},
        "every cell is written",
        name="t.mtx",
    ),
    Messy("Matrix Market in gzip", gzip.compress(b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n"),
          {"1": [0, 0], "2": [5, 0]}, ("a matrix of 2 x 2",), name="t.mtx.gz"),
    wrong("Matrix Market and far too large", "%%MatrixMarket matrix array real general\n99999999 9999999\n1\n",
          "cells", name="t.mtx"),
    text(
        "colons twice",
        "a::b::c\n1::2::x\n3::4::y\n",
        {"a": [1, 3], "b": [2, 4], "c": ["x", "y"]},
        "columns are separated by ::",
        name="t.dat",
    ),
    text("tildes", "a~b\n1~2.5\n2~-1\n3~0\n", AB, "columns are separated by ~"),
    text(
        "columns of a fixed width",
        "name      age  city    \nAnn Lee    34  New York\nBob        45  Rome    \nCy         29          \n",
        {"name": ["Ann Lee", "Bob", "Cy"], "age": [34, 45, 29], "city": ["New York", "Rome", None]},
        "columns have a fixed width",
        name="t.txt",
    ),
    text("prose has no columns", "text\nit is  so\nthat was so\nyes\n", {"text": ["it is  so", "that was so", "yes"]}),
    Messy("UTF-16 with tabs and decimal commas",
          codecs.BOM_UTF16_LE + "näme\twert\nA\t1,5\nB\t2,5\n".encode("utf-16-le"),
          {"näme": ["A", "B"], "wert": [1.5, 2.5]}, ("UTF-16", "separated by tabs", "decimal comma"), name="t.txt"),
    text(
        "lists of numbers",
        'n,v\n1,"[0.1, 2]"\n2,"[0.4, -3e1]"\n',
        {"n": [1, 2], "v_1": [0.1, 0.4], "v_2": [2.0, -30.0]},
        "column v has lists of 2 numbers: read as v_1 to v_2",
    ),
    text("lists of other lengths", 'n,v\n1,"[1, 2]"\n2,"[3]"\n', {"n": [1, 2], "v": ["[1, 2]", "[3]"]}),
    Messy("lists in Parquet", saved(lambda out: pl.DataFrame({"v": [[1.0, 2.0], [3.0, 4.0]]}).write_parquet(out)),
          {"v_1": [1.0, 3.0], "v_2": [2.0, 4.0]}, ("lists of 2 numbers",), name="t.parquet"),
]  # fmt: skip

NUMBERS = [
    one("lakhs", ["1,23,456", "12,34,567", "99,999"], [123456.0, 1234567.0, 99999.0], "1,23,456 is 123456"),
    one("negative in parentheses", ["(1,200.50)", "300.00", "(45)"], [-1200.5, 300.0, -45.0],
        "numbers in parentheses as negative", "thousands separators"),
    one("a minus behind", ["12-", "15", "3.5-"], [-12.0, 15.0, -3.5], "minus signs behind numbers"),
    one("a dash for a minus", ["–1.5", "2.5", "–3"], [-1.5, 2.5, -3.0], "minus signs of typesetting"),
    one("Arabic digits", ["١٢٫٥", "٣٤", "٥٦"], [12.5, 34.0, 56.0], "digits of another script"),
    one("wide digits", ["１２", "３４", "５６"], [12.0, 34.0, 56.0], "digits of another script"),
    one("a space of no width", ["\u200b1.5", "2.5", "3"], [1.5, 2.5, 3.0], "invisible characters"),
    one("an apostrophe in front", ["'1.5", "'2.5", "'3"], [1.5, 2.5, 3.0], "marks of text"),
    one("codes of currencies", ["USD 12.5", "USD 1,500.00", "USD 20"], [12.5, 1500.0, 20.0], "currency", "thousands"),
    one("Swiss francs", ["CHF 1'200.–", "CHF 900.–", "CHF 12.50"], [1200.0, 900.0, 12.5], "currency", "thousands"),
    one("thin spaces", ["1\u2009234.5", "12\u2009000", "1"], [1234.5, 12000.0, 1.0], "thousands separators"),
    one("no value in a database", ["1", "\\N", "3"], [1.0, None, 3.0], r"'\\\\N' read as missing"),
    one("the sign of infinity", ["1", "∞", "3"], [1.0, None, 3.0], "'∞' read as missing"),
    text("codes kept by a formula", 'a,b\n"=""001""",1\n"=""002""",2\n', {"a": ['="001"', '="002"'], "b": [1.0, 2.0]}),
    text("several currencies", "a,b\n$12,1\n€15,2\n£20,3\n", {"a": ["$12", "€15", "£20"], "b": THREE}),
    text("hexadecimal", "a,b\n0x1F,1\n0x2A,2\n", {"a": ["0x1F", "0x2A"], "b": [1, 2]}),
    text("fractions", "a,b\n1/2,1\n3/4,2\n", {"a": ["1/2", "3/4"], "b": [1, 2]}),
    text("two decimal marks in one column", "a;b\n1,5;1\n2.5;2\n", {"a": ["1,5", "2.5"], "b": [1, 2]}, SEMICOLONS),
    text("a minus alone is missing", "a,b\n-,1\n-2,2\n5,3\n", {"a": [None, -2, 5], "b": THREE}, "'-' read as missing"),
    text("beyond the largest number", "a,b\n1,2\n1e400,3\n", {"a": [1.0, float("inf")], "b": [2, 3]}),
]  # fmt: skip

ABOVE = [
    text(
        "a title and names in three lines",
        "Report 2023,,,,\n,2022,,2023,\n,Q1,Q2,Q1,Q2\nName,EUR,EUR,EUR,EUR\nA,1,2,3,4\n"
        "B,5,6,7,8\nC,2,3,4,5\nD,1,3,4,5\n",
        {
            "Name": ["A", "B", "C", "D"],
            "2022 Q1 EUR": [1, 5, 2, 1],
            "2022 Q2 EUR": [2, 6, 3, 3],
            "2023 Q1 EUR": [3, 7, 4, 4],
            "2023 Q2 EUR": [4, 8, 5, 5],
        },
        "is a title",
        "the column names stand in three lines; read as Name, 2022 Q1 EUR",
    ),
    text(
        "years above names",
        ",2022,,2023,\nName,a,b,a,b\nA,1,2,3,4\nB,5,6,7,8\nC,2,3,4,5\n",
        {"Name": ["A", "B", "C"], "2022 a": [1, 5, 2], "2022 b": [2, 6, 3], "2023 a": [3, 7, 4], "2023 b": [4, 8, 5]},
        "the column names stand in two lines",
    ),
    text("ticks of a form", "a,b\nx,1\n,2\nX,3\n", {"a": [1, 0, 1], "b": THREE}, "'x' or nothing read as 1 or 0"),
    text("ticks and NA", "a,b\nx,1\nNA,2\nx,3\n", {"a": ["x", None, "x"], "b": THREE}, "'NA' read as missing"),
]  # fmt: skip

WELLS = "A,0.1,0.2,0.3\nB,0.4,0.5,0.6\nC,0.7,0.8,0.9\n"
PLATE = {"column_1": ["A", "B", "C"], "1": [0.1, 0.4, 0.7], "2": [0.2, 0.5, 0.8], "3": [0.3, 0.6, 0.9]}
QUESTIONS = (
    'when,age,hours,q1\nStart Date,How old are you?,"Hours, in a week",Do you like it?\n'
    '"{""id"": 1}","{""id"": 2}","{""id"": 3}","{""id"": 4}"\n'
)
ANSWERS = "2024-01-02,31,40,yes\n2024-01-03,45,20,no\n2024-01-04,28,38.5,yes\n"
ANSWERED = {
    "when": ["2024-01-02", "2024-01-03", "2024-01-04"],
    "age": [31, 45, 28],
    "hours": [40.0, 20.0, 38.5],
    "q1": ["yes", "no", "yes"],
}

INSTRUMENTS = [
    text(
        "flags of official statistics",
        "geo,2020,2021\nAT,7.1 e,8\nBE,6.5,7.5 b\nBG,: ,6\nCZ,5.25,5\nDE,5,6.5 ep\n",
        {
            "geo": ["AT", "BE", "BG", "CZ", "DE"],
            "2020": [7.1, 6.5, None, 5.25, 5.0],
            "2021": [8.0, 7.5, 6.0, 5.0, 6.5],
        },
        r"flags behind numbers read in columns 2020, 2021 \(7.1 e is 7.1\)",
        "':' read as missing: 1 cell in column 2020",
    ),
    text(
        "a lower triangle with names and no zeros",
        "a,\nb,1.5\nc,2.5,3.5\nd,1,2,3\n",
        {
            "a": [0.0, 1.5, 2.5, 1.0],
            "b": [1.5, 0.0, 3.5, 2.0],
            "c": [2.5, 3.5, 0.0, 3.0],
            "d": [1.0, 2.0, 3.0, 0.0],
        },
        "a lower triangle: distances between 4 items",
        kind="distances",
    ),
    text(
        "settings of a plate reader",
        "Software Version,3.08\n\nPlate Number,Plate 1\nDate,4/12/2021\nResults\nTemperature:,37.0\n\n,1,2,3\n" + WELLS,
        PLATE,
        "5 lines above the column names left out, beginning with 'Software Version, 3.08'",
        "evenly spaced numbers",
        "1 column without a name",
    ),
    text(
        "settings filled up with separators",
        "Software Version,3.08,,\nDate,4/12/2021,,\n,1,2,3\n" + WELLS,
        PLATE,
        "2 lines above the column names left out",
        "evenly spaced numbers",
        "1 column without a name",
    ),
    text(
        "a wavelength behind the wells",
        ",1,2,3\nA,0.1,0.2,0.3,450\nB,0.4,0.5,0.6,450\nC,0.7,0.8,0.9,450\n",
        PLATE | {"column_5": [450, 450, 450]},
        "evenly spaced numbers",
        "2 columns without a name",
    ),
    text(
        "settings in a line of other width",
        "User: USER,Path: C:\\Data,Test ID: 1234\nTest Name: OD,Date: 12/04/2021\n\nWell,Content,OD 600,Group\n"
        "A1,Sample X1,0.5,a\nA2,Sample X2,0.7,b\nA3,Blank B,0.05,a\n",
        {
            "Well": ["A1", "A2", "A3"],
            "Content": ["Sample X1", "Sample X2", "Blank B"],
            "OD 600": [0.5, 0.7, 0.05],
            "Group": ["a", "b", "a"],
        },
        "2 lines above the column names left out, beginning with 'User: USER, Path",
    ),
    text(
        "settings in a line that is wider",
        "Plate:\tPlate 1\t1.3\tEndpoint\tRaw\tFALSE\t450\n\tTemperature\t1\t2\n\t37.1\t0.1\t0.2\n\t\t0.3\t0.4\n~End\n"
        "Original Filename: exp 12\n",
        {"column_1": [None, None], "Temperature": [37.1, None], "1": [0.1, 0.3], "2": [0.2, 0.4]},
        "1 line above the column names left out, beginning with 'Plate:",
        "1 column without a name",
        REMARK + "'~End' and 1 more line",
        name="t.tsv",
    ),
    text(
        "a series of GEO",
        '!Series_title\t"Response"\n!Sample_title\t"a"\t"b"\n!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n'
        '"x_at"\t1.5\t2\n"y_at"\tnull\t4\n!series_matrix_table_end\n',
        {"ID_REF": ["x_at", "y_at"], "GSM1": [1.5, None], "GSM2": [2, 4]},
        "3 comment lines above the column names left out",
        REMARK + "'!series_matrix_table_end'",
        "'null' read as missing",
        name="t.tsv",
    ),
    wrong("a header that is too short is no setting", "a,b\n1,2,3,4\n5,6,7,8\n9,1,2,3\n", "line 2 has 4 fields"),
    text(
        "questions under short names, and keys",
        QUESTIONS + ANSWERS,
        ANSWERED,
        "the 2 lines under the column names describe the columns, not used as data \\('Start Date', 'How old are you",
    ),
    text(
        "names in two languages",
        "Stück,Länge,Breite\nPiece,Length,Width\na,1.5,2\nb,2.5,3\nc,3.5,5\n",
        {"Stück": ["a", "b", "c"], "Länge": [1.5, 2.5, 3.5], "Breite": [2, 3, 5]},
        "the line under the column names describes the columns, not used as data \\('Piece', 'Length'",
    ),
    text(
        "classes of samples are no description",
        "sample,s1,s2,s3\nclass,a,b,a\ng1,1,2,3\ng2,4,5,6\n",
        {"sample": ["class", "g1", "g2"], "s1": ["a", "1", "4"], "s2": ["b", "2", "5"], "s3": ["a", "3", "6"]},
    ),
    text(
        "classes of many samples",
        "sample,s1,s2,s3,s4\nclass,a,b,a,b\ng1,1,2,3,4\ng2,4,5,6,7\ng3,4,5,6,8\n",
        {
            "sample": ["class", "g1", "g2", "g3"],
            "s1": ["a", "1", "4", "4"],
            "s2": ["b", "2", "5", "5"],
            "s3": ["a", "3", "6", "6"],
            "s4": ["b", "4", "7", "8"],
        },
        "the first row has texts such as 'a', 'b' above numbers: .* --transpose",
    ),
]  # fmt: skip

UNTIDY = [*ABOVE, *BELOW, *FORMS, *NUMBERS, *INSTRUMENTS]
