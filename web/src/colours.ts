// Which ink and which shape a row has. An ink is four bytes: red, green, blue, and shape + 4 where it lies underneath.
import { Column, Label, Places, columns, label, n } from "./data";
import { addMeasured, measured, unknown } from "./measured";

import { AMOUNT, STEPS, UNDER, classColour, classShape, goodRamp, grey, ink, nearRamp, ramp } from "./palette";
export * from "./palette";

export interface Range {
  low: number;
  high: number;
  clipped: boolean;
}
const ranges = new WeakMap<object, Range>();

/** From the smallest to the largest value, unless a few far ones would leave one colour for all the others. */
export function rangeOf(quantity: { values: ArrayLike<number> }): Range {
  const found = ranges.get(quantity);
  if (found) return found;
  const known = Float32Array.from(quantity.values as ArrayLike<number>)
    .filter(Number.isFinite)
    .sort();
  const at = (share: number) => known[Math.round(share * (known.length - 1))];
  let range = { low: at(0) ?? 0, high: at(1) ?? 0, clipped: false };
  const inner = { low: at(0.02), high: at(0.98), clipped: true };
  if (inner.high > inner.low && range.high - range.low > 3 * (inner.high - inner.low)) range = inner;
  ranges.set(quantity, range);
  return range;
}

addMeasured("quality", {
  low: 0,
  high: 1,
  stops: goodRamp,
  ends: ["0, random", "1, all neighbours preserved"],
  of: (map) => map.quality,
});

/** What colours mean at the moment: "label", "quality" or another measured one, "none" or "column:3". */
export type Choice = string;
export function quantityOf(choice: Choice): Column | Label | null {
  const source = sourceOf(choice);
  return source && !source.classes ? source : null;
}
/** The label or column whose classes the colours show; null for quantities. */
export function classesOf(choice: Choice): Column | Label | null {
  const source = sourceOf(choice);
  return source?.classes ? source : null;
}
function sourceOf(choice: Choice): Column | Label | null {
  if (choice.startsWith("column:")) return columns[+choice.slice(7)];
  return choice === "label" ? label : null;
}

function byValue(out: Uint32Array, values: ArrayLike<number>, range: Range, stops: string[]): void {
  const colours = ramp(stops),
    under = ink(grey(), UNDER),
    span = range.high - range.low || 1;
  for (let i = 0; i < n; i++) {
    const t = Math.round(((STEPS - 1) * (values[i] - range.low)) / span);
    out[i] = Number.isFinite(values[i]) ? colours[t < 0 ? 0 : t >= STEPS ? STEPS - 1 : t] : under;
  }
}

function byClass(out: Uint32Array, { classes, values }: Column | Label): void {
  const inks = Uint32Array.from(classes!, (_, k) => ink(classColour(k), classShape(k))),
    under = ink(grey(), UNDER);
  for (let i = 0; i < n; i++) out[i] = values[i] >= 0 ? inks[values[i]] : under;
}

/** The ink of every row by how far it is: the nearer half lies on top. */
export function nearInks(out: Uint32Array, distances: Float32Array, low: number, high: number): void {
  const colours = ramp(nearRamp()).map((word, k) => (k < STEPS / 2 ? word : (word | (UNDER << 24)) >>> 0)),
    scale = (STEPS - 1) / (high - low || 1);
  for (let i = 0; i < n; i++) {
    const t = (distances[i] - low) * scale;
    out[i] = colours[t > 0 ? (t < STEPS ? t | 0 : STEPS - 1) : 0];
  }
}

/** The ink of every row in one map; where some are marked, the others turn grey. Says whether any lie underneath. */
export function paintInks(out: Uint32Array, map: Places, choice: Choice, marked: Uint8Array | null): boolean {
  const quantity = quantityOf(choice),
    grouped = classesOf(choice),
    computed = measured(choice);
  if (quantity) byValue(out, quantity.values, rangeOf(quantity), AMOUNT);
  else if (computed) byValue(out, computed.of(map) ?? unknown, { ...computed, clipped: false }, computed.stops());
  else if (grouped) byClass(out, grouped);
  else out.fill(ink(classColour(0)));
  if (!marked) return out.some((word) => word >>> 24 >= UNDER);
  const under = ink(grey(), UNDER) & 0xffffff;
  for (let i = 0; i < n; i++) {
    if (!marked[i]) out[i] = (under | ((((out[i] >>> 24) & 3) | UNDER) << 24)) >>> 0;
    // A marked row without a value keeps its grey but comes to the top.
    else if (out[i] >>> 24 >= UNDER) out[i] = (out[i] & 0x03ffffff) >>> 0;
  }
  return true;
}
