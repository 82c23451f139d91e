// Which rows are near a point, and which lie inside a loop.
import { n } from "./data";

/** Rows sorted into square cells of the map, about two per cell where they are spread evenly. */
export class Grid {
  private side: number;
  private start: Uint32Array;
  private rows: Uint32Array;

  constructor(private xy: Float32Array) {
    const side = (this.side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(n / 2)))));
    const cells = new Int32Array(n),
      start = (this.start = new Uint32Array(side * side + 2));
    for (let i = 0; i < n; i++) {
      const x = xy[2 * i],
        y = xy[2 * i + 1];
      cells[i] = Number.isFinite(x) && Number.isFinite(y) ? this.column(y) * side + this.column(x) : -1;
      if (cells[i] >= 0) start[cells[i] + 2]++;
    }
    for (let c = 2; c < start.length; c++) start[c] += start[c - 1];
    this.rows = new Uint32Array(start[start.length - 1]);
    for (let i = 0; i < n; i++) if (cells[i] >= 0) this.rows[start[cells[i] + 1]++] = i;
  }

  private column(x: number): number {
    return Math.max(0, Math.min(this.side - 1, Math.floor((x + 0.5) * this.side)));
  }

  /** The row nearest to a point of the map within a reach, or -1; where some are marked, only these count. */
  nearest(x: number, y: number, reach: number, marked: Uint8Array | null): number {
    const { side, xy } = this;
    let best = -1,
      least = reach * reach;
    for (let v = this.column(y - reach); v <= this.column(y + reach); v++)
      for (
        let k = this.start[v * side + this.column(x - reach)], end = this.start[v * side + this.column(x + reach) + 1];
        k < end;
        k++
      ) {
        const i = this.rows[k],
          d = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
        if (d < least && (!marked || marked[i])) {
          least = d;
          best = i;
        }
      }
    return best;
  }

  /** The k rows nearest to a row, nearest first, without itself; fewer where the map has fewer. */
  around(row: number, k: number): number[] {
    const { side, xy } = this,
      x = xy[2 * row],
      y = xy[2 * row + 1];
    if (!Number.isFinite(x) || !Number.isFinite(y)) return [];
    for (let reach = 1.5 / side; ; reach *= 2) {
      const found: { i: number; d: number }[] = [];
      for (let v = this.column(y - reach); v <= this.column(y + reach); v++) {
        const end = this.start[v * side + this.column(x + reach) + 1];
        for (let c = this.start[v * side + this.column(x - reach)]; c < end; c++) {
          const i = this.rows[c],
            d = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
          if (i !== row && d <= reach * reach) found.push({ i, d });
        }
      }
      if (found.length >= k || reach > 2)
        return found
          .sort((a, b) => a.d - b.d || a.i - b.i)
          .slice(0, k)
          .map(({ i }) => i);
    }
  }
}

/** Rows inside a closed loop of map coordinates x, y, x, y, ...: a ray from them crosses it an odd number of times. */
export function inside(xy: Float32Array, loop: number[], found: (row: number) => void): void {
  let left = Infinity,
    right = -Infinity,
    low = Infinity,
    high = -Infinity;
  for (let k = 0; k < loop.length; k += 2) {
    left = Math.min(left, loop[k]);
    right = Math.max(right, loop[k]);
    low = Math.min(low, loop[k + 1]);
    high = Math.max(high, loop[k + 1]);
  }
  for (let i = 0; i < n; i++) {
    const x = xy[2 * i],
      y = xy[2 * i + 1];
    if (x >= left && x <= right && y >= low && y <= high && crossed(loop, x, y)) found(i);
  }
}

function crossed(loop: number[], x: number, y: number): boolean {
  let odd = false;
  for (let k = 0, j = loop.length - 2; k < loop.length; j = k, k += 2) {
    const above = loop[k + 1] > y;
    if (
      above !== loop[j + 1] > y &&
      x < ((loop[j] - loop[k]) * (y - loop[k + 1])) / (loop[j + 1] - loop[k + 1]) + loop[k]
    )
      odd = !odd;
  }
  return odd;
}
