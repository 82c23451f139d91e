// What colour a bin or a point has, and the picture of a square.
import { AMOUNT, N_COLOURS, classColour, grey, ink as inkOf, ramp } from "./palette";
import { Shade, Tile } from "./tiles";

export const SIDE = 256; // bins along a side of a square
const N_OWN = 16, // classes with a colour of their own
  UNKNOWN = 255;

// Where each bin of a square is, counted in the order of the quadtree.
const across = new Uint8Array(SIDE * SIDE),
  up = new Uint8Array(SIDE * SIDE);
for (let k = 0; k < SIDE * SIDE; k++)
  for (let bit = 0; bit < 8; bit++) {
    across[k] |= ((k >> (2 * bit)) & 1) << bit;
    up[k] |= ((k >> (2 * bit + 1)) & 1) << bit;
  }

/** The colour of class k: after the first ten a lighter or darker one. */
export function shadeOfClass(k: number): string {
  if (k >= N_OWN) return grey();
  const hex = classColour(k);
  if (k < N_COLOURS) return hex;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const part = (i: number) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => Math.round(dark ? part(i) * 0.55 : part(i) + (255 - part(i)) * 0.5));
  return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** The ink of every code that the server sends: red, green and blue in one number. */
export function inksOf(shade: Shade | null): Uint32Array {
  const out = new Uint32Array(256).fill(inkOf(shade ? grey() : classColour(0)) & 0xffffff);
  if (shade?.classes) for (let k = 0; k < N_OWN; k++) out[k] = inkOf(shadeOfClass(k)) & 0xffffff;
  else if (shade) {
    const steps = ramp(AMOUNT);
    for (let k = 0; k < UNKNOWN; k++) out[k] = steps[Math.round((k / (UNKNOWN - 1)) * (steps.length - 1))] & 0xffffff;
  }
  return out;
}

/** Between two inks: `part` of 255 of the first. */
function mix(a: number, b: number, part: number): number {
  const rest = 255 - part;
  const one = (shift: number) => ((((a >> shift) & 255) * part + ((b >> shift) & 255) * rest) / 255) | 0;
  return one(0) | (one(8) << 8) | (one(16) << 16);
}

const LEAST = 0.3; // cover of a bin with one row among many fuller ones
const cover = (count: number, full: number) =>
  Math.round(255 * (LEAST + (1 - LEAST) * Math.min(1, Math.log1p(count) / Math.log1p(Math.max(1, full)))));

/** A square as a picture, one pixel for a bin. Where rows are marked, the others are grey and faint. */
export function picture(tile: Tile, inks: Uint32Array, marked: boolean): HTMLCanvasElement {
  if (tile.image) return tile.image;
  const made = document.createElement("canvas"),
    pen = made.getContext("2d")!,
    image = new ImageData(SIDE, SIDE),
    words = new Uint32Array(image.data.buffer),
    soft = inkOf(grey()) & 0xffffff;
  made.width = made.height = SIDE;
  for (let k = 0; k < tile.bins.length; k++) {
    const at = tile.bins[k],
      under = marked && tile.marks[k] === 0;
    const ink = under ? soft : mix(inks[tile.colours[k]], soft, 95 + Math.round((160 * tile.pure[k]) / 255));
    const strength = cover(marked && !under ? tile.marks[k] : tile.counts[k], tile.full);
    words[(SIDE - 1 - up[at]) * SIDE + across[at]] = (ink | ((under ? strength >> 1 : strength) << 24)) >>> 0;
  }
  pen.putImageData(image, 0, 0);
  return (tile.image = made);
}
