"""Make a virtual environment with lowdim in it; does nothing when it is up to date.

Usage: python tools/environment.py [--venv DIR] [--extra NAME] [--constraints FILE] [--editable]

Only the standard library: this runs before anything is installed. Quiet unless something goes wrong.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("c++", "g++", "clang++", "cl")


def fingerprint(options):
    """Changes whenever the environment has to be made again."""
    sources = [ROOT / "pyproject.toml", ROOT / "CMakeLists.txt", ROOT / options.constraints]
    sources += sorted((ROOT / "src" / "lowdim" / "_native").rglob("*.[ch]pp"))
    if not options.editable:
        sources += sorted(p for p in (ROOT / "src").rglob("*.*") if p.is_file() and p.suffix not in (".pyc", ".so"))
    digest = hashlib.sha256(f"{sys.version}|{options.extra}|{options.editable}|{ROOT}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def stop(message):
    sys.exit(f"lowdim: {message}")


def required(extra):
    """What lowdim[extra] needs beside itself; an extra may name others."""
    import tomllib  # an older Python than the package needs does not have it

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found, extras = list(project["dependencies"]), [extra]
    for name in extras:
        for each in project["optional-dependencies"][name]:
            if each.startswith("lowdim["):
                extras += each.removeprefix("lowdim[").rstrip("]").split(",")
            else:
                found.append(each)
    return sorted(set(found))


def run_side_by_side(commands, settings):
    # CMAKE_BUILD_PARALLEL_LEVEL is for make, where there is no ninja.
    env = {"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1), **os.environ, **settings}

    def run(command):
        return subprocess.run(command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    with ThreadPoolExecutor() as threads:
        for command, result in zip(commands, threads.map(run, commands), strict=True):
            if result.returncode:
                print(result.stdout)
                stop(f"this command failed (see above): {' '.join(map(str, command))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--venv", default=".venv")
    parser.add_argument("--extra", default="app")
    parser.add_argument("--constraints", default="constraints.txt")
    parser.add_argument("--editable", action="store_true")
    options = parser.parse_args()

    if sys.version_info < (3, 11):  # noqa: UP036 (whoever runs make may have an older one)
        stop(f"needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.12 ...")
    if not os.environ.get("CXX") and not any(map(shutil.which, COMPILERS)):
        stop(
            "needs a C++17 compiler. Debian/Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++; "
            "macOS: xcode-select --install"
        )

    place = ROOT / options.venv
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = place / "lowdim.stamp"
    wanted = fingerprint(options)
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return
    stamp.unlink(missing_ok=True)
    if not python.exists():
        print(f"Making {options.venv} ...", flush=True)
        venv.create(place, with_pip=True)
    print(f"Installing lowdim[{options.extra}] and building its compiled core (a minute or two) ...", flush=True)
    # Without --no-compile pip compiles every module of every package one by one; Python compiles those it imports.
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    # In the environment they also reach what pip installs to build the package: older versions of pip take them from
    # the first variable, newer ones from the second. As an address, because pip cuts a list of paths at spaces.
    constraints = (ROOT / options.constraints).as_uri()
    settings = {"PIP_CONSTRAINT": constraints, "PIP_BUILD_CONSTRAINT": constraints}
    # The compiler has work for a minute; what the package needs is fetched meanwhile.
    itself = [*pip, "--no-deps", *(["--editable"] if options.editable else []), "."]
    run_side_by_side([itself, [*pip, *required(options.extra)]], settings)
    stamp.write_text(wanted)


if __name__ == "__main__":
    main()
