// What is true in the data about one row: how far all others are, and which are nearest.
import { nearInks } from "./colours";
import { hasTruth, n, truth } from "./data";

export const JOINED = 10; // true neighbours that are joined to the row, and neighbours in a map that are checked
const LISTED = 20; // a neighbour in a map that is not among so many in the data is false

/** What is known about a row; `distances` is null where the page only has neighbours. */
export interface Seen {
  row: number;
  distances: Float32Array | null;
  low: number; // of the nearest row
  high: number; // three quarters of the rows are nearer
  near: number[];
  listed: Set<number>;
}

export const available = hasTruth;
const MANY = 200_000; // rows from which on recolouring all maps takes longer than a pointer rests
/** Whether it is shown; it begins so unless the reader wants little motion. */
export const state = { on: hasTruth && n <= MANY && !matchMedia("(prefers-reduced-motion: reduce)").matches };
/** Decodes what is needed while nobody waits for it. */
export const warm = () => void (hasTruth && truth());
let last: Seen | null = null;
const room = new Float32Array(hasTruth ? n : 0),
  inks = new Uint32Array(hasTruth ? n : 0);
let inked = -1;

/** Everything about a row; the same row is not looked up twice. */
export function look(row: number): Seen {
  if (last?.row === row) return last;
  const distances = truth().kind === "neighbours" ? null : distancesFrom(row);
  const { low, high } = distances ? spanOf(distances, row) : { low: 0, high: 0 };
  const all = listedNear(row) ?? nearestOf(distances!, row);
  last = { row, distances, low, high, near: all.slice(0, JOINED), listed: new Set(all) };
  stale();
  return last;
}

/** The inks of all rows by their distance from the one that is looked at; the same in every map. */
export function inksOf(seen: Seen): Uint32Array {
  if (inked !== seen.row) nearInks(inks, seen.distances!, seen.low, seen.high);
  inked = seen.row;
  return inks;
}
/** The colours of the scheme changed. */
export const stale = () => void (inked = -1);

function distancesFrom(row: number): Float32Array {
  const { kind, width, step, values } = truth();
  if (kind === "distances") {
    for (let i = 0; i < n; i++) room[i] = values[row * width + i] * step;
    return room;
  }
  const own = Float64Array.from(values.subarray(row * width, (row + 1) * width));
  for (let i = 0, p = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < width; j++, p++) {
      const d = values[p] - own[j];
      sum += d * d;
    }
    room[i] = Math.sqrt(sum) * step;
  }
  return room;
}

/** The smallest distance, and the one that three quarters of the rows are within, to a thousandth of the largest. */
function spanOf(distances: Float32Array, row: number): { low: number; high: number } {
  let low = Infinity,
    most = 0;
  for (let i = 0; i < n; i++) {
    if (i !== row && distances[i] < low) low = distances[i];
    if (distances[i] > most) most = distances[i];
  }
  const bins = 1000,
    count = new Uint32Array(bins + 1),
    scale = bins / (most || 1);
  for (let i = 0; i < n; i++) count[(distances[i] * scale) | 0]++;
  let at = 0;
  for (let passed = 0; at < bins && passed + count[at] < 0.75 * n; at++) passed += count[at];
  const high = Math.max(low, (at + 1) / scale);
  return { low: Number.isFinite(low) ? low : 0, high };
}

function listedNear(row: number): number[] | null {
  const { near, k } = truth();
  return near && Array.from(near.subarray(row * k, (row + 1) * k));
}

/** The nearest rows by the distances in the page, where a sample is drawn and no lists came with it. */
function nearestOf(distances: Float32Array, row: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < n; i++) {
    if (i === row || (found.length === LISTED && distances[i] >= distances[found[LISTED - 1]])) continue;
    let at = found.length;
    while (at > 0 && distances[found[at - 1]] > distances[i]) at--;
    found.splice(at, 0, i);
    if (found.length > LISTED) found.pop();
  }
  return found;
}
