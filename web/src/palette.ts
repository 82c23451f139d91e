// The colours of rows, light and dark. An ink is four bytes: red, green, blue, and shape + 4 where it lies underneath.

// Colours that people with any kind of colour vision can tell apart (a test measures it); after the last one the shape
// changes. Ten, since ten classes are common and the shapes of small marks cannot be told apart.
const CLASSES = {
  light: ["#0072b2", "#d07f00", "#009e73", "#c65f9c", "#d1480d", "#379ad8", "#605500", "#5d636b", "#5a3ccf", "#7a1236"],
  dark: ["#4ea6e6", "#f5a623", "#2fc79a", "#f0a8d6", "#ff7a45", "#9bd7fa", "#e3d34a", "#8a94a0", "#7a68ff", "#b04a70"],
};
export const N_COLOURS = 10;
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
export const UNDER = 4;

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
export const ink = (hex: string, code = 0) => word(part(hex, 0), part(hex, 1), part(hex, 2), code);

export const STEPS = 64;
export function ramp(stops: string[]): Uint32Array {
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
