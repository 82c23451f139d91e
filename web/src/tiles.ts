// Squares of the maps, from the server that sent this page: what was asked for last is kept.

export interface About {
  title: string;
  notes: string[];
  rows: number;
  deepest: number;
  named: boolean;
  maps: { name: string; flat: boolean; n: number }[];
  colours: Shade[];
  files: string[];
}
export interface Shade {
  name: string;
  classes: string[] | null;
  only: string | null;
  low: number | null;
  high: number | null;
  clipped: boolean | null;
}
/** A row that is pointed at; places are from 0 to 1. */
export interface Row {
  row: number;
  number: number;
  name: string | null;
  texts: { name: string; value: string }[];
  values: (number | string | null)[];
  places: ([number, number] | null)[];
}
/** The bins of a square that have rows, in the order of the quadtree. */
export interface Tile {
  total: number;
  full: number; // rows of a well-filled bin of this level
  bins: Uint16Array;
  counts: Uint16Array;
  marks: Uint16Array;
  colours: Uint8Array;
  pure: Uint8Array;
  image: HTMLCanvasElement | null; // as it was painted last
}
/** Rows of a square in random order, and where they are in it, in steps of 1/65536 of its side. */
export interface Points {
  total: number;
  rows: Uint32Array;
  x: Uint16Array;
  y: Uint16Array;
  colours: Uint8Array;
  marks: Uint8Array;
}

function tileOf(buffer: ArrayBuffer): Tile {
  const head = new DataView(buffer),
    k = head.getUint32(4, true),
    at = (part: number) => new Uint16Array(buffer, 16 + 2 * k * part, k);
  return {
    total: head.getUint32(0, true),
    full: head.getFloat32(8, true),
    bins: at(0),
    counts: at(1),
    marks: at(2),
    colours: new Uint8Array(buffer, 16 + 6 * k, k),
    pure: new Uint8Array(buffer, 16 + 7 * k, k),
    image: null,
  };
}

function pointsOf(buffer: ArrayBuffer): Points {
  const head = new DataView(buffer),
    k = head.getUint32(4, true);
  return {
    total: head.getUint32(0, true),
    rows: new Uint32Array(buffer, 16, k),
    x: new Uint16Array(buffer, 16 + 4 * k, k),
    y: new Uint16Array(buffer, 16 + 6 * k, k),
    colours: new Uint8Array(buffer, 16 + 8 * k, k),
    marks: new Uint8Array(buffer, 16 + 9 * k, k),
  };
}

async function ask(what: string): Promise<Response> {
  const answer = await fetch(what);
  if (!answer.ok) throw new Error(`${answer.status} ${what.slice(0, 80)}`);
  return answer;
}
export const json = async <T>(what: string): Promise<T> => (await ask(what)).json();

const AT_ONCE = 6; // requests on their way: more would wait in the browser
const KEPT = 160; // squares with their pictures, 0.3 to 0.7 MB each

/** Answers by request. What is wanted is said anew before each painting: what nobody wants any more is not asked for. */
class Kept<T> {
  private found = new Map<string, T>();
  private wanted = new Map<string, () => void>();
  private underway = new Set<string>();

  constructor(private decode: (buffer: ArrayBuffer) => T) {}

  /** The answer if it is here; else it is asked for, and `then` is called when it has come. */
  get(what: string, then: (() => void) | null): T | null {
    const found = this.found.get(what);
    if (found) {
      this.found.delete(what); // the last one asked for goes to the end
      this.found.set(what, found);
      return found;
    }
    if (then) this.wanted.set(what, then);
    return null;
  }

  peek = (what: string): T | null => this.found.get(what) ?? null;
  get busy(): boolean {
    return this.underway.size > 0 || this.wanted.size > 0;
  }
  /** What was wanted and is not on its way is forgotten. */
  forget(): void {
    this.wanted.clear();
  }
  clear(): void {
    this.found.clear();
    this.wanted.clear();
  }
  each(act: (kept: T) => void): void {
    this.found.forEach(act);
  }

  /** Sends requests for what is wanted. */
  go(): void {
    for (const [what, then] of this.wanted) {
      if (this.underway.size >= AT_ONCE) return;
      this.wanted.delete(what);
      if (this.underway.has(what)) continue;
      this.underway.add(what);
      ask(what)
        .then((answer) => answer.arrayBuffer())
        .then((buffer) => {
          this.found.set(what, this.decode(buffer));
          for (const old of this.found.keys()) {
            if (this.found.size <= KEPT) break;
            this.found.delete(old);
          }
          this.done(what, then);
        })
        .catch((error: Error) => {
          document.documentElement.dataset.failed = error.message;
          this.done(what, then);
        });
    }
  }

  private done(what: string, then: () => void): void {
    this.underway.delete(what);
    then();
    this.go();
  }
}

export const tiles = new Kept(tileOf);
export const points = new Kept(pointsOf);
