// Which ink and which shape a row has. An ink is four bytes: red, green, blue, and shape + 4 where it lies underneath.
import { Column, Label, Places, columns, label, n } from "./data";
import { addMeasured, measured, unknown } from "./measured";

// Colours that people with any kind of colour vision can tell apart; after the last one the shape changes.
const CLASSES = {
  light: ["#0072b2", "#d07f00", "#009e73", "#c65f9c", "#d1480d", "#379ad8", "#a89400", "#5d636b"],
  dark: ["#4ea6e6", "#f5a623", "#2fc79a", "#e69fcb", "#ff7a45", "#9bd7fa", "#e3d34a", "#aab2bc"],
};
export const N_COLOURS = 8;
export const N_SHAPES = 4;
export const GOOD = ["#b83c00", "#e8872b", "#c9b98f", "#5b97cc", "#00569b"];
const GOOD_DARK = ["#ff7a33", "#f0a35a", "#b9ad92", "#6fb0e6", "#3d8ff0"];
export const AMOUNT = ["#5b59b5", "#34789b", "#22a07f", "#77c04a", "#dcc522"];
/** From near to far: what is far fades into the ground. */
const NEAR = {
  light: ["#4a0d6b", "#a3195b", "#e0533d", "#f4a259", "#ddd6c3"],
  dark: ["#fff3b0", "#ffb454", "#e8596b", "#7d3c98", "#484566"],
};
/** From kept to changed: what stayed fades into the ground. */
const CHANGE = {
  light: ["#d3d5d2", "#d9b3a0", "#d97b52", "#b8321a", "#6d0f1f"],
  dark: ["#3d444c", "#6d4a3f", "#b5573a", "#ff7a45", "#ffd0a8"],
};
const GREY = { light: "#d3d5d2", dark: "#3d444c" };
const UNDER = 4;

const scheme = matchMedia("(prefers-color-scheme: dark)");
export const onScheme = (redo: () => void) => scheme.addEventListener("change", redo);
let paper = false;
const mode = () => (scheme.matches && !paper ? "dark" : "light");
/** The page is about to be printed, or was. */
export const printing = (now: boolean) => void (paper = now);
/** Does something with the colours for white paper, whatever the screen has. */
export function onPaper<T>(act: () => T): T {
  paper = true;
  try {
    return act();
  } finally {
    paper = false;
  }
}
export const classColour = (k: number) => CLASSES[mode()][k % N_COLOURS];
export const classShape = (k: number) => Math.floor(k / N_COLOURS) % N_SHAPES;
export const grey = () => GREY[mode()];
export const goodRamp = () => (mode() === "dark" ? GOOD_DARK : GOOD);
export const nearRamp = () => NEAR[mode()];
export const changeStops = () => CHANGE[mode()];
export const amountStops = () => AMOUNT;

const part = (hex: string, k: number) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
const word = (r: number, g: number, b: number, code: number) => (r | (g << 8) | (b << 16) | (code << 24)) >>> 0;
const ink = (hex: string, code = 0) => word(part(hex, 0), part(hex, 1), part(hex, 2), code);

const STEPS = 64;
function ramp(stops: string[]): Uint32Array {
  return Uint32Array.from({ length: STEPS }, (_, i) => {
    const t = (i / (STEPS - 1)) * (stops.length - 1),
      a = Math.min(Math.floor(t), stops.length - 2);
    const mix = (k: number) => Math.round(part(stops[a], k) + (t - a) * (part(stops[a + 1], k) - part(stops[a], k)));
    return word(mix(0), mix(1), mix(2), 0);
  });
}

export const hexOf = (word: number) =>
  `#${[0, 8, 16].map((shift) => ((word >> shift) & 255).toString(16).padStart(2, "0")).join("")}`;
/** A ramp as so many colours. */
export const rampColours = (stops: string[]) => Array.from(ramp(stops), hexOf);

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
