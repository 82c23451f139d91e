// Many small marks onto a canvas: by WebGL where there is one, else by a rasteriser of our own. Both take the same
// inks, so that a page looks the same without a graphics card.
import { n, order } from "./data";
import { Layers, Marks, fill, layersOf } from "./layers";
import { blend, boxOf, stampAt, stampsOf, unmultiply } from "./stamps";

export interface View {
  scale: number;
  x: number;
  y: number;
}
export interface Sheet {
  xy: Float32Array;
  moved: boolean; // the places changed since they were last painted
  readonly inks: Uint32Array;
  under: boolean; // some rows lie underneath
  fresh: boolean; // the inks changed since they were last painted
  byDistance: boolean; // the inks say how far rows are: all of one shape, and others after every move of the pointer
}
export interface Look {
  width: number;
  height: number;
  radius: number;
  alpha: number;
  view: View;
  margin: number;
}
export interface Painter {
  readonly kind: "webgl" | "canvas";
  paint(sheet: Sheet, canvas: HTMLCanvasElement, look: Look): void;
  /** What can be made ahead for inks by distance. */
  prepare?(sheet: Sheet, look: Look): void;
}

const VERTEX = `
attribute vec2 at;
attribute vec4 ink;
uniform vec4 place;
uniform mediump vec2 size;
uniform float under;
varying vec3 colour;
varying float shape;
void main() {
  float code = floor(ink.a * 255.0 + 0.5);
  float low = step(4.0, code);
  colour = ink.rgb;
  shape = code - 4.0 * low;
  gl_PointSize = size.x;
  gl_Position = low == under ? vec4(at * place.xy + place.zw, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;
const FRAGMENT = `
precision mediump float;
uniform vec2 size;
uniform float alpha;
varying vec3 colour;
varying float shape;
void main() {
  vec2 p = (gl_PointCoord - 0.5) * size.x;
  vec2 a = abs(p);
  float r = size.y;
  float d = length(p) - r;
  if (shape > 2.5) d = (a.x + a.y - 1.3 * r) * 0.7071;
  else if (shape > 1.5) d = max(0.876 * a.x - 0.482 * p.y - 0.578 * r, p.y - 0.8 * r);
  else if (shape > 0.5) d = max(a.x, a.y) - 0.9 * r;
  float cover = clamp(0.5 - d, 0.0, 1.0) * alpha;
  gl_FragColor = vec4(colour * cover, cover);
}`;

function program(gl: WebGLRenderingContext): WebGLProgram {
  const made = gl.createProgram()!;
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no program");
  return made;
}

/** `#painter=webgl` or `#painter=canvas` at the end of the page's address asks for one of the two. */
const wanted = /painter=(webgl|canvas)/.exec(location.hash)?.[1];

/** Browsers do not always own up to it when asked for a context with a graphics card only. */
function inSoftware(gl: WebGLRenderingContext): boolean {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** One context for all maps: browsers allow few. Each map is drawn off the page and copied to its own canvas. */
export function webglPainter(lost: () => void): Painter | null {
  if (wanted === "canvas") return null;
  try {
    const board = document.createElement("canvas");
    // A context without a graphics card behind it is slower than the rasteriser below.
    const gl = board.getContext("webgl", {
      antialias: false,
      depth: false,
      failIfMajorPerformanceCaveat: wanted !== "webgl",
    });
    if (!gl || (wanted !== "webgl" && inSoftware(gl))) return null;
    board.addEventListener("webglcontextlost", lost);
    return new WebGL(board, gl);
  } catch {
    return null;
  }
}

class WebGL implements Painter {
  readonly kind = "webgl";
  private buffers = new Map<Sheet, { at: WebGLBuffer; ink: WebGLBuffer }>();
  private uniforms: Record<string, WebGLUniformLocation | null> = {};
  private shuffled = new Uint32Array(n);

  constructor(
    private board: HTMLCanvasElement,
    private gl: WebGLRenderingContext,
  ) {
    const made = program(gl);
    gl.bindAttribLocation(made, 0, "at");
    gl.bindAttribLocation(made, 1, "ink");
    gl.linkProgram(made);
    gl.useProgram(made);
    for (const name of ["place", "size", "under", "alpha"]) this.uniforms[name] = gl.getUniformLocation(made, name);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.enableVertexAttribArray(0);
    gl.enableVertexAttribArray(1);
  }

  private bind(sheet: Sheet): void {
    const gl = this.gl;
    let found = this.buffers.get(sheet);
    const made = !found;
    found ??= { at: gl.createBuffer()!, ink: gl.createBuffer()! };
    if (made || sheet.moved) {
      const at = new Float32Array(2 * n);
      for (let k = 0; k < n; k++) {
        const x = sheet.xy[2 * order[k]],
          y = sheet.xy[2 * order[k] + 1],
          there = Number.isFinite(x) && Number.isFinite(y);
        at[2 * k] = there ? x : 1e9; // a row without a place lies far outside
        at[2 * k + 1] = there ? y : 1e9;
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, found.at);
      gl.bufferData(gl.ARRAY_BUFFER, at, gl.STATIC_DRAW);
      this.buffers.set(sheet, found);
      sheet.fresh ||= made;
      sheet.moved = false;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, found.at);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, found.ink);
    if (sheet.fresh) {
      for (let k = 0; k < n; k++) this.shuffled[k] = sheet.inks[order[k]];
      gl.bufferData(gl.ARRAY_BUFFER, this.shuffled, gl.DYNAMIC_DRAW);
      sheet.fresh = false;
    }
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
  }

  paint(sheet: Sheet, canvas: HTMLCanvasElement, look: Look): void {
    const gl = this.gl,
      { width, height, view } = look;
    if (this.board.width < width || this.board.height < height) {
      this.board.width = Math.max(this.board.width, width);
      this.board.height = Math.max(this.board.height, height);
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.bind(sheet);
    const span = (Math.min(width, height) - 2 * look.margin) * view.scale,
      u = this.uniforms;
    const sx = (2 * span) / width,
      sy = (2 * span) / height;
    gl.uniform4f(u.place, sx, sy, -view.x * sx, -view.y * sy);
    gl.uniform2f(u.size, boxOf(look.radius), look.radius);
    gl.uniform1f(u.alpha, look.alpha);
    for (const under of sheet.under ? [1, 0] : [0]) {
      gl.uniform1f(u.under, under);
      gl.drawArrays(gl.POINTS, 0, n);
    }
    const pen = canvas.getContext("2d")!;
    pen.clearRect(0, 0, width, height);
    pen.drawImage(this.board, 0, this.board.height - height, width, height, 0, 0, width, height);
  }
}

/** Where the marks of a map begin, in the order in which they are painted: the same until the view changes. */
interface Placed extends Marks {
  look: Look;
  xy: Float32Array;
  layers: Layers | null; // where many marks share few pixels, once they are asked for
}
const MOST_PIXELS = 800_000,
  CROWDED = 10_000; // marks from which on layers are faster
const inLayers = (look: Look, count: number) =>
  look.view.scale === 1 && count >= CROWDED && look.width * look.height <= MOST_PIXELS;
const sameMarks = (a: Look, b: Look) => a.width === b.width && a.radius === b.radius && a.alpha === b.alpha;
const samePlaces = (a: Look, b: Look) =>
  a.height === b.height && a.view.scale === b.view.scale && a.view.x === b.view.x && a.view.y === b.view.y;

export class Raster implements Painter {
  readonly kind = "canvas";
  private known = new WeakMap<Sheet, Placed>();
  private images = new WeakMap<HTMLCanvasElement, ImageData>();
  private turns = [new Uint32Array(n), new Uint32Array(n)]; // marks on top, and those underneath

  paint(sheet: Sheet, canvas: HTMLCanvasElement, look: Look): void {
    const { width, height } = look,
      placed = this.placed(sheet, look),
      image = this.empty(canvas, width, height),
      words = new Int32Array(image.data.buffer),
      { rows, left, top, part, stamps } = placed,
      [above, below] = this.sorted(placed, sheet);
    const layers = sheet.byDistance ? this.layers(placed) : null;
    if (layers) fill(words, layers, sheet.inks);
    for (const turn of layers ? [above] : [below, above])
      for (const k of turn) {
        const ink = sheet.inks[rows[k]];
        blend(words, width, height, left[k], top[k], stamps, part[k] | (((ink >>> 24) & 3) << 4), ink);
      }
    unmultiply(words);
    canvas.getContext("2d")!.putImageData(image, 0, 0);
    sheet.fresh = false;
  }

  prepare(sheet: Sheet, look: Look): void {
    this.layers(this.placed(sheet, look));
  }
  private layers(placed: Placed): Layers | null {
    const { look, count } = placed;
    if (inLayers(look, count)) placed.layers ??= layersOf(placed, look.width, look.height);
    return placed.layers;
  }

  /** Which marks lie on top and which underneath: sorted without a branch, which nobody could foresee, and at once. */
  private sorted({ count, rows }: Placed, { inks }: Sheet): Uint32Array[] {
    const [above, below] = this.turns;
    let low = 0;
    for (let k = 0; k < count; k++) {
      above[k - low] = below[low] = k;
      low += (inks[rows[k]] >>> 26) & 1;
    }
    return [above.subarray(0, count - low), below.subarray(0, low)];
  }

  private empty(canvas: HTMLCanvasElement, width: number, height: number): ImageData {
    let image = this.images.get(canvas);
    if (image?.width === width && image.height === height) image.data.fill(0);
    else this.images.set(canvas, (image = new ImageData(width, height)));
    return image;
  }

  private placed(sheet: Sheet, look: Look): Placed {
    const before = this.known.get(sheet),
      { width, height, view } = look,
      { xy } = sheet,
      marks = before && sameMarks(before.look, look);
    if (marks && before.xy === xy && !sheet.moved && samePlaces(before.look, look)) return before;
    const stamps = marks ? before.stamps : stampsOf(look.radius, width, look.alpha),
      span = (Math.min(width, height) - 2 * look.margin) * view.scale,
      { side } = stamps,
      half = side / 2;
    const { rows, left, top, part } = before ?? {
      rows: new Uint32Array(n),
      left: new Int16Array(n),
      top: new Int16Array(n),
      part: new Uint8Array(n),
    };
    let count = 0;
    for (let k = 0; k < n; k++) {
      const i = order[k],
        x = width / 2 + (xy[2 * i] - view.x) * span - half,
        y = height / 2 - (xy[2 * i + 1] - view.y) * span - half,
        column = Math.round(x),
        line = Math.round(y);
      if (!(column > -side && line > -side && column < width && line < height)) continue; // nor a row without a place
      rows[count] = i;
      left[count] = column;
      top[count] = line;
      part[count++] = stampAt(0, x - column, y - line);
    }
    const found = { look, xy, stamps, count, rows, left, top, part, layers: null };
    sheet.moved = false;
    this.known.set(sheet, found);
    return found;
  }
}
