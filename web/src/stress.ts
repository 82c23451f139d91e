// How much of the stress of a map a row has: where distances are wrong.
import { measured, addMeasured } from "./measured";
import { amountStops } from "./colours";
import { Places, n, order } from "./data";
import { Job, run } from "./jobs";
import { dataSpace, placed } from "./judge/spaces";

const PARTNERS = 400; // rows that each row is compared with; all of fewer
export const STRESS = "stress";

/** For each row its share of the squared errors of distances, in units of the mean share. */
export function* stressShares(places: Places): Job<Float32Array | null> {
  const data = dataSpace();
  if (!data) return null;
  const { xy } = places,
    others = order.slice(0, PARTNERS).filter((i) => placed(places, i));
  const inMap = (a: number, b: number) =>
    Math.hypot(xy[2 * a] - xy[2 * b], places.flat ? 0 : xy[2 * a + 1] - xy[2 * b + 1]);
  let up = 0,
    down = 0;
  for (const a of others) {
    for (const b of others) {
      const d = inMap(a, b);
      up += d * data.between(a, b);
      down += d * d;
    }
    yield;
  }
  const unit = down > 0 ? up / down : 0, // of the map, that fits the data best
    found = new Float32Array(n).fill(NaN);
  let sum = 0,
    count = 0;
  for (let i = 0; i < n; i++) {
    if (i % 16 === 0) yield;
    if (!placed(places, i)) continue;
    let own = 0;
    for (const j of others) own += (unit * inMap(i, j) - data.between(i, j)) ** 2;
    found[i] = own / Math.max(1, others.length - Number(others.includes(i)));
    sum += found[i];
    count++;
  }
  for (let i = 0; i < n; i++) found[i] *= sum > 0 ? count / sum : 1;
  return found;
}

const known = new Map<Places, Float32Array | null>();
/** Makes the colour known; `ready` is called when the values of a map have come. */
export function offerStress(ready: () => void): void {
  if (measured(STRESS)) return;
  addMeasured(STRESS, {
    low: 0,
    high: 3,
    stops: amountStops,
    ends: ["0, distances right", "\u2265 3 times the mean"],
    of: (map) => {
      if (known.has(map)) return known.get(map)!;
      known.set(map, null);
      run(stressShares(map), (found) => {
        known.set(map, found);
        ready();
      });
      return null;
    },
  });
}
