"""R_NX curves as paths, ticks and legend entries of the inline SVG charts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.report.measures import MEASURES
from lowdim.report.record import Compared, Method

WIDTH, HEIGHT = 860, 390
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 54
COLOURS = 7  # colours of curves in the style sheet; then they repeat with another dash pattern
DASHES = ("", "12 3", "6 2 2 2")


def curve_charts(comparison: Compared) -> list[dict[str, Any]]:
    """One chart for each number of components: curves of embeddings with different numbers are not comparable."""
    widths = sorted({o.n_components for o in comparison.outcomes if o.n_components is not None})
    return [_chart(comparison, r) for r in widths]


def _chart(comparison: Compared, r: int) -> dict[str, Any]:
    outcomes = [o for o in comparison.outcomes if o.name in comparison.scores and o.n_components == r]
    curves = {o.name: comparison.curves[o.name] for o in outcomes}
    longest = max((len(curve) for curve in curves.values()), default=1)
    low = min(0.0, *(float(np.nanmin(curve)) for curve in curves.values()))
    low = max(-1.0, np.floor(low * 5 - 1e-9) / 5) if low < -0.05 else -0.05
    lines: list[dict[str, Any]] = []
    solid = 0
    for outcome in outcomes:
        chance = outcome.baseline and outcome.name.startswith("random")
        dash = DASHES[solid // COLOURS % len(DASHES)]
        look = ("base", "2 4") if chance else (f"m{solid % COLOURS}", "9 5" if outcome.baseline else dash)
        solid += not chance
        curve = curves[outcome.name]
        line: dict[str, Any] = {"path": _path(curve, longest, low), "dot": _dot(curve, low)}
        line["colour"], line["dash"] = look
        line["k"], line["values"] = _readings(curve)
        lines.append({**line, **_legend(comparison, outcome)})
    # Baselines are drawn last and dashed, so that an equal curve is visible beneath them.
    painted = sorted(lines, key=lambda line: line["baseline"])
    return {
        "r": r,
        "longest": longest,
        "low": float(low),
        "lines": lines,
        "painted": painted,
        "x_ticks": _x_ticks(longest),
        "y_ticks": _y_ticks(low),
        **_frame(),
    }


def _legend(comparison: Compared, outcome: Method) -> dict[str, Any]:
    scores = comparison.scores[outcome.name]
    area = MEASURES[0].show(scores["auc"], scores.get("auc_interval"))
    return {"name": outcome.name, "auc": area, "baseline": outcome.baseline}


def _frame() -> dict[str, int]:
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }


def _x(k: Any, longest: int) -> Any:
    span = np.log(max(longest, 2))
    return LEFT + (WIDTH - LEFT - RIGHT) * np.log(k) / span


def _y(value: Any, low: float) -> Any:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (1 - low)


def _readings(curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The curve at up to 240 values of K, evenly spaced on the log axis."""
    k = np.unique(np.round(np.geomspace(1, len(curve), 240)).astype(int))
    k = k[np.isfinite(curve[k - 1])]
    return k, curve[k - 1]


def _path(curve: np.ndarray, longest: int, low: float) -> str:
    k, values = _readings(curve)
    points = zip(_x(k, longest), _y(values, low), strict=True)
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if len(k) else ""


def _dot(curve: np.ndarray, low: float) -> dict[str, float] | None:
    """The point of a curve with a single value: three rows have only one neighbourhood size."""
    if len(curve) != 1 or not np.isfinite(curve[0]):
        return None
    return {"x": LEFT, "y": round(float(_y(curve[0], low)), 1)}


def _x_ticks(longest: int) -> list[dict[str, Any]]:
    values = [v * 10**e for e in range(9) for v in (1, 2, 5) if v * 10**e <= longest]
    if len(values) > 12:
        values = [v for v in values if str(v)[0] == "1"]
    return [{"at": round(float(_x(v, longest)), 1), "text": f"{v:,}", "spare": str(v)[0] != "1"} for v in values]


def _y_ticks(low: float) -> list[dict[str, Any]]:
    values = np.arange(0 if low > -0.2 else low, 1.001, 0.2)
    return [{"at": round(float(_y(v, low)), 1), "text": f"{v:.1f}".replace("-0.0", "0.0")} for v in values]
