// One map: its canvas, its view, and what pointer and keys do on it.
import { Choice, N_COLOURS, paintInks } from "./colours";
import { Column, Label, Places, columns, groups, label, n, names, rows, shown } from "./data";
import * as axes from "./axes/arrows";
import { compass } from "./axes/slopes";
import { drawEllipses } from "./ellipses";
import { hasImages, imageOf } from "./images";
import { drawLinks, falseNear } from "./links";
import { Look, Painter, Sheet, View } from "./marks";
import { Grid, inside } from "./places";
import * as selection from "./selection";
import { Entry, digits, hideTip, showTip } from "./tip";
import * as truth from "./truth";

const MARGIN = 14,
  REACH = 12,
  MOST_COLUMNS = hasImages ? 0 : innerWidth < 640 ? 2 : 4, // an image says more than its pixels
  MOST_TEXT = 200, // characters of a text that are shown with a row
  MOST_ZOOM = 400;
/** A screen that can be touched, without a pointer that hovers: there a finger scrolls unless drawing is switched on. */
export const touched =
  navigator.maxTouchPoints > 0 && !matchMedia("(any-hover: hover) and (any-pointer: fine)").matches;

/** What all maps share: the row that is pointed at, what colours mean, and whether a finger draws loops. */
export const shared = {
  current: -1,
  by: null as MapView | null, // the map it was pointed at in
  choice: "none" as Choice,
  fingerDraws: !touched,
  pointed: () => {}, // called after another row, or none, is pointed at
};
/** What is true about the row that is pointed at, if it is to be shown. */
const seen = () => (truth.state.on && shared.current >= 0 ? truth.look(shared.current) : null);
const say = document.getElementById("say")!;

export class MapView {
  readonly over: HTMLCanvasElement;
  readonly sheet: Sheet;
  private view: View = { scale: 1, x: 0, y: 0 };
  private grid: Grid | null = null;
  private loop: number[] | null = null; // pixels of the map, x, y, x, y, ...
  private from: { x: number; y: number } | null = null; // where the view was taken hold of
  readonly figure: HTMLElement;
  readonly button: HTMLButtonElement;
  picked = () => {}; // called when a small map is clicked
  private large = false;
  private note: HTMLElement;
  private back: HTMLButtonElement;
  private width = 0;
  private height = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly places: Places,
    readonly all: MapView[],
    private redo: (map: MapView) => void,
  ) {
    this.over = canvas.nextElementSibling as HTMLCanvasElement;
    this.sheet = {
      xy: places.xy,
      inks: new Uint32Array(n),
      under: false,
      fresh: true,
      moved: false,
      byDistance: false,
    };
    const figure = (this.figure = canvas.closest("figure")!);
    this.button = figure.querySelector(".pick")!;
    this.note = figure.querySelector(".marked")!;
    this.back = this.buttons(figure.querySelector(".zoom")!);
    this.listen();
  }

  // --- painting

  ink(): void {
    const found = seen();
    this.sheet.byDistance = !!found?.distances;
    if (found?.distances) {
      this.sheet.inks.set(truth.inksOf(found));
      this.sheet.under = true;
    } else this.sheet.under = paintInks(this.sheet.inks, this.places, shared.choice, selection.marked());
    this.sheet.fresh = true;
    this.summarise();
  }

  paint(painter: Painter): void {
    this.measure();
    painter.paint(this.sheet, this.canvas, this.look());
    this.canvas.dataset.painter = painter.kind;
    this.overlay();
  }

  /** What the first row that is pointed at needs. */
  prepare(painter: Painter): void {
    this.cells();
    painter.prepare?.(this.sheet, this.look());
  }

  private measure(): void {
    const box = this.canvas.getBoundingClientRect(),
      ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    for (const canvas of [this.canvas, this.over]) {
      const w = Math.max(1, Math.round(box.width * ratio)),
        h = Math.max(1, Math.round(box.height * ratio));
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    }
  }

  private look(): Look {
    const ratio = this.canvas.width / (this.width || 1),
      side = Math.min(this.width, this.height);
    const radius =
      Math.min(4.8, Math.max(0.9, Math.min(3.6, 60 / Math.sqrt(n))) * Math.max(0.8, side / 340)) *
      Math.min(2, this.view.scale ** 0.25);
    // Shapes need a few more pixels than colours do.
    const shapes = shared.choice === "label" && (label?.classes?.length ?? 0) > N_COLOURS && n <= 5000 ? 1.35 : 1;
    return {
      width: this.canvas.width,
      height: this.canvas.height,
      radius: radius * shapes * ratio,
      alpha: n > 4000 ? 0.55 : 0.82,
      view: this.view,
      margin: MARGIN * ratio,
    };
  }

  private span(): number {
    return Math.max(1, Math.min(this.width, this.height) - 2 * MARGIN) * this.view.scale;
  }

  /** Where a row is on the canvas, in pixels of the page; NaN if it is not in this map. */
  place(row: number): [number, number] {
    const span = this.span(),
      { xy } = this.places;
    return [
      this.width / 2 + (xy[2 * row] - this.view.x) * span,
      this.height / 2 - (xy[2 * row + 1] - this.view.y) * span,
    ];
  }

  private unplace(x: number, y: number): [number, number] {
    const span = this.span();
    return [this.view.x + (x - this.width / 2) / span, this.view.y - (y - this.height / 2) / span];
  }

  /** Rows part of the way from other places to those of this map; at the end, or without other places, at rest. */
  glide(from: Float32Array | null, share: number): void {
    const { xy } = this.places;
    if (!from || share >= 1) this.sheet.xy = xy;
    else {
      if (this.sheet.xy === xy) this.sheet.xy = new Float32Array(xy.length);
      for (let p = 0; p < xy.length; p++) this.sheet.xy[p] = from[p] + share * (xy[p] - from[p]);
    }
    this.sheet.moved = true;
  }
  get resting(): boolean {
    return this.sheet.xy === this.places.xy;
  }

  get size(): { width: number; height: number } {
    return { width: this.width, height: this.height };
  }

  /** Arrows of columns, where they are asked for: of the whole map if it is linear, else around a row. */
  private arrows(pen: CanvasRenderingContext2D): void {
    if (!axes.state.on || !this.large || !this.resting) return;
    const side = Math.min(this.width, this.height);
    if (this.places.linear) {
      const middle: [number, number] = [this.width / 2, this.height / 2];
      axes.drawArrows(pen, middle, axes.wholeMap(this.places), 0.42 * side, this.size, true);
    } else if (shared.current >= 0) {
      const at = this.place(shared.current);
      if (at.every(Number.isFinite))
        axes.drawArrows(pen, at, this.slopes(shared.current), 0.2 * side, this.size, false);
    }
  }
  private slopes(row: number) {
    if (this.places.linear) return axes.wholeMap(this.places);
    return axes.nearRow(this.places, row, (from, k) => this.cells().around(from, k));
  }

  /** The ring around the row that is pointed at, and the loop that is being drawn. */
  overlay(): void {
    const pen = this.over.getContext("2d")!,
      ratio = this.over.width / (this.width || 1);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const style = getComputedStyle(document.body),
      found = seen();
    if (this.large && this.resting) drawEllipses(pen, this.places, this, this.span(), shared.current);
    if (found && this.resting) drawLinks(pen, this, found, this.large);
    this.arrows(pen);
    if (shared.current >= 0 && this.resting) this.ring(pen, style.color, style.backgroundColor);
    if (!this.loop) return;
    pen.beginPath();
    for (let k = 0; k < this.loop.length; k += 2) pen.lineTo(this.loop[k], this.loop[k + 1]);
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = style.getPropertyValue("--focus");
    pen.globalAlpha = 0.14;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 3]);
    pen.stroke();
    pen.setLineDash([]);
  }

  private ring(pen: CanvasRenderingContext2D, ink: string, ground: string): void {
    const [x, y] = this.place(shared.current);
    if (Number.isNaN(x) || Number.isNaN(y)) return;
    for (const [width, colour] of [
      [5, ground],
      [2.25, ink],
    ] as const) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.arc(x, y, this.large ? 7.5 : 4.5, 0, 7);
      pen.stroke();
    }
  }

  /** How well the neighbourhoods of the marked rows were kept in this map, beside what holds for all. */
  private summarise(): void {
    const marked = selection.marked(),
      { quality } = this.places;
    let sum = 0,
      count = 0;
    if (marked)
      for (let i = 0; i < n; i++)
        if (marked[i] && Number.isFinite(quality[i])) {
          sum += quality[i];
          count++;
        }
    this.note.textContent = count ? `marked rows: quality ${(sum / count).toFixed(2)}` : "";
  }

  // --- pointing

  /** Where rows are, as cells: made while nobody waits for it, or when it is first needed. */
  cells(): Grid {
    return (this.grid ??= new Grid(this.places.xy));
  }

  private nearest(x: number, y: number): number {
    const [u, v] = this.unplace(x, y);
    return this.cells().nearest(u, v, REACH / this.span(), selection.marked());
  }

  /** The nearest rows in this map. */
  around(row: number): number[] {
    return this.cells().around(row, truth.JOINED);
  }

  point(row: number, aloud = false): void {
    if (row === shared.current && !aloud) return;
    shared.current = row;
    shared.by = this;
    for (const map of this.all) map.overlay();
    shared.pointed();
    if (row < 0) return hideTip();
    const head = names ? `${names[row]} (row ${rows[row]})` : `row ${rows[row]}`,
      entries = this.facts(row);
    const left = groups.columns + groups.positions - MOST_COLUMNS,
      box = this.canvas.getBoundingClientRect(),
      [x, y] = this.place(row);
    const there = Number.isFinite(x) && Number.isFinite(y);
    showTip(
      box.left + (there ? x : 0),
      box.top + (there ? y : 0),
      there ? head : `${head}: not in this map`,
      entries,
      left > 0 && !hasImages ? `and ${left} more column${left === 1 ? "" : "s"}` : "",
      seen() ? 48 : 16, // the neighbours around the row stay in sight
      imageOf(row, 64),
    );
    if (aloud) say.textContent = [head, ...entries.map((e) => `${e.name}: ${e.value}`)].join("; ");
  }

  private facts(row: number): Entry[] {
    const facts: Entry[] = [];
    if (label) facts.push({ name: label.name, value: valueOf(label, row) });
    for (const { name, values } of shown) if (values[row]) facts.push({ name, value: brief(values[row]) });
    const chosen = shared.choice.startsWith("column:") ? +shared.choice.slice(7) : -1;
    const first = columns.slice(0, MOST_COLUMNS).map((_, k) => k);
    if (chosen >= MOST_COLUMNS) first[Math.max(0, MOST_COLUMNS - 1)] = chosen;
    for (const k of first) facts.push({ name: columns[k].name, value: valueOf(columns[k], row) });
    for (const map of this.all) if (map === this || map.large) facts.push(...map.judge(row));
    for (const map of this.all) if (axes.state.on && map.large) facts.push(...map.growing(row));
    return facts;
  }

  /** How well a row is placed in this map. */
  private judge(row: number): Entry[] {
    const q = this.places.quality[row],
      name = this.places.name,
      found = seen(),
      facts: Entry[] = [];
    if (Number.isFinite(q)) facts.push({ name: `quality in ${name}`, value: q.toFixed(2).replace("-", "\u2212") });
    const near = found && this.around(row).length;
    if (found && near)
      facts.push({ name: `false neighbours in ${name}`, value: `${falseNear(this, found).length} of ${near}` });
    return facts;
  }

  /** Columns that grow around a row, with the direction. */
  private growing(row: number): Entry[] {
    return axes
      .worthShowing(this.slopes(row))
      .slice(0, 4)
      .map((slope) => ({
        name: `${slope.name} grows ${compass(slope)}`,
        value: `${Math.round(100 * slope.share)} % explained`,
      }));
  }

  // --- size

  /** Large, or one of the small ones, which the keyboard reaches by the button with their name. */
  enlarge(large: boolean): void {
    this.large = large;
    this.canvas.tabIndex = large ? 0 : -1;
    this.button.setAttribute("aria-pressed", String(large));
    this.figure.classList.toggle("small-map", !large);
    if (!large) this.view = { scale: 1, x: 0, y: 0 };
    this.back.hidden = this.view.scale === 1;
  }

  /** Writes how well this map answers the question chosen. */
  rate(value: number | undefined, best: boolean): void {
    this.figure.querySelector(".value")!.textContent =
      value === undefined ? "" : value.toFixed(2).replace("-", "\u2212");
    this.figure.classList.toggle("best", best);
  }

  /** What is in view, for a link or a picture. */
  get window(): View {
    return this.view;
  }
  set window(view: View) {
    this.view = { ...view, scale: Math.max(1, Math.min(MOST_ZOOM, view.scale)) };
    this.moved();
  }

  // --- view

  private buttons(box: HTMLElement): HTMLButtonElement {
    const button = (text: string, title: string, act: () => void) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.title = title;
      made.setAttribute("aria-label", `${title}: ${this.places.name}`);
      made.addEventListener("click", act);
      box.append(made);
      return made;
    };
    button("+", "Zoom in", () => this.zoom(1.5));
    button("\u2212", "Zoom out", () => this.zoom(1 / 1.5));
    const back = button("\u2922", "Whole map", () => this.whole());
    back.hidden = true;
    return back;
  }

  private whole(): void {
    this.view = { scale: 1, x: 0, y: 0 };
    this.moved();
  }

  private zoom(by: number, x = this.width / 2, y = this.height / 2): void {
    const [u, v] = this.unplace(x, y),
      scale = Math.max(1, Math.min(MOST_ZOOM, this.view.scale * by));
    const kept = this.view.scale / scale;
    this.view =
      scale === 1 ? { scale, x: 0, y: 0 } : { scale, x: u + (this.view.x - u) * kept, y: v + (this.view.y - v) * kept };
    this.moved();
  }

  private moved(): void {
    this.back.hidden = this.view.scale === 1;
    this.point(-1);
    this.redo(this);
  }

  // --- events

  private listen(): void {
    const { canvas } = this;
    const at = (event: MouseEvent): [number, number] => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => this.press(event, ...at(event)));
    canvas.addEventListener("pointermove", (event) => this.move(event, ...at(event)));
    canvas.addEventListener("pointerup", (event) => this.release(event, ...at(event)));
    canvas.addEventListener("pointercancel", () => this.drop());
    canvas.addEventListener("pointerleave", (event) => {
      // A finger that is lifted leaves too: what it pointed at stays.
      if (!this.loop && event.pointerType !== "touch") this.point(-1);
    });
    canvas.addEventListener("blur", () => shared.by === this && this.point(-1));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.004), ...at(event));
      },
      { passive: false },
    );
  }

  private press(event: PointerEvent, x: number, y: number): void {
    const pan = event.button === 1 || event.ctrlKey || event.metaKey;
    if (event.button > 1 || (event.pointerType === "touch" && !shared.fingerDraws)) return;
    this.canvas.setPointerCapture(event.pointerId);
    if (pan) {
      event.preventDefault();
      this.from = { x, y };
    } else {
      this.point(-1);
      this.loop = [x, y];
    }
  }

  private move(event: PointerEvent, x: number, y: number): void {
    if (this.from) {
      const span = this.span();
      this.view = {
        ...this.view,
        x: this.view.x - (x - this.from.x) / span,
        y: this.view.y + (y - this.from.y) / span,
      };
      this.from = { x, y };
      return this.moved();
    }
    if (!this.loop) return event.pointerType === "touch" ? undefined : this.point(this.nearest(x, y));
    const k = this.loop.length;
    if (Math.hypot(x - this.loop[k - 2], y - this.loop[k - 1]) < 2) return;
    this.loop.push(x, y);
    hideTip();
    this.overlay();
  }

  private release(event: PointerEvent, x: number, y: number): void {
    const loop = this.loop,
      panned = this.from !== null;
    this.drop();
    if (panned || event.button > 1) return;
    if (loop && loop.length > 6) return this.close(loop, event);
    const row = this.nearest(x, y);
    if (!this.large) return this.picked();
    if (event.pointerType === "touch") return this.point(row);
    if (row < 0 && !event.shiftKey && !event.altKey) return selection.nMarked() ? selection.clear() : undefined;
    if (row >= 0) selection.mark((found) => found(row), how(event));
  }

  private close(loop: number[], event: PointerEvent): void {
    const corners: number[] = [];
    for (let k = 0; k < loop.length; k += 2) corners.push(...this.unplace(loop[k], loop[k + 1]));
    selection.mark((found) => inside(this.places.xy, corners, found), how(event));
  }

  private drop(): void {
    this.loop = this.from = null;
    this.overlay();
  }

  /** Lets go of a loop that is being drawn; says whether there was one. */
  cancel(): boolean {
    const drawing = this.loop !== null;
    if (drawing) this.drop();
    return drawing;
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) this.step(step);
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.whole();
    else if (event.key === "g" || event.key === "G") this.grow();
    else if ((event.key === "Enter" || event.key === " ") && shared.current >= 0) selection.toggleRow(shared.current);
    else return;
    event.preventDefault();
  }

  /** Marks the nearest rows in this map of all marked rows, or of the row that is pointed at. */
  private grow(): void {
    const marked = selection.marked(),
      from: number[] = [];
    if (marked) marked.forEach((flag, i) => flag && from.push(i));
    else if (shared.current >= 0) from.push(shared.current);
    selection.mark((found) => {
      for (const row of from) {
        found(row);
        this.around(row).forEach(found);
      }
    }, "add");
    say.textContent = `${selection.nMarked()} rows marked`;
  }

  /** To the next row, or the next marked one where some are. */
  private step(by: number): void {
    const marked = selection.marked();
    let row = shared.current < 0 && by < 0 ? n : shared.current;
    for (let tries = 0; tries < n; tries++) {
      row = (row + by + n) % n;
      if (!marked || marked[row]) break;
    }
    this.point(row, true);
  }
}

const how = (event: PointerEvent) => (event.shiftKey ? "add" : event.altKey ? "remove" : "replace");

/** One value of a label or column as text. */
export function valueOf({ classes, values }: Column | Label, row: number): string {
  if (!classes) return digits(values[row]);
  return values[row] >= 0 ? classes[values[row]] : "none";
}

const brief = (text: string) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT - 1)}\u2026` : text);
