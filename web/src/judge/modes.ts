// Peaks of density in a set of rows, and how deep the valleys between them are: as in lowdim.trust.modes.
import { Job } from "../jobs";
import { Lists } from "./nearest";

export interface Modes {
  labels: Int32Array; // connected components, or the two sides of the deepest valley; 0 is the largest
  pieces: number;
  valley: number; // in standard deviations of a log density; infinite with several pieces
}

const TINY = 2.2250738585072014e-308;

function densities({ k, distances }: Lists, dimension: number): Float64Array {
  const m = distances.length / k;
  return Float64Array.from({ length: m }, (_, i) => -dimension * Math.log(Math.max(distances[i * k + k - 1], TINY)));
}
/** Rows by density; two that are each other's last neighbour are equally dense, and the neighbour before decides. */
function densestFirst({ k, distances }: Lists): Int32Array {
  const by = (a: number, b: number, j: number) => distances[a * k + j] - distances[b * k + j];
  return Int32Array.from({ length: distances.length / k }, (_, i) => i).sort(
    (a, b) => by(a, b, k - 1) || (k > 1 && by(a, b, k - 2)) || a - b,
  );
}

/** Neighbours of each row, and rows that it is a neighbour of. */
function bothWays({ k, indices }: Lists): Int32Array[] {
  const m = indices.length / k,
    found: number[][] = Array.from({ length: m }, () => []);
  for (let p = 0; p < indices.length; p++) {
    const i = Math.floor(p / k);
    found[i].push(indices[p]);
    found[indices[p]].push(i);
  }
  return found.map((each) => Int32Array.from(each));
}

/** Sets of rows that grow from peaks and are joined where they meet. */
class Forest {
  readonly parent: Int32Array;
  readonly members = new Map<number, number[]>();
  deepest = 0;
  side: number[] = [];

  constructor(
    private density: Float64Array,
    private least: number,
  ) {
    this.parent = new Int32Array(density.length).fill(-1);
  }
  root(row: number): number {
    const { parent } = this;
    while (parent[row] !== row) row = parent[row] = parent[parent[row]];
    return row;
  }
  add(row: number, neighbours: Int32Array): void {
    const there = new Set<number>();
    for (const each of neighbours) if (this.parent[each] >= 0) there.add(this.root(each));
    this.parent[row] = row;
    this.members.set(row, [row]);
    // The highest peak first: which of several peaks end here does not depend on the numbers of their rows.
    const { density } = this;
    for (const peak of [...there].sort((a, b) => density[b] - density[a] || a - b))
      this.join(this.root(row), peak, row);
  }
  private join(one: number, other: number, at: number): void {
    if (one === other) return;
    const { density, members } = this;
    const [high, low] = density[one] >= density[other] ? [one, other] : [other, one];
    const upper = members.get(high)!,
      lower = members.get(low)!,
      depth = density[low] - density[at];
    if (Math.min(upper.length, lower.length) >= this.least && depth > this.deepest) {
      this.deepest = depth;
      this.side = [...lower];
    }
    this.parent[low] = high;
    for (const row of lower) upper.push(row);
    members.delete(low);
  }
}

export function* modes(lists: Lists, dimension: number, least: number): Job<Modes> {
  const density = densities(lists, dimension),
    forest = new Forest(density, least),
    neighbours = bothWays(lists);
  yield;
  for (const row of densestFirst(lists)) {
    forest.add(row, neighbours[row]);
    yield;
  }
  const labels = new Int32Array(density.length),
    sorted = [...forest.members.values()].sort((a, b) => b.length - a.length),
    pieces = sorted.filter((rows) => rows.length >= least).length;
  if (pieces > 1) {
    sorted.forEach((rows, label) => rows.forEach((row) => (labels[row] = label)));
    return { labels, pieces, valley: Infinity };
  }
  for (const row of forest.side) labels[row] = 1;
  return { labels, pieces: 1, valley: forest.deepest * Math.sqrt(lists.k) };
}

/** Depth of the valley between the densest row of `first` and that of the others, along the best path. */
export function* saddle(lists: Lists, dimension: number, first: (place: number) => boolean): Job<number> {
  const density = densities(lists, dimension),
    forest = new Forest(density, density.length),
    neighbours = bothWays(lists),
    peaks = [-1, -1];
  yield;
  density.forEach((value, i) => {
    const side = first(i) ? 0 : 1;
    if (peaks[side] < 0 || value > density[peaks[side]]) peaks[side] = i;
  });
  if (peaks[0] < 0 || peaks[1] < 0) return Infinity;
  for (const row of densestFirst(lists)) {
    forest.add(row, neighbours[row]);
    if (peaks.every((peak) => forest.parent[peak] >= 0) && forest.root(peaks[0]) === forest.root(peaks[1]))
      return (Math.min(density[peaks[0]], density[peaks[1]]) - density[row]) * Math.sqrt(lists.k);
    yield;
  }
  return Infinity;
}
