"""Import times

Time of a process that imports a library and ends. *python* is the empty process.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.case import Contender

sizes = {"quick": [{"what": "import"}], "full": [{"what": "import"}]}


def data(size):
    return {}


def importing(statement):
    def prepare(data, size, threads):
        def run():
            subprocess.run([sys.executable, "-c", statement], check=True)
            return {}

        run()  # files are read from the disk once
        return run

    return prepare


def library(name):
    return Contender(importing(f"import {name}"), name)


ours = {
    "lowdim.Isomap": Contender(importing("from lowdim import Isomap"), "lowdim"),
    "lowdim": library("lowdim"),
}
peers = {
    "python": Contender(importing("pass"), "sys"),
    **{
        name: library(name)
        for name in (
            "numpy",
            "sklearn.decomposition",
            "sklearn.manifold",
            "pynndescent",
            "faiss",
            "hnswlib",
            "umap",
            "openTSNE",
        )
    },
}


def quality(data, size, results):
    return {}
