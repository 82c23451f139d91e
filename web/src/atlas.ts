// One map of any number of rows: its squares, its view, and what pointer and keys do on it.
import { blend, stampAt, stampsOf, unmultiply } from "./stamps";
import { picture, SIDE } from "./shades";
import { About, Points, Row, Shade, Tile, json, points, tiles } from "./tiles";

const MARGIN = 14,
  REACH = 12, // pixels from a row that still point at it
  BUDGET = 16_000, // points that are drawn at once
  DEEPEST_ZOOM = 2 ** 14,
  MOST_CORNERS = 100,
  STEP = 0.15; // of the view, by an arrow key

export interface View {
  scale: number;
  x: number; // the middle, from 0 to 1
  y: number;
}
/** What all maps share. */
export const shared = {
  about: null as unknown as About,
  colour: "", // number of the colour, or nothing
  inks: new Uint32Array(256) as Uint32Array,
  mark: "", // what is marked, as the server understands it
  before: "", // colour and marks as they were: shown until the new ones are here
  always: false, // points even where they are a sample
  loops: false, // dragging draws a loop
  current: null as Row | null,
  pointed: (_row: Row | null, _by: AtlasMap) => {},
  marked: (_mark: string) => {},
};
/** What a map shows at the moment. */
export interface Shown {
  inView: number; // rows of the squares in view
  kind: "density" | "points";
  half: number; // one row in 2 ** half is drawn
  points: number;
  complete: boolean; // nothing is still on its way
}
interface Square {
  level: number;
  x: number;
  y: number;
}

/** Colour and marks as requests name them. */
export const asking = () => `&colour=${shared.colour}${shared.mark && `&mark=${encodeURIComponent(shared.mark)}`}`;
const query = (map: number, { level, x, y }: Square, how = asking()) =>
  `?map=${map}&level=${level}&x=${x}&y=${y}${how}`;
export const shadeNow = (): Shade | null => (shared.colour === "" ? null : shared.about.colours[+shared.colour]);

export class AtlasMap {
  readonly canvas = document.createElement("canvas");
  readonly over = document.createElement("canvas");
  view: View = { scale: 1, x: 0.5, y: 0.5 };
  large = false;
  shown: Shown = { inView: 0, kind: "density", half: 0, points: 0, complete: false };
  private width = 0;
  private height = 0;
  private from: { x: number; y: number; far: boolean } | null = null;
  private loop: number[] | null = null;
  private asking = false;
  private next: [number, number] | null = null;
  private layer: ImageData | null = null;

  constructor(
    readonly k: number,
    readonly name: string,
    private redo: (map: AtlasMap) => void,
    private pick: (map: AtlasMap) => void,
  ) {
    this.over.className = "over";
    this.canvas.setAttribute("role", "img");
    this.canvas.dataset.map = String(k);
    this.listen();
  }

  // --- places

  private span(): number {
    return Math.max(1, Math.min(this.width, this.height) - 2 * MARGIN) * this.view.scale;
  }
  place([u, v]: [number, number]): [number, number] {
    const span = this.span();
    return [this.width / 2 + (u - this.view.x) * span, this.height / 2 - (v - this.view.y) * span];
  }
  unplace(x: number, y: number): [number, number] {
    const span = this.span();
    return [this.view.x + (x - this.width / 2) / span, this.view.y - (y - this.height / 2) / span];
  }

  measure(): void {
    const box = this.canvas.getBoundingClientRect(),
      ratio = Math.min(2, window.devicePixelRatio || 1);
    this.width = box.width;
    this.height = box.height;
    for (const canvas of [this.canvas, this.over]) {
      const w = Math.max(1, Math.round(box.width * ratio)),
        h = Math.max(1, Math.round(box.height * ratio));
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    }
  }

  // --- painting

  /** The squares in view, of the level whose bins are one to two pixels wide. */
  private squares(): Square[] {
    const ratio = this.canvas.width / (this.width || 1),
      level = Math.max(0, Math.min(shared.about.deepest, Math.ceil(Math.log2((this.span() * ratio) / (2 * SIDE))))),
      side = 2 ** level,
      [left, bottom] = this.unplace(0, this.height),
      [right, top] = this.unplace(this.width, 0);
    const clip = (v: number) => Math.max(0, Math.min(side - 1, Math.floor(v * side)));
    const found: Square[] = [];
    if (right < 0 || top < 0 || left > 1 || bottom > 1) return found;
    for (let y = clip(bottom); y <= clip(top); y++)
      for (let x = clip(left); x <= clip(right); x++) found.push({ level, x, y });
    return found;
  }

  paint(): void {
    this.measure();
    const squares = this.squares(),
      again = () => this.redo(this),
      found = squares.map((square) => tiles.get(`tile${query(this.k, square)}`, again));
    const inView = found.reduce((sum, tile) => sum + (tile?.total ?? 0), 0),
      known = found.every(Boolean);
    let half = 0;
    while (inView / 2 ** half > BUDGET) half++;
    const pointed = (this.large && known && half === 0 && squares.length > 0) || (shared.always && known);
    const drawn = pointed
      ? squares.map((s, i) => (found[i]!.total ? points.get(`points${query(this.k, s)}&half=${half}`, again) : null))
      : [];
    const ready = pointed && drawn.every((one, i) => one || !found[i]!.total);
    const pen = this.canvas.getContext("2d")!;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (ready) this.dots(squares, drawn);
    else squares.forEach((square, i) => this.square(pen, square, found[i]));
    const count = drawn.reduce((sum, one) => sum + (one?.rows.length ?? 0), 0);
    this.shown = {
      inView,
      kind: ready ? "points" : "density",
      half: ready ? half : 0,
      points: ready ? count : 0,
      complete: known && (!pointed || ready),
    };
    this.canvas.dataset.kind = this.shown.kind;
    this.overlay();
  }

  /** The square, or as long as it is not here a larger one around it, or one in the colours before. */
  private best(square: Square, tile: Tile | null): { tile: Tile | null; part: number } {
    for (const how of [asking(), shared.before])
      for (let up = 0; !tile && up <= square.level; up++) {
        const above = { level: square.level - up, x: square.x >> up, y: square.y >> up };
        const found = tiles.peek(`tile${query(this.k, above, how)}`);
        if (found && (how !== shared.before || found.image)) return { tile: found, part: 2 ** up };
      }
    return { tile, part: 1 };
  }

  private square(pen: CanvasRenderingContext2D, { level, x, y }: Square, here: Tile | null): void {
    const { tile, part } = this.best({ level, x, y }, here);
    if (!tile || !tile.total) return;
    const ratio = this.canvas.width / (this.width || 1),
      side = 2 ** level,
      [left, top] = this.place([x / side, (y + 1) / side]),
      [right, bottom] = this.place([(x + 1) / side, y / side]),
      at = (v: number) => Math.round(v * ratio),
      size = SIDE / part;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(
      picture(tile, shared.inks, shared.mark !== ""),
      (x % part) * size,
      SIDE - size - (y % part) * size,
      size,
      size,
      at(left),
      at(top),
      at(right) - at(left),
      at(bottom) - at(top),
    );
  }

  private dots(squares: Square[], drawn: (Points | null)[]): void {
    const { width, height } = this.canvas,
      ratio = width / (this.width || 1),
      count = drawn.reduce((sum, one) => sum + (one?.rows.length ?? 0), 0),
      radius = Math.max(1.3, Math.min(4, 160 / Math.sqrt(count + 1))) * ratio * (this.large ? 1 : 0.7),
      stamps = stampsOf(radius, width, 0.8),
      faint = stampsOf(radius, width, 0.5),
      box = stamps.side;
    if (this.layer?.width !== width || this.layer.height !== height) this.layer = new ImageData(width, height);
    else this.layer.data.fill(0);
    const words = new Int32Array(this.layer.data.buffer),
      marked = shared.mark !== "",
      soft = inkSoft();
    for (const under of marked ? [true, false] : [false])
      squares.forEach((square, i) => {
        const one = drawn[i];
        if (!one) return;
        const side = 2 ** square.level,
          step = (this.span() * ratio) / side / 65536,
          [x0, y0] = this.place([square.x / side, square.y / side]).map((v) => v * ratio);
        for (let k = 0; k < one.rows.length; k++) {
          if (marked && (one.marks[k] === 0) !== under) continue;
          const x = x0 + (one.x[k] + 0.5) * step - box / 2,
            y = y0 - (one.y[k] + 0.5) * step - box / 2,
            left = Math.round(x),
            top = Math.round(y),
            ink = under ? soft : shared.inks[one.colours[k]];
          blend(words, width, height, left, top, under ? faint : stamps, stampAt(0, x - left, y - top), ink);
        }
      });
    unmultiply(words);
    this.canvas.getContext("2d")!.putImageData(this.layer, 0, 0);
  }

  overlay(): void {
    const pen = this.over.getContext("2d")!,
      ratio = this.over.width / (this.width || 1),
      style = getComputedStyle(document.body);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const at = shared.current?.places[this.k];
    if (at) {
      for (const [width, colour] of [
        [5, style.backgroundColor],
        [2.25, style.color],
      ] as const) {
        pen.lineWidth = width;
        pen.strokeStyle = colour;
        pen.beginPath();
        pen.arc(...this.place(at), this.large ? 7.5 : 4.5, 0, 7);
        pen.stroke();
      }
    }
    if (!this.loop) return;
    pen.beginPath();
    for (let k = 0; k < this.loop.length; k += 2) pen.lineTo(this.loop[k], this.loop[k + 1]);
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = style.getPropertyValue("--focus");
    pen.globalAlpha = 0.14;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.stroke();
  }

  // --- view

  zoom(by: number, x = this.width / 2, y = this.height / 2): void {
    const [u, v] = this.unplace(x, y),
      scale = Math.max(1, Math.min(DEEPEST_ZOOM, this.view.scale * by)),
      kept = this.view.scale / scale;
    this.look({ scale, x: u + (this.view.x - u) * kept, y: v + (this.view.y - v) * kept });
  }

  /** Sets the view; the middle stays in the map, and the whole map is never off it. */
  look(view: View): void {
    const inside = (v: number) => Math.max(0, Math.min(1, v));
    this.view = view.scale === 1 ? { scale: 1, x: 0.5, y: 0.5 } : { ...view, x: inside(view.x), y: inside(view.y) };
    if (shared.current) this.point(null);
    this.redo(this);
  }

  // --- events

  private listen(): void {
    const { canvas } = this,
      at = (event: MouseEvent): [number, number] => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
    canvas.addEventListener("pointerdown", (event) => this.press(event, ...at(event)));
    canvas.addEventListener("pointermove", (event) => this.move(...at(event)));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointercancel", () => this.drop());
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!this.large) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.002), ...at(event));
      },
      { passive: false },
    );
  }

  private press(event: PointerEvent, x: number, y: number): void {
    if (event.button > 1) return;
    this.canvas.setPointerCapture(event.pointerId);
    if (this.large && (event.shiftKey || shared.loops)) this.loop = [x, y];
    else this.from = { x, y, far: false };
  }

  private move(x: number, y: number): void {
    if (this.loop) {
      const k = this.loop.length;
      if (Math.hypot(x - this.loop[k - 2], y - this.loop[k - 1]) >= 3) this.loop.push(x, y);
      return this.overlay();
    }
    if (!this.from) return this.point([x, y]);
    const far = this.from.far || Math.hypot(x - this.from.x, y - this.from.y) > 3;
    if (!this.large || !far) return;
    const span = this.span(),
      { from, view } = this;
    this.from = { x, y, far };
    this.look({ ...view, x: view.x - (x - from.x) / span, y: view.y + (y - from.y) / span });
  }

  private release(): void {
    const { loop, from } = this;
    this.drop();
    if (loop && loop.length > 6) return this.close(loop);
    if (from && !from.far && !this.large) this.pick(this);
  }

  private close(loop: number[]): void {
    const every = Math.ceil(loop.length / 2 / MOST_CORNERS),
      corners: string[] = [];
    for (let k = 0; k < loop.length; k += 2 * every)
      corners.push(...this.unplace(loop[k], loop[k + 1]).map((v) => v.toFixed(7)));
    shared.marked(`loop:${this.k}:${corners.join()}`);
  }

  /** Lets go of what is being dragged; says whether a loop was being drawn. */
  drop(): boolean {
    const drawing = this.loop !== null;
    this.loop = this.from = null;
    if (drawing) this.overlay();
    return drawing;
  }

  /** The row at a place, or none; one question at a time, the last one wins. */
  point(at: [number, number] | null): void {
    this.next = at;
    if (at === null) return shared.pointed(null, this);
    if (!this.asking) void this.ask();
  }

  private async ask(): Promise<void> {
    this.asking = true;
    try {
      while (this.next) {
        const [x, y] = this.next,
          [u, v] = this.unplace(x, y);
        const found = await json<Row | null>(
          `near?map=${this.k}&x=${u}&y=${v}&reach=${Math.min(1, REACH / this.span())}`,
        );
        if (!this.next) break;
        if (this.next[0] === x && this.next[1] === y) {
          this.next = null;
          shared.pointed(found, this);
        }
      }
    } catch {
      shared.pointed(null, this);
    } finally {
      this.asking = false;
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.large) return;
    const { view } = this,
      step = STEP / view.scale,
      by = { ArrowRight: [step, 0], ArrowLeft: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
    if (by) this.look({ ...view, x: view.x + by[0], y: view.y + by[1] });
    else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.look({ scale: 1, x: 0.5, y: 0.5 });
    else return;
    event.preventDefault();
  }
}

let softInk = 0;
export const setSoft = (ink: number) => (softInk = ink);
const inkSoft = () => softInk;
