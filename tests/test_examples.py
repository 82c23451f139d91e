"""Every script in examples/ runs on its own and leaves a picture where it was started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("[!_]*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_and_draws(script, tmp_path):
    env = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    pictures = [path for path in tmp_path.iterdir() if path.suffix in (".png", ".html", ".svg")]
    assert pictures
    assert all(path.stat().st_size > 5_000 for path in pictures)
