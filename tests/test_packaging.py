"""What gets installed: sdist, wheel, and the message where there is no compiler. Builds the package several times."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [pytest.mark.deep, pytest.mark.timeout(1200)]


def pip(*words, env=None, cwd=ROOT):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    code = f"import scikit_build_core.build as b; print(b.build_sdist({str(folder)!r}))"
    tools = tmp_path_factory.mktemp("tools")
    assert pip("install", "--quiet", "--target", tools, "scikit-build-core>=0.10").returncode == 0
    env = {**os.environ, "PYTHONPATH": str(tools)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.tar.gz"))


def test_the_sdist_is_complete_and_small(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"CMakeLists.txt", "LICENSE", "src/lowdim/_native/module.cpp", "src/lowdim/datasets/world.npz"} <= names
    assert not [
        name for name in names if name.endswith((".so", ".pyc")) or ".venv" in name or name.startswith("build/")
    ]
    assert sdist.stat().st_size < 5e6


def test_a_wheel_from_the_sdist_works_on_its_own(sdist, tmp_path):
    done = pip("wheel", "--no-deps", "--wheel-dir", tmp_path, sdist)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next(tmp_path.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith((".cpp", ".hpp"))]
    assert {
        "lowdim/_native.pyi",
        "lowdim/report/page/report.html",
        "lowdim/report/static/report.js",
        "lowdim/report/static/report.css",
    } <= set(names)
    site = tmp_path / "site"
    assert pip("install", "--quiet", "--no-deps", "--target", site, wheel).returncode == 0
    # The editable install's finder would come first: leave it out.
    code = (
        "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Redirecting' not in type(f).__name__];"
        f"sys.path.insert(0, {str(site)!r}); import lowdim; assert lowdim.__file__.startswith({str(site)!r});"
        "d = lowdim.datasets.world(); print(lowdim.Isomap(2).fit_transform(d.X[:200]).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert "(200, 2)" in done.stdout, done.stderr


def test_without_a_compiler_the_error_says_what_to_install(sdist, tmp_path):
    """A path with the usual tools but no compiler in it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "bash", "make", "uname", "env", "cat", "tar", "gzip", "ls", "dirname", "basename", "git"):
        for folder in ("/usr/bin", "/bin"):
            if (Path(folder) / name).exists():
                (tools / name).symlink_to(Path(folder) / name)
                break
    env = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "CFLAGS")} | {"PATH": str(tools)}
    done = pip("wheel", "--no-deps", "--wheel-dir", tmp_path / "out", sdist, env=env)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert "needs a C++17 compiler" in text
    assert "apt-get install g++" in text
