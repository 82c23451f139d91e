// What is known about the marked rows as a group, in the data and in one map: the numbers of lowdim.trust.groups.
import { Job } from "../jobs";
import { dimensionOf, outerDimension, scaleOf } from "./dimension";
import { Modes, modes, saddle } from "./modes";
import { Distance, Lists, nearestWithin } from "./nearest";
import { AROUND, Facts, PARTS, SAMPLED, VALLEY } from "./rules";

/** Data or map: distances between rows, and the nearest neighbours of each, `k` numbers for each row. */
export interface Space {
  between: Distance;
  near: ArrayLike<number>;
  k: number; // neighbours that count
  stride: number; // neighbours that are listed
}

const sizeOf = (count: number) => Math.min(count - 1, Math.max(8, Math.min(128, Math.floor(count / PARTS))));

/** Neighbour lists for densities, and the dimension. */
function* around(space: Space, members: Int32Array): Job<{ lists: Lists; dimension: number }> {
  const k = sizeOf(members.length),
    most = Math.min(members.length - 1, Math.max(k, scaleOf(members.length)));
  const wide = yield* nearestWithin(members, most, space.between);
  const found = yield* dimensionOf(members, wide, space.between),
    lists = narrowed(wide, k);
  return { lists, dimension: Math.min(found, outerDimension(lists)) };
}

function narrowed(lists: Lists, k: number): Lists {
  if (k === lists.k) return lists;
  const m = lists.indices.length / lists.k,
    cut = { k, indices: new Int32Array(m * k), distances: new Float64Array(m * k) };
  for (let i = 0; i < m; i++) {
    cut.indices.set(lists.indices.subarray(i * lists.k, i * lists.k + k), i * k);
    cut.distances.set(lists.distances.subarray(i * lists.k, i * lists.k + k), i * k);
  }
  return cut;
}

function* modesOf(space: Space, members: Int32Array): Job<Modes> {
  const { lists, dimension } = yield* around(space, members);
  return yield* modes(lists, dimension, Math.max(8, Math.floor(members.length / 20)));
}

function* drop(space: Space, members: Int32Array, first: (place: number) => boolean): Job<number> {
  const { lists, dimension } = yield* around(space, members);
  return yield* saddle(lists, dimension, first);
}

/** Edges of the neighbour graph by where they begin and end. */
function edges(
  { near, k, stride }: Space,
  chosen: Uint8Array,
): { inside: number; cut: number; from: number; to: number } {
  let inside = 0,
    cut = 0,
    from = 0,
    to = 0;
  for (let i = 0; i < chosen.length; i++)
    for (let j = 0; j < k; j++) {
      const own = chosen[i],
        other = chosen[near[i * stride + j]];
      from += own;
      to += other;
      if (own !== other) cut++;
      else if (own) inside++;
    }
  return { inside, cut, from, to };
}

/** The rows around the chosen ones, by steps to neighbours: as many as these or more, if there are so many. */
function surroundings({ near, k, stride }: Space, chosen: Uint8Array, count: number): number[] {
  const wanted = count + Math.max(count, AROUND);
  let reached = chosen,
    size = count;
  while (size < wanted) {
    const more = Uint8Array.from(reached);
    for (let i = 0; i < chosen.length; i++)
      for (let j = 0; j < k; j++) {
        const other = near[i * stride + j];
        if (reached[i]) more[other] = 1;
        if (reached[other]) more[i] = 1;
      }
    const grown = more.reduce((sum, flag) => sum + flag, 0);
    if (grown === size) break;
    [reached, size] = [more, grown];
  }
  const found: number[] = [];
  reached.forEach((flag, i) => flag && !chosen[i] && found.push(i));
  return found;
}

/** A fixed random choice of at most `SAMPLED` rows, in their order. */
function some(rows: number[], seed: number): Int32Array {
  if (rows.length <= SAMPLED) return Int32Array.from(rows);
  const left = [...rows];
  for (let i = 0, s = seed; i < SAMPLED; i++) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    const j = i + Math.floor((s / 2 ** 32) * (left.length - i));
    [left[i], left[j]] = [left[j], left[i]];
  }
  return Int32Array.from(left.slice(0, SAMPLED)).sort();
}

/** All numbers behind the verdict on the chosen rows. */
export function* facts(chosen: Uint8Array, data: Space, map: Space): Job<Facts> {
  const rows: number[] = [];
  chosen.forEach((flag, i) => flag && rows.push(i));
  const inData = edges(data, chosen),
    inMap = edges(map, chosen),
    all = 2 * data.k * chosen.length,
    volume = inData.from + inData.to;
  const members = some(rows, 1),
    beside = some(surroundings(data, chosen, rows.length), 2),
    both = Int32Array.from([...members, ...beside]);
  const high = yield* modesOf(data, members),
    low = yield* modesOf(map, members);
  const own = (place: number) => place < members.length;
  return {
    inside: inData.inside / (data.k * rows.length),
    inside_map: inMap.inside / (map.k * rows.length),
    chance: (rows.length - 1) / (chosen.length - 1),
    conductance: inData.cut / Math.max(1, Math.min(volume, all - volume)),
    pieces: high.pieces,
    pieces_map: low.pieces,
    valley: high.valley,
    valley_map: low.valley,
    border: inData.cut ? yield* drop(data, both, own) : Infinity,
    border_map: inMap.cut && beside.length ? yield* drop(map, both, own) : Infinity,
    split: low.valley > VALLEY ? yield* drop(data, members, (place) => low.labels[place] === 0) : NaN,
  };
}
