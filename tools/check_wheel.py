"""Try an installed wheel: maps, new rows, a model file, a verdict. Usage: python tools/check_wheel.py

Run it where nothing but lowdim and what it needs is installed; it imports no test library and reads no file of the
repository.
"""

import sys
import sysconfig
import tempfile
import time
from pathlib import Path

start = time.perf_counter()

import lowdim  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


def main():
    assert not Path(lowdim.__file__).is_relative_to(ROOT / "src"), lowdim.__file__
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        from lowdim import _native  # noqa: F401

        assert not sys._is_gil_enabled(), "importing lowdim has switched the interpreter's lock on"
    roll = lowdim.datasets.swiss_roll(400, random_state=0)
    for model in (lowdim.PCA(2), lowdim.Isomap(2, n_neighbors=8), lowdim.TSNE(2, random_state=0), lowdim.MDS(2)):
        Z = model.fit_transform(roll.X)
        assert Z.shape == (400, 2), model
        print(f"{type(model).__name__} after {time.perf_counter() - start:.1f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        model = lowdim.PCA(2).fit(roll.X)
        lowdim.save(model, Path(folder) / "pca.lowdim")
        again = lowdim.load(Path(folder) / "pca.lowdim")
        assert (again.transform(roll.X) == model.transform(roll.X)).all()
    print(lowdim.quality.rnx_auc(roll.X, Z))


if __name__ == "__main__":
    main()
