"""Files as people have them, each with what `load` must make of it. Other tests may import and extend `MESSY`.

Every entry says all notes: a note that nobody expected is a failure, as is one that is missing.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy import sparse

from lowdim.app.read_options import ReadOptions


@dataclass(frozen=True)
class Messy:
    """A file and its outcome: columns with their cells, and one pattern for each note; or a pattern of the error."""

    id: str
    content: bytes
    cells: dict = field(default_factory=dict)
    notes: tuple = ()
    error: str | None = None
    name: str = "t.csv"
    how: ReadOptions = ReadOptions()  # noqa: RUF009 (frozen: safe to share)
    kind: str = "table"


def text(id, content, cells=None, *notes, encoding="utf-8", **more):
    return Messy(id, content.encode(encoding), cells or {}, notes, **more)


def wrong(id, content, error, **more):
    return Messy(id, content if isinstance(content, bytes) else content.encode(), error=error, **more)


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def saved(function, *arguments):
    out = io.BytesIO()
    function(out, *arguments)
    return out.getvalue()


PLAIN = "a,b\n1,2.5\n2,-1\n3,0\n"
AB = {"a": [1, 2, 3], "b": [2.5, -1.0, 0.0]}
FRAME = pl.DataFrame(AB)
SEMICOLONS = "columns are separated by semicolons"
COMMA = "numbers have a decimal comma"
FIRST = "the first line has numbers, read as data"
LATIN = r"the text is not UTF-8, read as cp1252 \(Western European\) \(--encoding chooses"
NAME = "x" * 5000
MARKUP = '<script>alert("1")</script>'

# Clean files: nothing may be said about them but what is true.
CLEAN = [
    text("plain", PLAIN, AB),
    text("windows line ends", PLAIN.replace("\n", "\r\n"), AB),
    text("no line end at the end", PLAIN.rstrip("\n"), AB),
    text("blank lines at the end", PLAIN + "\n\n", AB),
    text("UTF-8 with a byte order mark", "\ufeff" + PLAIN, AB),
    text("tabs in a tsv", PLAIN.replace(",", "\t"), AB, name="t.tsv"),
    text("numbers in quotes", '"a","b"\n"1","2.5"\n"2","-1"\n"3","0"\n', AB),
    text(
        "text with commas",
        'city,b\n"Paris, Texas",1\n"Rome, Italy",2\n',
        {"city": ["Paris, Texas", "Rome, Italy"], "b": [1, 2]},
    ),
    text("text with semicolons", "t,b\nx;y,1\nz;w,2\n", {"t": ["x;y", "z;w"], "b": [1, 2]}),
    text("text with spaces", "city\nNew York\nLos Angeles\n", {"city": ["New York", "Los Angeles"]}),
    text("text with apostrophes", "t,b\nit's,1\ndon't,2\n", {"t": ["it's", "don't"], "b": [1, 2]}),
    text("text with percent", "t,b\n100% wool,1\ncotton,2\n", {"t": ["100% wool", "cotton"], "b": [1, 2]}),
    text("names like units", "sex,kg\nm,60\nf,70\nm,80\nf,50\n", {"sex": ["m", "f", "m", "f"], "kg": [60, 70, 80, 50]}),
    text("dashes are a class", "t,b\n-,1\n+,2\n-,3\n", {"t": ["-", "+", "-"], "b": [1, 2, 3]}),
    text("dates", "d,b\n2020-01-02,1\n2020-01-03,2\n", {"d": ["2020-01-02", "2020-01-03"], "b": [1, 2]}),
    text("codes with points", "v,b\n1.2.3,1\n1.2.4,2\n", {"v": ["1.2.3", "1.2.4"], "b": [1, 2]}),
    text("telephone numbers", "p,b\n030 123,1\n030 456,2\n", {"p": ["030 123", "030 456"], "b": [1, 2]}),
    text(
        "years as names",
        "g,2019,2020\nx,1.5,2\ny,3,4\n",
        {"g": ["x", "y"], "2019": [1.5, 3.0], "2020": [2, 4]},
        "evenly spaced numbers or years, read as names",
    ),
    text("right to left and emoji", "שלום,🦆\n1,2\n3,4\n", {"שלום": [1, 3], "🦆": [2, 4]}),
    text(
        "markup in a name", '"<b onclick=""x"">","""&amp;"\n1,2\n3,4\n', {'<b onclick="x">': [1, 3], '"&amp;': [2, 4]}
    ),
    text(
        "markup in cells", f't,b\n"{MARKUP.replace(chr(34), chr(34) * 2)}",1\nx,2\n', {"t": [MARKUP, "x"], "b": [1, 2]}
    ),
    text("line ends in a name", '"a\nb",c\n1,2\n3,4\n', {"a\nb": [1, 3], "c": [2, 4]}),
    text("line ends in a cell", 't,b\n"x\n\ny",1\n"z\r\nw",2\n', {"t": ["x\n\ny", "z\r\nw"], "b": [1, 2]}),
    text("carriage return in a cell", 't,b\n"x\ry",1\nz,2\n', {"t": ["x\ry", "z"], "b": [1, 2]}),
    text(
        "separators of Unicode lines in a cell",
        "t,b\nx\u2028y,1\nz\x0bw,2\n",
        {"t": ["x\u2028y", "z\x0bw"], "b": [1, 2]},
    ),
    text("a long name", f"{NAME},b\n1,2\n3,4\n", {NAME: [1, 3], "b": [2, 4]}),
    text("a percent sign in a name", "% fat\n1\n2\n", {"% fat": [1, 2]}),
    text("a hash in a name", "# of eggs,b\n1,2\n3,4\n", {"# of eggs": [1, 3], "b": [2, 4]}),
    text("one word above numbers", "a\nunknown\n1\n2\n3\n", {"a": ["unknown", "1", "2", "3"]}),
    text(
        "wavelengths as names",
        "400.5,401,401.5,402\n0.1,0.2,0.3,0.4\n0.5,0.6,0.7,0.9\n",
        {"400.5": [0.1, 0.5], "401": [0.2, 0.6], "401.5": [0.3, 0.7], "402": [0.4, 0.9]},
        "evenly spaced numbers or years",
    ),
    text("one column", "a\n1\n2\n", {"a": [1, 2]}),
    text("one row", "a,b\n1,2\n", {"a": [1], "b": [2]}),
    text("only a header", "a,b\n", {"a": [], "b": []}),
    text(
        "long identifiers",
        "id,b\n123456789012345678901234567890123456789012345,1\nx,2\n",
        {"id": ["123456789012345678901234567890123456789012345", "x"], "b": [1, 2]},
    ),
    text("empty cells", "a,b\n1,\n,2\n4,3\n", {"a": [1, None, 4], "b": [None, 2, 3]}),
    text("zeros before a point", "a,b\n0.5,0\n0.25,10\n0,20\n", {"a": [0.5, 0.25, 0.0], "b": [0, 10, 20]}),
    text("-1 beside 0 and 1", "a,b\n-1,5\n0,6\n1,7\n", {"a": [-1, 0, 1], "b": [5, 6, 7]}),
    text("99 among ages", "age,b\n99,5\n34,6\n51,7\n", {"age": [99, 34, 51], "b": [5, 6, 7]}),
    text("an id of 99", "id,b\n97,5\n98,6\n99,7\n", {"id": [97, 98, 99], "b": [5, 6, 7]}),
]

TEXT = [
    text("semicolons", "a;b\n1;2.5\n2;-1\n3;0\n", AB, SEMICOLONS),
    text("semicolons and decimal commas", "a;b\n1;2,5\n2;-1\n3;0\n", AB, SEMICOLONS, COMMA),
    text(
        "decimal commas without a header",
        "1,5;2,5\n1,0;3,1\n",
        {"1": [1.5, 1.0], "2": [2.5, 3.1]},
        SEMICOLONS,
        FIRST,
        COMMA,
    ),
    text(
        "decimal commas after many whole numbers",
        "a;b\n" + "1;2\n" * 20000 + "1;2,5\n",
        {"a": [1] * 20001, "b": [2.0] * 20000 + [2.5]},
        SEMICOLONS,
        COMMA,
    ),
    text(
        "points for thousands",
        "a;b\n1.234,5;1\n2.000.000,25;2\n",
        {"a": [1234.5, 2000000.25], "b": [1, 2]},
        SEMICOLONS,
        r"thousands separators read in columns? a \(1.234,5 is 1234.5\)",
    ),
    text(
        "commas for thousands",
        'a,b\n"1,234,567",1\n"2,000",2\n950,3\n',
        {"a": [1234567, 2000, 950], "b": [1, 2, 3]},
        r"thousands separators read in columns? a \(1,234,567 is 1234567\)",
    ),
    text(
        "a comma that can be two things",
        'a,b\n"1,234",1\n"2,000",2\n',
        {"a": ["1,234", "2,000"], "b": [1, 2]},
        r"commas in columns? a are read between thousands: 1,234 is 1234 \(--decimal-comma reads 1.234\)",
    ),
    text(
        "a decimal comma by option in a file of commas",
        'a,b\n"1,234",1\n"2,000",2\n',
        {"a": [1.234, 2.0], "b": [1.0, 2.0]},
        how=ReadOptions(decimal_comma=True, separator=","),
    ),
    text(
        "a point before three digits beside decimal commas",
        "a;b\n1.118;2,5\n44.967;3,25\n987;1,0\n",
        {"a": [1118, 44967, 987], "b": [2.5, 3.25, 1.0]},
        SEMICOLONS,
        COMMA,
        r"thousands separators read in columns? a \(1.118 is 1118\)",
    ),
    text(
        "a point before three digits that can be two things",
        "a;b\n1.118;2\n44.967;3\n987;4\n2.500;7\n",
        {"a": [1.118, 44.967, 987.0, 2.5], "b": [2, 3, 4, 7]},
        SEMICOLONS,
        r"every point in columns? a has three digits after it: 1.118 is read as 1.118 \(--thousands . reads 1118\)",
    ),
    text(
        "a point before three digits that another cell decides",
        "a;b\n1.118;2\n44.967;3\n987;4\n2.5;7\n",
        {"a": [1.118, 44.967, 987.0, 2.5], "b": [2, 3, 4, 7]},
        SEMICOLONS,
    ),
    text(
        "a point before three digits that another column decides",
        "a;b\n1.118;0.25\n44.967;1.5\n987;0.5\n2.500;0\n",
        {"a": [1.118, 44.967, 987.0, 2.5], "b": [0.25, 1.5, 0.5, 0.0]},
        SEMICOLONS,
    ),
    text(
        "points for thousands by option",
        "a,b\n1.118,2\n987,3\n",
        {"a": [1118, 987], "b": [2.0, 3.0]},
        r"thousands separators read in columns? a \(1.118 is 1118\)",
        how=ReadOptions(thousands="."),
    ),
    text(
        "two titles and names in two lines",
        "Water quality,,,\nby the lab,,,\n,,,\nStation,Chemistry,,Life\n,pH,O2 (%),Taxa\n"
        "A,7.1,80,3\nB,6.5,95,9\nC,7,88,4\n",
        {"Station": ["A", "B", "C"], "pH": [7.1, 6.5, 7.0], "O2 (%)": [80, 95, 88], "Taxa": [3, 9, 4]},
        "is a title, not used as data: 'Water quality'",
        r"the column names stand in two lines; read as Station, pH, O2 \(%\), Taxa",
    ),
    text(
        "the same names under two names",
        "id,spring,,autumn,\n,mean,max,mean,max\nA,1,2,3,4\nB,5,6,7,8\nC,2,2,3,3\n",
        {
            "id": ["A", "B", "C"],
            "spring mean": [1, 5, 2],
            "spring max": [2, 6, 2],
            "autumn mean": [3, 7, 3],
            "autumn max": [4, 8, 3],
        },
        "two lines; read as id, spring mean, spring max, autumn mean, autumn max",
    ),
    text(
        "a header with a gap above text",
        "a,,c\nx,y,z\nu,v,w\nx,v,z\n",
        {"a": ["x", "u", "x"], "column_2": ["y", "v", "v"], "c": ["z", "w", "z"]},
        "1 column without a name is named column_2",
    ),
    text(
        "a comma that the file decides",
        'a,b\n"1,234",1.5\n"2,000",2\n',
        {"a": [1234, 2000], "b": [1.5, 2]},
        "thousands separators read in columns? a",
    ),
    text(
        "thousands by option",
        'a,b\n"1,234",1\n"2,000",2\n',
        {"a": [1234, 2000], "b": [1, 2]},
        "thousands separators read",
        how=ReadOptions(thousands=","),
    ),
    text(
        "spaces for thousands",
        "a,b\n1 234.5,1\n12\u00a0000,2\n",
        {"a": [1234.5, 12000], "b": [1, 2]},
        "thousands separators read",
    ),
    text(
        "percent signs",
        "a,b\n12%,1\n3.5 %,2\nNA,3\n",
        {"a": [12, 3.5, None], "b": [1, 2, 3]},
        r"percent signs .* a \(12% is 12\)",
        "'NA' read as missing: 1 cell in columns? a",
    ),
    text("percent signs in some cells", "a,b\n12%,1\n3.5,2\n", {"a": ["12%", "3.5"], "b": [1, 2]}),
    text(
        "currency signs",
        'a,b\n"$1,234.50",1\n-$3,2\n',
        {"a": [1234.5, -3], "b": [1, 2]},
        r"currency signs .*\$1,234.50 is 1234.5",
        "thousands separators",
    ),
    text("euros", "a;b\n12,50 €;1\n3,00 €;2\n", {"a": [12.5, 3], "b": [1, 2]}, SEMICOLONS, "currency signs", COMMA),
    text("a minus of typesetters", "a,b\n\u22125,1\n3,2\n", {"a": [-5, 3], "b": [1, 2]}, "minus signs"),
    text(
        "words for missing",
        "a,b,c\n?,-,1\n2,n/a,missing\n3,4,.\n",
        {"a": [None, 2, 3], "b": [None, None, 4], "c": [1, None, None]},
        r"'\?' read as missing: 1 cell in columns? a",
        "'-' read as missing",
        "'n/a' read",
        "'missing' read",
        r"'\.' read",
    ),
    text("words of Excel", "a,b\n#N/A,1\n2,#DIV/0!\n3,4\n", {"a": [None, 2, 3], "b": [1, None, 4]}, "#N/A", "#DIV/0!"),
    text("only words for missing", "a,b\n?,1\n?,2\n", {"a": ["?", "?"], "b": [1, 2]}),
    text(
        "NA in text",
        "t,b\nNA,1\nDE,2\n",
        {"t": [None, "DE"], "b": [1, 2]},
        "'NA' read as missing: 1 cell in the text of column t",
    ),
    text(
        "-999",
        "a,b\n1,5\n-999,6\n3,7\n",
        {"a": [1, -999, 3], "b": [5, 6, 7]},
        r"-999 may stand for missing cells in columns? a \(1 cell\).*--na -999",
    ),
    text(
        "-999 by option",
        "a,b\n1,5\n-999.0,6\n3,7\n",
        {"a": [1, None, 3], "b": [5, 6, 7]},
        "'-999.0' read as missing: 1 cell in columns? a",
        how=ReadOptions(na=("-999",)),
    ),
    text(
        "usual words for missing",
        "a,b\n1,NA\n,2\nnan,3\n",
        {"a": [1, None, None], "b": [None, 2, 3]},
        "'nan' read as missing: 1 cell in columns? a",
        "'NA' read as missing: 1 cell in columns? b",
    ),
    text(
        "codes of a questionnaire",
        "q1,q2\n1,-9\n99,2\n5,3\n3,-9\n99,1\n",
        {"q1": [1, 99, 5, 3, 99], "q2": [-9, 2, 3, -9, 1]},
        r"99 may stand for missing cells in columns? q1 \(2 cells\).*--na 99",
        r"-9 may stand for missing cells in columns? q2 \(2 cells\).*--na -9",
    ),
    text(
        "999 and -1",
        "a,b\n1,-1\n999,2\n5,3\n3,4\n",
        {"a": [1, 999, 5, 3], "b": [-1, 2, 3, 4]},
        r"999 may stand .* a \(1 cell\)",
        r"-1 may stand .* b \(1 cell\)",
    ),
    text(
        "99 by option, but not in the ids",
        "id,q\n97,1\n98,99\n99,3\n100,2\n",
        {"id": [97, 98, 99, 100], "q": [1, None, 3, 2]},
        "'99' read as missing: 1 cell in columns? q",
        "99 stays as it is in columns? id, which name the rows",
        how=ReadOptions(na=("99",)),
    ),
    text(
        "a word by option, but not in the names",
        "name,q,r\nAnn,1,x\nnone,none,none\nBob,3,x\nEve,2,x\n",
        {"name": ["Ann", "none", "Bob", "Eve"], "q": [1, None, 3, 2], "r": ["x", None, "x", "x"]},
        "'none' read as missing: 1 cell in the text of column r",
        "'none' read as missing: 1 cell in columns? q",
        "none stays as it is in columns? name, which name the rows",
        how=ReadOptions(na=("none",)),
    ),
    text(
        "postcodes",
        "zip,b\n01234,5\n10115,6\nNA,7\n",
        {"zip": ["01234", "10115", None], "b": [5, 6, 7]},
        "leading zeros kept in columns? zip: read as codes",
        "'NA' read as missing: 1 cell",
    ),
    text(
        "postcodes and a word",
        "zip;b\n01234;5\nn/a;6\n10115;7\n",
        {"zip": ["01234", "n/a", "10115"], "b": [5, 6, 7]},
        SEMICOLONS,
    ),
    text(
        "leading zeros everywhere",
        "a,b,c,d\n001,002,003,010\n011,012,013,100\n",
        {"a": [1, 11], "b": [2, 12], "c": [3, 13], "d": [10, 100]},
        "leading zeros in 4 columns; read as numbers",
    ),
    text(
        "a table of R",
        '"len" "dose" "supp"\n"1" 4.2 0.5 "V C"\n"2" 11.5 1 "O J"\n',
        {"row_name": [1, 2], "len": [4.2, 11.5], "dose": [0.5, 1.0], "supp": ["V C", "O J"]},
        "columns are separated by spaces",
        "one name fewer",
        name="t.txt",
    ),
    text("-999 among such numbers", "a,b\n-900,5\n-999,6\n-950,7\n", {"a": [-900, -999, -950], "b": [5, 6, 7]}),
    text("comments", "# made by x\n# on a day\n" + PLAIN, AB, "2 comment lines above"),
    text("a comment with commas", "# made by x, y and z\n" + PLAIN, AB, "1 comment line above"),
    text("names behind a hash", "#a,b\n1,2\n3,4\n", {"#a": [1, 3], "b": [2, 4]}),
    text("a title", "Results of 2020\n" + PLAIN, AB, "is a title, not used as data: 'Results of 2020'"),
    text("a title and a blank line", "Results of 2020\n\n" + PLAIN, AB, "is a title"),
    text(
        "a title as spreadsheets write it",
        "Results,,\n,,\nx,y,z\n1,2,3\n4,5,6\n",
        {"x": [1, 4], "y": [2, 5], "z": [3, 6]},
        "is a title",
    ),
    text(
        "no header",
        "5.1,3.5,setosa\n4.9,3.0,setosa\n",
        {"1": [5.1, 4.9], "2": [3.5, 3.0], "3": ["setosa", "setosa"]},
        FIRST,
    ),
    text("no header, whole numbers", "5,3\n4,9\n7,7\n", {"1": [5, 4, 7], "2": [3, 9, 7]}, FIRST),
    text("numbers as names by option", "5,3\n4,9\n7,7\n", {"5": [4, 7], "3": [9, 7]}, how=ReadOptions(has_header=True)),
    text("no header by option", "a,b\nc,d\n", {"1": ["a", "c"], "2": ["b", "d"]}, how=ReadOptions(header=False)),
    text(
        "units",
        "height,weight,name\ncm,kg,\n170,60,x\n180,70,y\n",
        {"height": [170, 180], "weight": [60, 70], "name": ["x", "y"]},
        r"has units \(cm, kg\)",
    ),
    text("trailing separators", "a,b,\n1,2.5,\n2,-1,\n3,0,\n", AB, "lines end in a separator"),
    text("trailing separators in the rows", "a,b\n1,2.5,\n2,-1,\n3,0,\n", AB, "lines end in a separator"),
    text("trailing separators in the header", "a,b,\n1,2.5\n2,-1\n3,0\n", AB),
    text(
        "row names of R",
        '"a","b"\n"x",1,2\n"y",3,4\n',
        {"row_name": ["x", "y"], "a": [1, 3], "b": [2, 4]},
        "first column is named 'row_name'",
    ),
    text(
        "an empty name",
        ",b\nx,1\ny,2\n",
        {"column_1": ["x", "y"], "b": [1, 2]},
        "1 column without a name is named column_1",
    ),
    text(
        "a repeated name",
        "a,a,a_2\n1,2,3\n4,5,6\n",
        {"a": [1, 4], "a_3": [2, 5], "a_2": [3, 6]},
        "made different: 'a' -> 'a_3'",
    ),
    text("spaces around names", "a, b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    text("blank lines", "a,b\n\n1,2.5\n\n2,-1\n  \n3,0\n", AB, "3 blank lines between the rows left out"),
    text(
        "single quotes",
        "a,t\n1,'x, y'\n2,'z'\n3,'w'\n",
        {"a": [1, 2, 3], "t": ["x, y", "z", "w"]},
        "single quotes stand around cells",
    ),
    text(
        "spaces between columns",
        "  x   y\n 1.0  2\n 3.5 40\n",
        {"x": [1.0, 3.5], "y": [2, 40]},
        "columns are separated by spaces",
        name="t.dat",
    ),
    text("old line ends of Macs", PLAIN.replace("\n", "\r"), AB, "lines end in carriage returns alone"),
    text("mixed line ends", "a,b\r\n1,2.5\r2,-1\n3,0\r\n", AB, "some lines end in carriage returns alone"),
    text("zero bytes", "a,b\n1,2.5\n2,-1\0\n3,0\n", AB, "1 zero byte in the text left out"),
    text("latin-1", "größe,b\n1,2\n3,4\n", {"größe": [1, 3], "b": [2, 4]}, LATIN, encoding="latin-1"),
    text("UTF-16", PLAIN, AB, "read as UTF-16, by its byte order mark", encoding="utf-16"),
    Messy("UTF-16 without a mark", PLAIN.encode("utf-16-le"), AB, ("read as UTF-16 without a byte order mark",)),
    Messy("UTF-16, the other order", codecs.BOM_UTF16_BE + PLAIN.encode("utf-16-be"), AB, ("read as UTF-16",)),
    text("UTF-32", PLAIN, AB, "read as UTF-32", encoding="utf-32"),
    text("text in a file without an extension", PLAIN, AB, name="t"),
    text("text with an unknown extension", PLAIN, AB, name="t.xyz"),
    text(
        "text called xls",
        PLAIN.replace(",", "\t"),
        AB,
        "the file is delimited text, whatever its extension .xls says",
        "separated by tabs",
        name="t.xls",
    ),
    text(
        "a wide table",
        ",".join(f"c{i}" for i in range(9000)) + "\n" + ("1," * 9000)[:-1] + "\n",
        {f"c{i}": [1] for i in range(9000)},
    ),
]

ERRORS = [
    wrong("a quote that is not closed", b'a,b\n-1,234",1.5\n"', "the quotation mark in line 3 is never closed"),
    wrong("a quotation of the rest of the file", 'a,b\n1,2\n3,"4\n5,6\n', "mark in line 3 is never closed"),
    text(
        "a sign for inches",
        'a,b\n5",2\n7",3\n8,\n',
        {"a": ['5"', '7"', "8"], "b": [2.0, 3.0, None]},
        "quotation marks inside cells are part of the text",
    ),
    wrong(
        "a numpy array with a damaged header", saved(np.save, np.eye(2)).replace(b"}", b" "), "cannot be read as csv"
    ),
    text("a comment and nothing else", "#a,b\r\n\n", {"#a": [], "b": []}),
    wrong("only separators", ",,\n \n,,\n", "has no cells, only separators"),
    wrong("JSON of rows with a bracket too many", "[[1, 2],  -1], [3, 0]]", "line 1 is not JSON", name="t.json"),
    wrong("JSON nested too deeply", "[" * 100_000, "cannot be read as json|is not JSON", name="t.json"),
    wrong("empty", b"", r"t\.csv is empty\."),
    wrong("only blank lines", "\n \n\r\n", "is empty"),
    wrong("only a byte order mark", b"\xef\xbb\xbf", "is empty"),
    wrong(
        "binary garbage", np.random.default_rng(0).integers(0, 256, 4000, dtype=np.uint8).tobytes(), "has binary data"
    ),
    wrong("a line too long", "a,b\n1,2\n3,4,5\n5,6\n", "line 3 has 3 fields; 2 are expected"),
    wrong("a line too short", "a,b,c\n1,2,3\n\n3,4\n5,6,7\n", "line 4 has 2 fields; 3 are expected"),
    wrong("a line too short after a cell of two lines", 'a,b,c\n"x\ny",2,3\n3,4\n5,6,7\n', "line 4 has 2 fields"),
    wrong("a cut file", "a,b,c\n1,2,3\n4,5,6\n7\n", "line 4 has 1 fields"),
    wrong(
        "damaged UTF-8",
        "größe,b,ü\n1,2,ö\n".encode() + b"3,4,\xff\n",
        "1 bytes are not UTF-8, though the other text is",
    ),
    wrong("a web page", "<!DOCTYPE html><html><table></table></html>", "is a web page or XML, not a table"),
    wrong("a PDF", b"%PDF-1.7 ...", "is a PDF document; save the table as CSV"),
    wrong("an image", b"\x89PNG\r\n\x1a\n" + bytes(50), "is one image; give the folder"),
    wrong("a database", b"SQLite format 3\0" + bytes(50), "export the table as CSV"),
    wrong(
        "bytes of an unknown kind", bytes(range(256)) * 4, "is not supported and the content is not known", name="t.bin"
    ),
    wrong(
        "an archive of two files",
        zipped({"a.csv": "a\n1\n", "b.csv": "a\n1\n"}),
        "must hold one file; it holds 2: a.csv, b.csv",
        name="t.zip",
    ),
    wrong(
        "a text document",
        zipped({"word/document.xml": "x"}),
        "is a text document; save the table as CSV",
        name="t.docx",
    ),
    wrong("damaged gzip", gzip.compress(PLAIN.encode())[:-12], "cannot be unpacked", name="t.csv.gz"),
    wrong("JSON that ends early", '[{"a": 1}, {"a": 2}', "is not JSON: line 1, character 20", name="t.json"),
    wrong("a line that is not JSON", '{"a": 1}\n{"a": \n', "line 2 is not JSON", name="t.jsonl"),
    wrong("JSON without records", "[1, 2, 3]", "must be an array of records", name="t.json"),
    wrong("rubbish called xlsx", b"\x00\x01\x02" * 50, "cannot be read as", name="t.xlsx"),
    wrong("an unknown encoding", PLAIN, "--encoding 'klingon' is not known", how=ReadOptions(encoding="klingon")),
]

PACKED = [
    Messy("gzip", gzip.compress(PLAIN.encode()), AB, name="t.csv.gz"),
    Messy("bzip2", bz2.compress(PLAIN.encode()), AB, name="t.csv.bz2"),
    Messy("xz", lzma.compress(PLAIN.encode()), AB, name="t.csv.xz"),
    Messy("a zip archive", zipped({"t.csv": PLAIN}), AB, name="t.zip"),
    Messy("a zip archive of a Mac", zipped({"t.csv": PLAIN, "__MACOSX/._t.csv": "x"}), AB, name="t.csv.zip"),
    Messy("gzip called csv", gzip.compress(PLAIN.encode()), AB, (r"the file is compressed \(gzip\)",)),
    Messy("csv called gzip", PLAIN.encode(), AB, ("the file is not compressed",), name="t.csv.gz"),
    Messy("tabs in gzip", gzip.compress(PLAIN.replace(",", "\t").encode()), AB, name="t.tsv.gz"),
    Messy("Parquet in gzip", gzip.compress(saved(lambda out: FRAME.write_parquet(out))), AB, name="t.parquet.gz"),
    Messy(
        "Parquet called csv",
        saved(lambda out: FRAME.write_parquet(out)),
        AB,
        ("the file is Parquet, whatever its extension .csv",),
    ),
    Messy("Arrow called csv", saved(lambda out: FRAME.write_ipc(out)), AB, ("the file is Arrow",)),
    Messy("an Arrow stream", saved(lambda out: FRAME.write_ipc_stream(out)), AB, name="t.arrows"),
    Messy(
        "numpy called csv",
        saved(np.save, np.eye(2)),
        {"1": [1.0, 0.0], "2": [0.0, 1.0]},
        ("the file is a numpy array",),
    ),
]

RECORDS = [
    text("JSON lines", '{"a": 1, "b": 2.5}\n{"a": 2, "b": -1}\n\n{"a": 3, "b": 0}\n', AB, name="t.jsonl"),
    text("JSON", '[{"a": 1, "b": 2.5}, {"a": 2, "b": -1}, {"a": 3, "b": 0}]', AB, name="t.json"),
    text("JSON lines called json", '{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}, name="t.json"),
    text("JSON called csv", '[{"a": 1}, {"a": 2}]', {"a": [1, 2]}, "the file is JSON, whatever its extension"),
    text("JSON of columns", '{"a": [1, 2, 3], "b": [2.5, -1, 0]}', AB, name="t.json"),
    text("JSON of rows", "[[1, 2.5], [2, -1], [3, 0]]", {"1": [1, 2, 3], "2": [2.5, -1, 0]}, name="t.json"),
    text(
        "records inside an object",
        '{"count": 2, "data": [{"a": 1}, {"a": 2}]}',
        {"a": [1, 2]},
        "records read from 'data'",
        name="t.json",
    ),
    text(
        "objects inside records",
        '[{"a": {"x": 1, "y": "u"}}, {"a": {"x": 2, "y": "v"}}]',
        {"a.x": [1, 2], "a.y": ["u", "v"]},
        "columns such as a.x, a.y",
        name="t.json",
    ),
    text(
        "records with other fields",
        '[{"a": 1}, {"a": 2, "b": 3}]',
        {"a": [1, 2], "b": [None, 3]},
        "1 fields that some records",
        name="t.json",
    ),
    text("a field of several types", '[{"a": 1}, {"a": "x"}, {"a": null}]', {"a": ["1", "x", None]}, name="t.json"),
    text(
        "a field of numbers and a word",
        '[{"a": 1.5}, {"a": "n/a"}]',
        {"a": [1.5, None]},
        "'n/a' read as missing",
        name="t.json",
    ),
    text(
        "long whole numbers",
        '[{"a": 12345678901234567890}, {"a": 1}]',
        {"a": ["12345678901234567890", "1"]},
        name="t.json",
    ),
]

SQUARE = {"x": [0, 1, 2], "y": [1, 0, 3], "z": [2, 3, 0]}
THREE = {"1": [0, 1, 2], "2": [1, 0, 3], "3": [2, 3, 0]}
SYMMETRIC = "symmetric with a zero diagonal.*: distances between 3 items"
PHYLIP = "a PHYLIP matrix: distances between 3 items"
CORRELATED = {"a": [0, 1, 2], "b": [1, 0, 0.5], "c": [2, 0.5, 0]}
SIMILAR = (
    r"with 1 on the diagonal: similarities between 3 items, taken as the distances sqrt\(2 - 2s\) \(--distances no"
)
LOWER_HOW = ReadOptions(distances="lower")
LOWER = "a lower triangle: distances between 3 items"
DISTANCES = [
    text("square", "x,y,z\n0,1,2\n1,0,3\n2,3,0\n", SQUARE, SYMMETRIC),
    text("square with names", ",x,y,z\nx,0,1,2\ny,1,0,3\nz,2,3,0\n", SQUARE, "without a name", SYMMETRIC),
    text(
        "square with numbers as names",
        "id,7,8,9\n7,0,1,2\n8,1,0,3\n9,2,3,0\n",
        {"7": [0, 1, 2], "8": [1, 0, 3], "9": [2, 3, 0]},
        SYMMETRIC,
    ),
    text("square without names", "0,1,2\n1,0,3\n2,3,0\n", THREE, FIRST, SYMMETRIC),
    text("columns in another order", "item,z,x,y\nx,2,0,1\ny,3,1,0\nz,0,2,3\n", SQUARE, SYMMETRIC),
    text("one side of a square", "item,x,y,z\nx,0,1,2\ny,,0,3\nz,,,0\n", SQUARE, "one side of which is given"),
    text("the lower side of a square", ",x,y,z\nx,0,,\ny,1,0,\nz,2,3,0\n", SQUARE, LOWER),
    text("a lower triangle", "0\n1 0\n2 3 0\n", THREE, LOWER, name="t.txt"),
    text("a lower triangle with names", "x,0\ny,1,0\nz,2,3,0\n", SQUARE, LOWER),
    text("a lower triangle without its diagonal", "1\n2,3\n", THREE, LOWER, how=ReadOptions(distances="lower")),
    text("PHYLIP", "3\nx 0 1 2\ny 1 0 3\nz 2 3 0\n", SQUARE, PHYLIP, name="t.phy"),
    text("PHYLIP, lower triangle", "   3\nx\ny  1\nz  2 3\n", SQUARE, PHYLIP, name="t.dist"),
    text(
        "condensed",
        "d\n1\n2\n3\n",
        THREE,
        "condensed distances between 3 items",
        how=ReadOptions(distances="condensed"),
    ),
    text(
        "pairs",
        "from,to,d\nx,y,1\nx,z,2\nz,y,3\n",
        SQUARE,
        "distances between 3 items from 3 pairs",
        how=ReadOptions(distances="pairs"),
    ),
    text(
        "pairs, one unknown",
        "from,to,d\nx,y,1\nz,y,3\n",
        {"x": [0, 1, None], "y": [1, 0, 3], "z": [None, 3, 0]},
        "from 2 pairs",
        "1 pair of items has no distance",
        how=ReadOptions(distances="pairs"),
    ),
    text("all pairs", "from,to,d\nx,y,1\nx,z,2\nz,y,3\n", SQUARE, "every pair once: distances between 3 items from 3"),
    text("all pairs, the number first", "d,a,b\n1,x,y\n2,x,z\n3,y,z\n", SQUARE, "every pair once"),
    text(
        "all pairs in both directions",
        "a,b,d\nx,y,1\ny,x,1\nx,z,2\nz,x,2\ny,z,3\nz,y,3\n",
        SQUARE,
        "every pair once: distances between 3 items from 6",
    ),
    text(
        "all pairs of numbers", "i,j,d\n1,2,1.5\n1,3,2\n2,3,3\n", {**THREE, "1": [0, 1.5, 2], "2": [1.5, 0, 3]}, "pairs"
    ),
    text(
        "rounded on both sides",
        "x,y,z\n0,1.2,2.5\n1.3,0,3.5\n2.5,3.5,0\n",
        {"x": [0, 1.25, 2.5], "y": [1.25, 0, 3.5], "z": [2.5, 3.5, 0]},
        r"sides differ by up to 0\.1, as rounding does; the mean is used",
    ),
    text(
        "an unknown pair",
        "item,x,y,z\nx,0,1,\ny,1,0,3\nz,,3,0\n",
        {"x": [0, 1, None], "y": [1, 0, 3], "z": [None, 3, 0]},
        SYMMETRIC,
        "1 pair of items has no distance",
    ),
    text("a cell that the other side has", "item,x,y,z\nx,0,1,\ny,1,0,3\nz,2,3,0\n", SQUARE, SYMMETRIC),
    text("the upper side without names", "0,1,2\n,0,3\n,,0\n", THREE, FIRST, "one side of which is given"),
    text(
        "the lower side with NA",
        "item,x,y,z\nx,0,NA,NA\ny,1,0,NA\nz,2,3,0\n",
        SQUARE,
        "one side of which is given",
        "'NA' read as missing: 3 cells",
    ),
    text("the lower side with zeros by option", "x,y,z\n0,0,0\n1,0,0\n2,3,0\n", SQUARE, "between 3", how=LOWER_HOW),
    text(
        "write.table of R",
        '"x" "y" "z"\n"x" 0 1 2\n"y" 1 0 3\n"z" 2 3 0\n',
        SQUARE,
        "separated by spaces",
        "one name fewer",
        SYMMETRIC,
        name="t.txt",
    ),
    text("distances as R prints them", "  x y\ny 1  \nz 2 3\n", SQUARE, LOWER, name="t.txt"),
    text("distances as R prints them, numbered", "  1 2\n2 1  \n3 2 3\n", THREE, LOWER, name="t.txt"),
    text("distances as R prints them with zeros", "  x y z\nx 0    \ny 1 0  \nz 2 3 0\n", SQUARE, LOWER, name="t.txt"),
    text(
        "distances as R prints them with zeros, numbered",
        "  1 2 3\n1 0    \n2 1 0  \n3 2 3 0\n",
        THREE,
        LOWER,
        name="t.txt",
    ),
    text("correlations", "a,b,c\n1,.5,-1\n.5,1,.875\n-1,.875,1\n", CORRELATED, SIMILAR),
    text("correlations with names", "v,a,b,c\na,1,.5,-1\nb,.5,1,.875\nc,-1,.875,1\n", CORRELATED, SIMILAR),
    text("correlations, one side", "v,a,b,c\na,1,,\nb,.5,1,\nc,-1,.875,1\n", CORRELATED, SIMILAR),
    text(
        "similarities in percent",
        "v,a,b,c\na,100,50,98\nb,50,100,68\nc,98,68,100\n",
        {"a": [0, 10, 2], "b": [10, 0, 8], "c": [2, 8, 0]},
        r"100 on the diagonal.*sqrt\(200 - 2s\)",
    ),
    text(
        "covariances by option",
        "a,b,c\n4,2,0\n2,9,0\n0,0,5\n",
        {"a": [0, 3, 3], "b": [3, 0, 14**0.5], "c": [3, 14**0.5, 0]},
        r"sqrt\(s_ii \+ s_jj - 2 s_ij\)",
        how=ReadOptions(distances="similarities"),
    ),
]
DISTANCES = [Messy(**{**entry.__dict__, "kind": "distances"}) for entry in DISTANCES]
NOT_DISTANCES = [
    text("square by option is a table", "x,y,z\n0,1,2\n1,0,3\n2,3,0\n", SQUARE, how=ReadOptions(distances="no")),
    text(
        "not symmetric",
        "x,y,z\n0,1,2\n1,0,3\n2,4,0\n",
        {**SQUARE, "y": [1, 0, 4]},
        "not symmetric .'y' to 'z' is 3 and back 4.: read as rows.*--distances square",
    ),
    text(
        "one side of zeros",
        "x,y,z\n0,0,0\n1,0,0\n2,3,0\n",
        {"x": [0, 1, 2], "y": [0, 0, 3], "z": [0, 0, 0]},
        "zeros on the diagonal and on one side of it: read as rows .--distances lower",
    ),
    text(
        "covariances",
        "v,a,b,c\na,4,2,0\nb,2,9,0\nc,0,0,5\n",
        {"v": ["a", "b", "c"], "a": [4, 2, 0], "b": [2, 9, 0], "c": [0, 0, 5]},
        "square and symmetric: read as 3 rows.*--distances similarities",
    ),
    text(
        "a symmetric table of zeros and ones",
        "a,b,c\n0,1,1\n1,0,0\n1,0,0\n",
        {"a": [0, 1, 1], "b": [1, 0, 0], "c": [1, 0, 0]},
        "two different numbers only: read as 3 rows .--distances square",
    ),
    text(
        "correlations by option are rows",
        "a,b,c\n1,.5,-1\n.5,1,.875\n-1,.875,1\n",
        {"a": [1, 0.5, -1], "b": [0.5, 1, 0.875], "c": [-1, 0.875, 1]},
        how=ReadOptions(distances="no"),
    ),
    text(
        "some pairs",
        "a,b,d\nx,y,1\ny,z,2\nz,w,3\n",
        {"a": ["x", "y", "z"], "b": ["y", "z", "w"], "d": [1, 2, 3]},
        "two of the same 4 items and has a number: read as rows .--distances pairs",
    ),
    text(
        "two texts that are no pairs",
        "sex,town,d\nm,Rome,1\nf,Oslo,2\nm,Oslo,3\n",
        {"sex": ["m", "f", "m"], "town": ["Rome", "Oslo", "Oslo"], "d": [1, 2, 3]},
    ),
    wrong(
        "similarities with a small diagonal",
        "a,b,c\n1,2,0\n2,1,0\n0,0,5\n",
        "the largest of its row; of some item it is smaller",
        how=ReadOptions(distances="similarities"),
    ),
    wrong(
        "not symmetric, asked for",
        "x,y,z\n0,1,2\n1,0,3\n2,4,0\n",
        "'y' to 'z' is 3 and back 4",
        how=ReadOptions(distances="square"),
    ),
    wrong(
        "not square, asked for",
        PLAIN,
        "as many columns of numbers as rows; got 3 rows and 2",
        how=ReadOptions(distances="square"),
    ),
    wrong(
        "four condensed", "d\n1\n2\n3\n4\n", r"are n\(n - 1\)/2 numbers.*got 4", how=ReadOptions(distances="condensed")
    ),
    wrong(
        "a pair with two distances",
        "a,b,d\nx,y,1\ny,x,2\n",
        "'y', 'x' has two distances, 1 and 2",
        how=ReadOptions(distances="pairs"),
    ),
    wrong("pairs of two columns", PLAIN, "needs three columns", how=ReadOptions(distances="pairs")),
    wrong(
        "no triangle", "1,2\n3\n4,5,6\n", "--distances lower needs lines of 1, 2, 3", how=ReadOptions(distances="lower")
    ),
    wrong("an unknown form", PLAIN, "--distances must be one of square, lower", how=ReadOptions(distances="round")),
]

STORED = sparse.csr_array(np.array([[0.0, 2.5], [1.0, 0.0], [0.0, 0.0]]))
SPARSE = "a sparse matrix of scipy: cells that are not stored are 0"
OF_PEOPLE = [
    *(
        Messy(f"sparse {form}", saved(sparse.save_npz, STORED.asformat(form)),
              {"1": [0.0, 1.0, 0.0], "2": [2.5, 0.0, 0.0]}, (SPARSE,), name="t.npz")
        for form in ("csr", "csc", "coo")
    ),
    wrong("sparse with indices outside",
          saved(lambda out: np.savez(
              out, indices=np.array([9, 0], np.int32), indptr=np.array([0, 1, 2, 2], np.int32), format=b"csr",
              shape=np.array([3, 2]), data=STORED.data)),
          "cannot be read as npz", name="t.npz"),
    wrong("sparse and far too large",
          saved(lambda out: np.savez(
              out, indices=np.array([1], np.int32), indptr=np.array([0, 1], np.int32), format=b"csr",
              shape=np.array([10**8, 10**6]), data=np.array([1.0]))),
          "cells", name="t.npz"),
    text("dates in two ways", "day,v\n2024-01-03,1\n13.02.2024,2\n2024-05-06,3\n",
         {"day": ["2024-01-03", "13.02.2024", "2024-05-06"], "v": [1, 2, 3]}),
    text("a line of totals", "name,v\na,1\nb,2\nTotal,3\n", {"name": ["a", "b", "Total"], "v": [1, 2, 3]}),
    text("spellings", "plan,v\nbasic,1\nBasic,2\nbasic ,3\n", {"plan": ["basic", "Basic", "basic "], "v": [1, 2, 3]}),
]  # fmt: skip

MESSY = [*CLEAN, *TEXT, *ERRORS, *PACKED, *RECORDS, *DISTANCES, *NOT_DISTANCES, *OF_PEOPLE]
