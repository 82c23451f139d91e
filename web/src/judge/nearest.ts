// Nearest neighbours within a set of rows, by comparing all pairs.
import { Job } from "../jobs";

/** Distance between two rows, by their numbers. */
export type Distance = (a: number, b: number) => number;

/** For each member its k nearest other members, nearest first: places in the list of members, and distances. */
export interface Lists {
  k: number;
  indices: Int32Array;
  distances: Float64Array;
}

export function* nearestWithin(members: ArrayLike<number>, k: number, between: Distance): Job<Lists> {
  const m = members.length,
    indices = new Int32Array(m * k),
    distances = new Float64Array(m * k),
    all = new Float64Array(m),
    heap = new Heap(k);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < m; j++) all[j] = j === i ? Infinity : between(members[i], members[j]);
    heap.clear();
    for (let j = 0; j < m; j++) if (j !== i) heap.offer(j, all[j]);
    heap.sorted((at, place, far) => {
      indices[i * k + at] = place;
      distances[i * k + at] = far;
    });
    yield;
  }
  return { k, indices, distances };
}

/** The k smallest values seen, the largest of them on top. */
class Heap {
  private keys: Float64Array;
  private places: Int32Array;
  private size = 0;
  constructor(private k: number) {
    this.keys = new Float64Array(k);
    this.places = new Int32Array(k);
  }
  clear(): void {
    this.size = 0;
  }
  offer(place: number, key: number): void {
    const { keys, places, k } = this;
    if (this.size === k && key >= keys[0]) return;
    if (this.size < k) {
      let at = this.size++;
      for (let up = (at - 1) >> 1; at > 0 && keys[up] < key; up = (at - 1) >> 1) {
        keys[at] = keys[up];
        places[at] = places[up];
        at = up;
      }
      keys[at] = key;
      places[at] = place;
    } else this.sink(place, key);
  }
  private sink(place: number, key: number): void {
    const { keys, places, size } = this;
    let at = 0;
    for (let down = 1; down < size; down = 2 * at + 1) {
      if (down + 1 < size && keys[down + 1] > keys[down]) down++;
      if (keys[down] <= key) break;
      keys[at] = keys[down];
      places[at] = places[down];
      at = down;
    }
    keys[at] = key;
    places[at] = place;
  }
  sorted(each: (at: number, place: number, key: number) => void): void {
    const found = Array.from({ length: this.size }, (_, at) => at).sort(
      (a, b) => this.keys[a] - this.keys[b] || this.places[a] - this.places[b],
    );
    found.forEach((from, at) => each(at, this.places[from], this.keys[from]));
  }
}
