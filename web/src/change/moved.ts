// What changed between two maps: for each row, the share of its nearest rows in one that it does not have in the other.
import { Places, n } from "../data";
import { addMeasured, unknown } from "../measured";
import { Job, run } from "../jobs";
import { nearIn, placed } from "../judge/spaces";
import { NEIGHBORS } from "../judge/rules";
import { changeStops } from "../colours";

export const MOVED = "moved";
/** The two maps that are compared, and the answer. */
export const state = { from: null as Places | null, to: null as Places | null, shares: null as Float32Array | null };

export function* changes(a: Places, b: Places): Job<Float32Array> {
  const one = yield* nearIn(a),
    two = yield* nearIn(b),
    found = new Float32Array(n).fill(NaN),
    k = Math.min(NEIGHBORS, n - 1);
  for (let i = 0; i < n; i++) {
    if (!placed(a, i) || !placed(b, i)) continue;
    const there = new Set(two.subarray(i * NEIGHBORS, i * NEIGHBORS + k));
    let kept = 0;
    for (let j = 0; j < k; j++) if (there.has(one[i * NEIGHBORS + j])) kept++;
    found[i] = 1 - kept / k;
    if (i % 64 === 0) yield;
  }
  return found;
}

/** Rows that lost most of their neighbours, in words. */
export function sentence(): string {
  const { from, to, shares } = state;
  if (!from || !to) return "";
  if (from === to) return "Choose another map to compare with.";
  if (!shares) return "Comparing \u2026";
  let known = 0,
    most = 0;
  for (const share of shares) {
    if (!Number.isFinite(share)) continue;
    known++;
    if (share > 0.5) most++;
  }
  const percent = Math.round((100 * most) / Math.max(1, known));
  return (
    `${most.toLocaleString("en")} of ${known.toLocaleString("en")} rows (${percent} %) have mostly other ` +
    `neighbours in ${to.name} than in ${from.name}.`
  );
}

let drop = () => {};
/** Compares; `ready` is called when the answer has come. */
export function compareMaps(from: Places, to: Places, ready: () => void): void {
  if (state.from === from && state.to === to) return;
  drop();
  Object.assign(state, { from, to, shares: null });
  if (from !== to)
    drop = run(changes(from, to), (found) => {
      state.shares = found;
      ready();
    });
}

export function offerMoved(): void {
  addMeasured(MOVED, {
    low: 0,
    high: 1,
    stops: changeStops,
    ends: ["same neighbours", "all neighbours changed"],
    of: () => state.shares ?? unknown,
  });
}
