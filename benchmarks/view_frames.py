"""How fast pages of many rows are in a browser without a graphics card: `lowdim view`, the report, embedding-atlas.

    python -m benchmarks.view_frames [--atlas PATH] [--rows 100000 1000000]

prints the table of docs/benchmarks-page.md. The same made rows for all: ten clumps in four maps, a class and a name for
each row. Chromium and playwright are needed; `--atlas` is the command of embedding-atlas, if it is to be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SOFTWARE = ["--no-sandbox", "--disable-gpu"]
SWIFTSHADER = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
               "--ignore-gpu-blocklist", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]  # fmt: skip
NO_MAP = "WebGPU is unavailable"  # what embedding-atlas says in place of a map
BEGIN = """() => { window.times = []; window.going = true;
  const next = t => { window.times.push(t); if (window.going) requestAnimationFrame(next); };
  requestAnimationFrame(next); }"""
END = """() => { window.going = false; return window.times; }"""


def table(n: int, path: Path) -> None:
    """A table as `lowdim compare` writes it."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, n)
    columns: dict[str, Any] = {
        "row": np.arange(1, n + 1),
        "name": [f"row {i}" for i in range(n)],
        "label": [f"class {k}" for k in codes],
    }
    for k in range(4):
        Z = rng.normal(size=(10, 2))[codes] * 4 + rng.normal(size=(n, 2))
        columns |= {f"m{k}_1": Z[:, 0], f"m{k}_2": Z[:, 1], f"m{k}_quality": np.ones(n)}
    pl.DataFrame(columns).write_parquet(path)


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


@contextmanager
def lowdim_view(path: Path) -> Iterator[tuple[str, int]]:
    """The address, and the process of the server."""
    with running([sys.executable, "-m", "lowdim.app", "view", str(path), "--no-open", "--json"]) as process:
        assert process.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            if not (more := process.stdout.readline()):
                raise RuntimeError("lowdim view ended")
            said += more
        yield json.loads(said)["address"], process.pid


@contextmanager
def embedding_atlas(path: Path, command: str) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [command, str(path), "--x", "m0_1", "--y", "m0_2", "--text", "name", "--port", str(port)]
    with running([*words, "--host", "127.0.0.1", "--disable-projection"]) as process:
        for _ in range(600):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/", process.pid


def frames(page: Any, act: Callable[[int], None], steps: int = 60) -> dict[str, float]:
    page.evaluate(BEGIN)
    for k in range(steps):
        act(k)
        page.wait_for_timeout(10)
    gaps = np.diff(page.evaluate(END))
    return {"fps": 1000 / gaps.mean(), "p95": float(np.quantile(gaps, 0.95)), "worst": float(gaps.max())}


def measured(browser: Any, address: str, canvas: str, ready: Callable[[Any], None]) -> dict[str, Any]:
    """Bytes and seconds until the map is there; frames while it is dragged and zoomed."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    size = [0]
    page.on("response", lambda r: size.__setitem__(0, size[0] + int(r.headers.get("content-length", 0))))
    started = time.perf_counter()
    page.goto(address)
    ready(page)
    seconds = time.perf_counter() - started
    loaded = size[0]
    box = page.locator(canvas).first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    found: dict[str, Any] = {"seconds": seconds, "MB": loaded / 1e6}
    if page.get_by_text(NO_MAP).count():  # frames of an empty canvas would say nothing
        page.close()
        return found
    page.mouse.move(x, y)
    for name in ("whole map", "zoomed"):
        found[f"zoom, {name}"] = frames(page, lambda k: page.mouse.wheel(0, -25))
        page.mouse.down()
        found[f"drag, {name}"] = frames(page, lambda k: page.mouse.move(x + (9 * k) % 180 - 90, y + (5 * k) % 100 - 50))
        page.mouse.up()
        page.wait_for_timeout(500)
    page.close()
    return found


def memory(pid: int) -> float:
    """The memory of a process that is its own, in MB: pages of mapped files are the system's."""
    text = Path(f"/proc/{pid}/status").read_text() if Path(f"/proc/{pid}/status").exists() else ""
    own = [line.split()[1] for line in text.splitlines() if line.startswith("RssAnon")]
    return int(own[0]) / 1e3 if own else float("nan")


def view_ready(page: Any) -> None:
    page.wait_for_selector("html[data-ready=true]", timeout=120_000)


def atlas_ready(page: Any) -> None:
    page.wait_for_selector("canvas", timeout=120_000)
    page.wait_for_load_state("networkidle", timeout=120_000)


def line(name: str, rows: int, found: dict[str, Any], own: float) -> str:
    moved = [found[key] for key in found if "," in key]
    cells = [f"{one['fps']:.0f} ({one['p95']:.0f}, {one['worst']:.0f})" for one in moved] or ["no map"] * 4
    return f"| {name} | {rows:,} | {found['MB']:.1f} | {found['seconds']:.1f} | {' | '.join(cells)} | {own:.0f} |"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    from playwright.sync_api import sync_playwright

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--atlas", help="the command of embedding-atlas")
    options.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    options.add_argument("--swiftshader", action="store_true", help="WebGL in software, for pages that need it")
    chosen = options.parse_args()
    arguments = SWIFTSHADER if chosen.swiftshader else SOFTWARE
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {' '.join(arguments)}")
    say("| page | rows | MB | s | zoom | drag | zoom, near | drag, near | MB of the server |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for rows in chosen.rows:
            path = Path(folder) / f"{rows}.parquet"
            table(rows, path)
            with lowdim_view(path) as (address, pid):
                found = measured(browser, address, "#large canvas[data-map]", view_ready)
                say(line("lowdim view", rows, found, memory(pid)))
            if chosen.atlas:
                with embedding_atlas(path, chosen.atlas) as (address, pid):
                    found = measured(browser, address, "canvas", atlas_ready)
                    say(line("embedding-atlas", rows, found, memory(pid)))
        browser.close()


if __name__ == "__main__":
    main()
