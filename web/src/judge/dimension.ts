// The intrinsic dimension by maximum likelihood, as published: what lowdim.select.intrinsic_dimension calls "mle".
import { Job } from "../jobs";
import { Distance, Lists, nearestWithin } from "./nearest";

const LEAST_ROWS = 20,
  NEIGHBORS = 20;
/** Neighbours that the estimate is read from, of so many rows. */
export const scaleOf = (count: number) => Math.min(NEIGHBORS, Math.floor((count - 1) / 4));

/** Of rows whose nearest neighbours are known already; 1 where nearly all rows are copies of each other. */
export function* dimensionOf(members: ArrayLike<number>, lists: Lists, between: Distance): Job<number> {
  const kept: number[] = [];
  for (let i = 0; i < members.length; i++)
    if (!(lists.distances[i * lists.k] <= 0 && lists.indices[i * lists.k] < i)) kept.push(members[i]);
  if (kept.length < LEAST_ROWS) return 1;
  const k = scaleOf(kept.length);
  const { distances, k: width } =
    kept.length === members.length && lists.k >= k ? lists : yield* nearestWithin(kept, k, between);
  let sum = 0,
    count = 0;
  for (let p = 0; p < distances.length; p += width) {
    if (!(distances[p] > 0)) continue;
    let logs = 0;
    for (let j = 0; j < k - 1; j++) logs += Math.log(distances[p + k - 1] / distances[p + j]);
    sum += logs / (k - 1);
    count++;
  }
  return sum > 0 ? count / sum : 1;
}

/** How many dimensions neighbourhoods have between their middle and last neighbour. */
export function outerDimension({ distances, k }: Lists): number {
  const half = Math.max(1, Math.floor(k / 2));
  let logs = 0,
    count = 0,
    steps = 0;
  for (let p = 0; p < distances.length; p += k) {
    if (!(distances[p + half - 1] > 0)) continue;
    logs += Math.log(distances[p + k - 1] / distances[p + half - 1]);
    count++;
  }
  for (let j = half; j < k; j++) steps += 1 / j;
  return logs > 0 ? (steps * count) / logs : Infinity;
}
