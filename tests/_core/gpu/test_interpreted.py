"""Fused kernels in Triton's interpreter, which needs no GPU, against their twins.

Triton comes with PyTorch for GPUs alone, and is interpreted where TRITON_INTERPRET=1 is set before it is loaded: the
tests run in a process of their own, and only where Triton is installed.
"""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytest.importorskip("torch")

CODE = """
import numpy as np, torch
from lowdim._core.gpu import bridges, cells, fused_kernels
from lowdim._core.gpu.devices import Device

class Interpreted(Device):
    fused = fused_kernels

plain, fused = Device(torch, "cpu"), Interpreted(torch, "cpu")
rng = np.random.default_rng(0)
for n, d, k, dtype in ((500, 8, 10, np.float32), (300, 70, 5, np.float64)):
    X = (rng.normal(size=(9, d))[rng.integers(9, size=n)] * 6 + rng.normal(size=(n, d))).astype(dtype)
    ours, theirs = (cells.nearest_by_cells(device, torch.from_numpy(X), k) for device in (fused, plain))
    assert ours.probes == theirs.probes and abs(ours.recall - theirs.recall) < 0.002, (ours, theirs)
    same = (ours.indices == theirs.indices).double().mean()
    assert same > 0.995, same
    agree = ours.indices == theirs.indices
    assert torch.allclose(ours.squares[agree], theirs.squares[agree], rtol=1e-12)
group = rng.integers(3, size=200)
X = torch.from_numpy(rng.normal(size=(3, 7))[group] * 5 + rng.normal(size=(200, 7)))
one, other = (bridges.Bounds.of(device, X, group) for device in (fused, plain))
assert ((one.least - other.least).abs() <= one.slack).all()
print("agree")
"""


@pytest.mark.deep
@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_interpreted_kernels_are_their_twins():
    made = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True
    )
    assert made.stdout.strip() == "agree", made.stderr
