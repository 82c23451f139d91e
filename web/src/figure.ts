// The large map as a figure for papers: light colours, a legend or colour bar, and a note, as SVG or PNG.
import {
  AMOUNT,
  classColour,
  classShape,
  classesOf,
  hexOf,
  onPaper,
  paintInks,
  quantityOf,
  rampColours,
  rangeOf,
} from "./colours";
import { Places, n, order } from "./data";
import { View } from "./marks";
import { measured } from "./measured";
import * as selection from "./selection";
import { digits } from "./tip";

const SIDE = 640,
  MARGIN = 16,
  HEAD = 40,
  FOOT = 44,
  KEY = 190,
  MOST_KEYS = 28,
  FONT = "Helvetica, Arial, sans-serif",
  INK = "#1d2126",
  SOFT = "#5c646e";

interface Pen {
  mark(x: number, y: number, r: number, shape: number, colour: string): void;
  text(x: number, y: number, words: string, size: number, colour: string, bold?: boolean, anchor?: "end"): void;
  box(x: number, y: number, w: number, h: number, colour: string): void;
}

/** Corners of a shape around (0, 0) with radius 1; none for a circle. */
const CORNERS = [
  [],
  [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
  [0, -1.2, 1.1, 0.8, -1.1, 0.8],
  [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
];
const at = (v: number) => String(+v.toFixed(2));
const escaped = (text: string) =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** The name of SVG, as the browser has it: no address stands in this page. */
const namespace = () => new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg")!.namespaceURI!;

class SvgPen implements Pen {
  private parts: string[] = [];
  mark(x: number, y: number, r: number, shape: number, colour: string): void {
    const c = CORNERS[shape];
    let path = "";
    for (let k = 0; k < c.length; k += 2) path += `${k ? "L" : "M"}${at(x + r * c[k])} ${at(y + r * c[k + 1])}`;
    this.parts.push(
      shape
        ? `<path d="${path}Z" fill="${colour}"/>`
        : `<circle cx="${at(x)}" cy="${at(y)}" r="${at(r)}" fill="${colour}"/>`,
    );
  }
  text(x: number, y: number, words: string, size: number, colour: string, bold = false, anchor?: "end"): void {
    const more = (bold ? ' font-weight="bold"' : "") + (anchor ? ' text-anchor="end"' : "");
    this.parts.push(
      `<text x="${at(x)}" y="${at(y)}" font-size="${size}" fill="${colour}"${more}>${escaped(words)}</text>`,
    );
  }
  box(x: number, y: number, w: number, h: number, colour: string): void {
    this.parts.push(`<rect x="${at(x)}" y="${at(y)}" width="${at(w)}" height="${at(h)}" fill="${colour}"/>`);
  }
  done(width: number, height: number, title: string): string {
    return (
      `<svg xmlns="${namespace()}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
      `font-family="${FONT}"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/>` +
      `${this.parts.join("\n")}</svg>\n`
    );
  }
}

class CanvasPen implements Pen {
  constructor(private pen: CanvasRenderingContext2D) {}
  mark(x: number, y: number, r: number, shape: number, colour: string): void {
    const { pen } = this,
      c = CORNERS[shape];
    pen.fillStyle = colour;
    pen.beginPath();
    if (!shape) pen.arc(x, y, r, 0, 7);
    for (let k = 0; k < c.length; k += 2) pen.lineTo(x + r * c[k], y + r * c[k + 1]);
    pen.fill();
  }
  text(x: number, y: number, words: string, size: number, colour: string, bold = false, anchor?: "end"): void {
    this.pen.font = `${bold ? "bold " : ""}${size}px ${FONT}`;
    this.pen.fillStyle = colour;
    this.pen.textAlign = anchor ?? "left";
    this.pen.fillText(words, x, y);
  }
  box(x: number, y: number, w: number, h: number, colour: string): void {
    this.pen.fillStyle = colour;
    this.pen.fillRect(x, y, w, h);
  }
}

export interface Shown {
  places: Places;
  view: View;
  choice: string;
  colourName: string;
}

const widthOf = (shown: Shown) => SIDE + (classesOf(shown.choice) ? KEY : 0);
const HEIGHT = HEAD + SIDE + FOOT;

function marks(pen: Pen, { places, view, choice }: Shown): void {
  const inks = new Uint32Array(n),
    span = (SIDE - 2 * MARGIN) * view.scale,
    r = Math.max(0.8, Math.min(3.4, 90 / Math.sqrt(n)));
  paintInks(inks, places, choice, selection.marked());
  for (const under of [4, 0])
    for (const i of order) {
      const code = inks[i] >>> 24,
        x = SIDE / 2 + (places.xy[2 * i] - view.x) * span,
        y = HEAD + SIDE / 2 - (places.xy[2 * i + 1] - view.y) * span;
      if ((code & 4) !== under || !(x >= 0 && x <= SIDE && y >= HEAD && y <= HEAD + SIDE)) continue;
      pen.mark(x, y, r, code & 3, hexOf(inks[i]));
    }
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);

function key(pen: Pen, { choice, colourName }: Shown): void {
  const grouped = classesOf(choice),
    quantity = quantityOf(choice);
  if (grouped) {
    const many = grouped.classes!.length > MOST_KEYS;
    pen.text(SIDE + 8, HEAD + 14, cut(grouped.name, 26), 13, INK, true);
    grouped.classes!.slice(0, many ? MOST_KEYS - 1 : MOST_KEYS).forEach((name, k) => {
      pen.mark(SIDE + 14, HEAD + 32 + 21 * k, 4.5, classShape(k), classColour(k));
      pen.text(SIDE + 26, HEAD + 36.5 + 21 * k, cut(name, 24), 12, INK);
    });
    if (many)
      pen.text(
        SIDE + 26,
        HEAD + 36.5 + 21 * (MOST_KEYS - 1),
        `and ${grouped.classes!.length - MOST_KEYS + 1} more`,
        12,
        SOFT,
      );
    return;
  }
  const computed = measured(choice);
  if (!quantity && !computed) return;
  const range = quantity ? rangeOf(quantity) : { low: computed!.low, high: computed!.high, clipped: false };
  const side = (sign: string, value: number) => (range.clipped ? `${sign} ` : "") + digits(value, 4);
  const left = SIDE - MARGIN - 150;
  pen.text(SIDE - MARGIN - 330, 26, cut(colourName, 22), 12, INK);
  pen.text(SIDE - MARGIN - 158, 26, side("\u2264", range.low), 12, INK, false, "end");
  // Each step reaches under the next one, so that no gap is seen between them.
  const steps = rampColours(quantity ? AMOUNT : computed!.stops());
  steps.forEach((colour, k) =>
    pen.box(left + (90 * k) / steps.length, 16, 90 / steps.length + (k < steps.length - 1 ? 1 : 0), 11, colour),
  );
  pen.text(SIDE - MARGIN - 52, 26, side("\u2265", range.high), 12, INK);
}

function draw(pen: Pen, shown: Shown): void {
  pen.text(MARGIN, 27, cut(shown.places.name, 36), 17, INK, true);
  key(pen, shown);
  marks(pen, shown);
  const zoomed = shown.view.scale > 1 ? ` A part of the map, enlarged ${digits(shown.view.scale, 2)} times.` : "";
  const grey = selection.nMarked()
    ? ` ${selection.nMarked().toLocaleString("en")} rows are marked, the others grey.`
    : "";
  pen.text(
    MARGIN,
    HEAD + SIDE + 26,
    `${n.toLocaleString("en")} rows. Both axes have the same scale; directions have no meaning.${zoomed}${grey}`,
    11.5,
    SOFT,
  );
}

export function asSvg(shown: Shown): string {
  return onPaper(() => {
    const pen = new SvgPen();
    draw(pen, shown);
    return pen.done(widthOf(shown), HEIGHT, `Map by ${shown.places.name}`);
  });
}

/** Three pixels for each unit: 200 dots per inch at the width of a page. */
export function asPng(shown: Shown, done: (made: Blob) => void): void {
  const canvas = document.createElement("canvas"),
    ratio = 3;
  canvas.width = widthOf(shown) * ratio;
  canvas.height = HEIGHT * ratio;
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.scale(ratio, ratio);
  onPaper(() => draw(new CanvasPen(pen), shown));
  canvas.toBlob((made) => made && done(made), "image/png");
}
