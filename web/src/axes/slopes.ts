// Where columns grow in a map: the direction, and how much of a column's changes the place in the map explains.
import { columns, groups, hasTruth, n, truth } from "../data";

/** A column, the direction in the map in which it grows (length 1), and the share of its variance explained. */
export interface Slope {
  name: string;
  column: number;
  x: number;
  y: number;
  share: number;
}

const LEAST_ROWS = 8;

/** Least squares of each column of numbers on the places of some rows; the best explained first. */
export function slopes(xy: Float32Array, rows: ArrayLike<number>): Slope[] {
  const found: Slope[] = [];
  for (let k = 0; k < groups.columns; k++) {
    if (columns[k].classes) continue;
    const slope = slopeOf(xy, rows, columns[k].values);
    if (slope) found.push({ name: columns[k].name, column: k, ...slope });
  }
  return found.sort((a, b) => b.share - a.share);
}

function slopeOf(
  xy: Float32Array,
  rows: ArrayLike<number>,
  values: ArrayLike<number>,
): { x: number; y: number; share: number } | null {
  const used: number[] = [];
  let mx = 0,
    my = 0,
    mv = 0;
  for (let p = 0; p < rows.length; p++) {
    const i = rows[p];
    if (!Number.isFinite(values[i]) || !Number.isFinite(xy[2 * i]) || !Number.isFinite(xy[2 * i + 1])) continue;
    used.push(i);
    mx += xy[2 * i];
    my += xy[2 * i + 1];
    mv += values[i];
  }
  const m = used.length;
  if (m < LEAST_ROWS) return null;
  let xx = 0,
    xv = 0,
    yy = 0,
    yv = 0,
    xyy = 0,
    vv = 0;
  for (const i of used) {
    const x = xy[2 * i] - mx / m,
      y = xy[2 * i + 1] - my / m,
      v = values[i] - mv / m;
    xx += x * x;
    yy += y * y;
    xyy += x * y;
    xv += x * v;
    yv += y * v;
    vv += v * v;
  }
  const area = xx * yy - xyy * xyy;
  if (!(vv > 0) || !(area > 1e-12 * (xx + yy) ** 2)) return null;
  const bx = (yy * xv - xyy * yv) / area,
    by = (xx * yv - xyy * xv) / area,
    share = 1 - ((1 - (bx * xv + by * yv) / vv) * (m - 1)) / (m - 3), // two slopes explain something of any column
    length = Math.hypot(bx, by);
  return share > 0 && length > 0 ? { x: bx / length, y: by / length, share: Math.min(1, share) } : null;
}

const REGION = 60;
/** A row, its nearest rows in the data, and theirs: at most 60 rows. */
export function regionOf(row: number, around: (row: number, k: number) => number[]): number[] {
  const lists = hasTruth ? truth() : null;
  if (!lists?.near) return [row, ...around(row, Math.min(REGION, n) - 1)];
  const found = new Set([row]);
  for (const centre of found) {
    for (let j = 0; j < lists.k && found.size < REGION; j++) found.add(lists.near[centre * lists.k + j]);
    if (found.size >= REGION) break;
  }
  return [...found];
}

const COMPASS = ["\u2192", "\u2197", "\u2191", "\u2196", "\u2190", "\u2199", "\u2193", "\u2198"];
/** One of eight arrows, as text. */
export const compass = ({ x, y }: { x: number; y: number }) =>
  COMPASS[(Math.round(Math.atan2(y, x) / (Math.PI / 4)) + 8) % 8];
