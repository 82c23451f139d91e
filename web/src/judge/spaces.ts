// The data and a map as spaces in which a group is judged.
import { Places, hasTruth, n, truth } from "../data";
import { Job } from "../jobs";
import { Grid } from "../places";
import { Space } from "./judge";
import { NEIGHBORS } from "./rules";

const isThere = (xy: Float32Array, row: number) => Number.isFinite(xy[2 * row]) && Number.isFinite(xy[2 * row + 1]);
/** Rows that have a place in a map. */
export const placed = (places: Places, row: number) => isThere(places.xy, row);

/** The data as far as the page knows it; null where it has no distances between any two rows. */
export function dataSpace(): Space | null {
  if (!hasTruth) return null;
  const { kind, values, width, step, near, k } = truth();
  if (kind === "neighbours" || !near) return null;
  const between =
    kind === "distances"
      ? (a: number, b: number) => values[a * width + b] * step
      : (a: number, b: number) => {
          let sum = 0;
          for (let p = a * width, q = b * width, end = p + width; p < end; p++, q++)
            sum += (values[p] - values[q]) ** 2;
          return Math.sqrt(sum) * step;
        };
  return { between, near, k: Math.min(NEIGHBORS, k, n - 2), stride: k };
}

const lists = new WeakMap<Places, Int32Array>();
/** The 15 nearest rows of each row in a map; a row without a place, or a place too many, has itself. */
export function* nearIn(places: Places): Job<Int32Array> {
  const known = lists.get(places);
  if (known) return known;
  const grid = new Grid(flat(places)),
    found = new Int32Array(n * NEIGHBORS);
  for (let i = 0; i < n; i++) {
    const around = grid.around(i, NEIGHBORS);
    for (let j = 0; j < NEIGHBORS; j++) found[i * NEIGHBORS + j] = around[j] ?? i;
    yield;
  }
  lists.set(places, found);
  return found;
}

/** The heights of a line have no meaning. */
function flat({ xy, flat }: Places): Float32Array {
  return flat ? xy.map((v, p) => (p % 2 && Number.isFinite(xy[p - 1]) ? 0 : v)) : xy;
}

export function* mapSpace(places: Places): Job<Space> {
  const near = yield* nearIn(places),
    xy = flat(places);
  const between = (a: number, b: number) => Math.hypot(xy[2 * a] - xy[2 * b], xy[2 * a + 1] - xy[2 * b + 1]);
  return { between, near, k: Math.min(NEIGHBORS, n - 2), stride: NEIGHBORS };
}
