"""Published tables of dissimilarities and similarities, for multidimensional scaling."""

from __future__ import annotations

import numpy as np

from lowdim.datasets.dataset import Dataset

_CITIES = {  # longitude and latitude in degrees
    "Athens": (23.73, 37.98),
    "Barcelona": (2.17, 41.39),
    "Brussels": (4.35, 50.85),
    "Calais": (1.86, 50.95),
    "Cherbourg": (-1.62, 49.64),
    "Cologne": (6.96, 50.94),
    "Copenhagen": (12.57, 55.68),
    "Geneva": (6.15, 46.20),
    "Gibraltar": (-5.35, 36.14),
    "Hamburg": (9.99, 53.55),
    "Hook of Holland": (4.13, 51.98),
    "Lisbon": (-9.14, 38.72),
    "Lyons": (4.84, 45.76),
    "Madrid": (-3.70, 40.42),
    "Marseilles": (5.37, 43.30),
    "Milan": (9.19, 45.46),
    "Munich": (11.58, 48.14),
    "Paris": (2.35, 48.86),
    "Rome": (12.50, 41.90),
    "Stockholm": (18.07, 59.33),
    "Vienna": (16.37, 48.21),
}

# Each line: a city's distances to those before it, in the order above.
_ROADS = """
3313
2963 1318
3175 1326 204
3339 1294 583 460
2762 1498 206 409 785
3276 2218 966 1136 1545 760
2610 803 677 747 853 1662 1418
4485 1172 2256 2224 2047 2436 3196 1975
2977 2018 597 714 1115 460 460 1118 2897
3030 1490 172 330 731 269 269 895 2428 550
4532 1305 2084 2052 1827 2290 2971 1936 676 2671 2280
2753 645 690 739 789 714 1458 158 1817 1159 863 1178
3949 636 1558 1550 1347 1764 2498 1439 698 2198 1730 668 1281
2865 521 1011 1059 1101 1035 1778 425 1693 1479 1183 1762 320 1157
2282 1014 925 1077 1209 911 1537 328 2185 1238 1098 2250 328 1724 618
2179 1365 747 977 1160 583 1104 591 2565 805 851 2507 724 2010 1109 331
3000 1033 285 280 340 465 1176 513 1971 877 457 1799 471 1273 792 856 821
817 1460 1511 1662 1794 1497 2050 995 2631 1751 1683 2700 1048 2097 1011 586 946 1476
3927 2868 1616 1786 2196 1403 650 2068 3886 949 1500 3231 2108 3188 2428 2187 1754 1827 2707
1991 1802 1175 1381 1588 937 1455 1019 2974 1155 1205 2937 1157 2409 1363 898 428 1249 1209 2105
"""

_SIGNALS = """
A .- B -... C -.-. D -.. E . F ..-. G --. H .... I .. J .--- K -.- L .-.. M -- N -. O --- P .--. Q --.- R .-.
S ... T - U ..- V ...- W .-- X -..- Y -.-- Z --.. 1 .---- 2 ..--- 3 ...-- 4 ....- 5 ..... 6 -.... 7 --... 8 ---..
9 ----. 0 -----
"""
_CODES = dict(zip(_SIGNALS.split()[::2], _SIGNALS.split()[1::2], strict=True))

# Each line: how often, in per cent, a signal was confused with each of those before it.
_CONFUSIONS = """
5
5 38
11 47 17
5 9 9 7
9 40 31 21 2
10 18 20 39 3 12
8 33 15 31 7 31 7
55 6 9 11 14 7 6 11
6 14 29 11 2 29 20 8 4
14 29 31 77 3 17 29 10 5 25
3 55 39 51 8 37 14 28 13 31 30
25 9 10 11 6 12 22 7 11 10 17 7
33 7 8 19 6 9 12 12 22 3 14 5 61
7 10 15 8 5 10 69 8 5 30 29 10 8 7
6 22 42 20 3 39 37 13 3 71 14 42 8 8 29
9 23 36 10 5 14 17 7 4 37 27 31 11 6 29 47
24 15 20 34 8 35 24 16 13 12 22 31 17 20 11 26 10
20 21 10 30 9 20 5 48 26 3 8 11 6 15 5 8 3 17
10 6 4 6 57 3 5 5 15 7 8 6 8 8 5 8 4 3 8
26 24 9 25 4 27 13 35 16 8 34 24 12 15 9 16 9 32 54 7
9 26 18 18 6 28 10 49 5 10 22 31 4 3 12 18 12 20 18 6 45
13 15 22 25 6 31 29 12 6 17 31 19 18 9 26 20 19 62 12 4 27 19
10 74 39 30 4 24 16 20 2 29 57 37 10 6 30 26 49 12 11 3 15 37 22
8 27 72 15 5 27 23 12 3 31 14 20 12 11 21 36 51 9 7 3 8 24 23 46
3 44 42 26 4 18 28 11 7 26 20 55 10 7 21 45 68 14 6 5 10 11 17 31 33
2 9 12 3 4 7 14 4 2 48 5 13 7 6 17 32 31 8 6 4 5 11 12 15 23 19
7 16 19 7 4 18 14 6 15 46 9 14 5 3 17 41 30 8 4 4 6 12 17 19 37 17 63
4 11 26 6 5 40 6 14 5 28 12 15 6 3 6 31 18 11 5 5 10 22 13 23 33 20 16 59
6 30 17 12 6 25 12 30 8 18 11 17 5 4 5 14 21 8 12 3 26 67 12 32 20 6 7 23 38
8 39 13 12 4 36 4 69 7 11 6 34 4 2 5 14 8 8 28 3 12 45 6 31 11 10 12 8 27 56
7 77 30 18 3 24 7 25 5 11 15 28 7 4 13 17 29 12 12 6 11 33 9 58 32 32 12 14 34 34 30
6 38 25 11 5 23 12 11 6 26 14 34 9 4 11 30 40 10 6 5 6 19 10 30 26 58 21 25 17 24 18 65
5 20 32 8 3 10 19 5 2 31 12 15 5 4 13 18 52 6 6 5 7 9 6 20 34 49 37 25 17 13 10 22 65
3 9 21 4 2 6 17 4 3 28 6 7 13 11 15 28 35 3 6 11 5 2 6 14 22 20 57 28 9 8 5 8 31 59
6 4 12 4 4 6 13 4 5 27 7 3 3 3 19 17 27 2 3 5 4 4 5 9 16 18 53 19 10 7 5 18 15 39 80
"""


def eurodist() -> Dataset:
    """Road distances between 21 European cities in kilometres, from which a map can be reconstructed.

    Roads go around mountains and seas, so the distances are not Euclidean: classical scaling has negative
    eigenvalues, and Athens, far by road, is too far away in the map.

    Returns
    -------
    Dataset
        X is the square table of distances, for ``metric="precomputed"``; coordinates are longitude and latitude in
        degrees; each city is a class of its own, named in ``label_names``.

    Notes
    -----
    The distances are those of the data set of the same name in R, taken there from The Cambridge Encyclopaedia, and
    not corrected. Some are wrong: five are shorter than the straight line (Copenhagen to Hook of Holland, 269 km, by
    420 km), and Cologne to Geneva, 1662 km, is three times as long as the straight line.

    Examples
    --------
    >>> from lowdim.datasets import eurodist
    >>> roads = eurodist()
    >>> roads.label_names[17], roads.label_names[18], int(roads.X[17, 18])
    ('Paris', 'Rome', 1476)
    """
    return _items(
        _symmetric(_ROADS, 0.0),
        np.array(list(_CITIES.values())),
        tuple(_CITIES),
        name="eurodist",
        description="Road distances between 21 European cities in kilometres.",
        coordinate_names=("longitude", "latitude"),
    )


def morse() -> Dataset:
    """How often 36 signals of the Morse code were confused with each other: similarities, in per cent.

    People who did not know the code heard two signals and judged whether they were the same. Shepard's map (1963)
    shows two properties that people hear: the length of a signal, and its share of dashes.

    Returns
    -------
    Dataset
        X is the square table of similarities (answers "same" in per cent, the mean of both orders), to be turned into
        dissimilarities: ``lowdim.dissimilarities(X, conversion=100)``; its diagonal is set to 100. Coordinates are the
        number of dots and dashes and the share of dashes; each signal is a class of its own, named in ``label_names``.

    Notes
    -----
    The experiment is Rothkopf's, A measure of stimulus similarity and errors in some paired-associate learning tasks
    (1957), Journal of Experimental Psychology 53; the symmetric table is the one that the R package smacof ships.

    Examples
    --------
    >>> from lowdim.datasets import morse
    >>> signals = morse()
    >>> signals.label_names[0], signals.label_names[8], int(signals.X[0, 8])
    ('A .-', 'I ..', 55)
    """
    codes = list(_CODES.values())
    return _items(
        _symmetric(_CONFUSIONS, 100.0),
        np.array([[len(code), code.count("-") / len(code)] for code in codes]),
        tuple(f"{letter} {code}" for letter, code in _CODES.items()),
        name="morse",
        description="How often 36 signals of the Morse code were confused with each other, in per cent.",
        coordinate_names=("length", "share of dashes"),
    )


def _symmetric(lines: str, diagonal: float) -> np.ndarray:
    """The square table of a lower triangle."""
    rows = [line.split() for line in lines.strip().splitlines()]
    table = np.diag(np.full(len(rows) + 1, diagonal))
    for i, row in enumerate(rows, 1):
        table[i, :i] = table[:i, i] = np.array(row, dtype=np.float64)
    return table


def _items(
    table: np.ndarray,
    coordinates: np.ndarray,
    names: tuple[str, ...],
    *,
    name: str,
    description: str,
    coordinate_names: tuple[str, ...],
) -> Dataset:
    return Dataset(
        X=table,
        coordinates=coordinates,
        labels=np.arange(len(names)),
        name=name,
        description=description,
        coordinate_names=coordinate_names,
        noise_free=table,
        label_names=names,
    )
