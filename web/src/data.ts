// What the page was given, decoded once into typed arrays.

interface PackedLabel {
  name: string;
  classes: string[] | null;
  values: string;
}
interface PackedMap {
  name: string;
  flat: boolean;
  linear: boolean;
  xy: string;
  ellipses: { rows: string; axes: string } | null;
  quality: string;
}
interface PackedLine {
  name: string;
  colour: string;
  k: string;
  r: string;
}
interface Packed {
  rows: string;
  names: string[] | null;
  label: PackedLabel | null;
  columns: { name: string; classes: string[] | null; values: string }[];
  shown: { name: string; values: string[] }[];
  maps: PackedMap[];
  charts: { longest: number; low: number; lines: PackedLine[] }[];
  groups: { columns: number; positions: number; judged: number };
  start: string | null;
  questions: Question[];
  recommended: string | null;
  truth: PackedTruth | null;
  title: string;
  images: { width: number; height: number; channels: number; values: string } | null;
}
interface PackedTruth {
  kind: "components" | "distances" | "neighbours";
  width: number;
  step: number;
  values: string;
  near: string | null;
  k: number;
}

/** Maps in the order in which they answer a question, best first. */
export interface Question {
  name: string;
  measure: string;
  ties: string[];
  values: [string, number][];
}
/** How far rows are from each other in the data, in steps: `width` numbers for each row. */
export interface Truth {
  kind: "components" | "distances" | "neighbours";
  width: number;
  step: number;
  values: Uint16Array;
  near: Uint16Array | Uint32Array | null;
  k: number;
}

export interface Label {
  name: string;
  classes: string[] | null;
  values: Int32Array | Float32Array;
  holes: boolean;
}
export interface Column {
  name: string;
  classes: string[] | null;
  values: Float32Array | Int32Array;
}
export interface Line {
  name: string;
  colour: string;
  k: Int32Array;
  r: Float32Array;
}
export interface Chart {
  longest: number;
  low: number;
  lines: Line[];
}
/** Where rows with missing cells may be: two half axes of an ellipse for each of these rows. */
export interface Ellipses {
  rows: Int32Array;
  axes: Float32Array;
}
export interface Places {
  name: string;
  flat: boolean;
  linear: boolean; // the same directions mean the same everywhere
  xy: Float32Array;
  ellipses: Ellipses | null;
  quality: Float32Array;
}

function bytes(text: string): ArrayBuffer {
  const raw = atob(text),
    out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}
const floats = (text: string) => new Float32Array(bytes(text));
const ints = (text: string) => new Int32Array(bytes(text));

const packed: Packed = JSON.parse(document.getElementById("data")!.textContent!);

export const rows = ints(packed.rows);
export const n = rows.length;
export const names = packed.names;
export const label: Label | null = packed.label && decodeLabel(packed.label);
export const maps: Places[] = packed.maps.map(decodeMap);
export const charts: Chart[] = packed.charts.map((chart) => ({
  ...chart,
  lines: chart.lines.map((line) => ({ ...line, k: ints(line.k), r: floats(line.r) })),
}));
// Columns are decoded when they are first asked for: most are never looked at.
export const columns: Column[] = packed.columns.map((column) => {
  let values: Float32Array | Int32Array | null = null;
  return {
    name: column.name,
    classes: column.classes,
    get values() {
      return (values ??= column.classes ? ints(column.values) : floats(column.values));
    },
  };
});
export const { groups, start, questions, recommended, title } = packed;
export const hasTruth = packed.truth !== null;
let decoded: Truth | null = null;
/** Decoded when it is first asked for: it is the largest part of the page. */
export function truth(): Truth {
  const { values, near, ...rest } = packed.truth!;
  return (decoded ??= {
    ...rest,
    values: new Uint16Array(bytes(values)),
    near: near === null ? null : n <= 2 ** 16 ? new Uint16Array(bytes(near)) : new Uint32Array(bytes(near)),
  });
}
/** Pixels of the rows, 0 to 255, where rows are images. */
export const images = packed.images && { ...packed.images, values: new Uint8Array(bytes(packed.images.values)) };
/** Columns that no method saw: dates, names, free text, shown with a row. */
export const shown = packed.shown;

function decodeLabel(source: PackedLabel): Label {
  const values = source.classes ? ints(source.values) : floats(source.values);
  return { ...source, values, holes: values.some((v) => !(source.classes ? v >= 0 : Number.isFinite(v))) };
}

function decodeMap(source: PackedMap): Places {
  const xy = floats(source.xy);
  // A line has no heights: rows are spread evenly so that they can be told apart.
  if (source.flat) for (let i = 0; i < n; i++) xy[2 * i + 1] = ((i * 0.618034) % 1) * 0.3 - 0.15;
  const { name, flat, linear, ellipses } = source;
  return {
    ...{ name, flat, linear, xy, quality: floats(source.quality) },
    ellipses: ellipses && { rows: ints(ellipses.rows), axes: floats(ellipses.axes) },
  };
}

/** One fixed shuffle: no class is always painted on top of another. */
export const order = (() => {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1, s = 12345; i > 0; i--) {
    s = (Math.imul(s, 1103515245) + 12345) & 0x7fffffff;
    const j = s % (i + 1),
      kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  return order;
})();
