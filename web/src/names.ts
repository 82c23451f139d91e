// The names of groups on the large map: each at its densest place in view, none over another; zooming in shows more.
import { Choice, classesOf } from "./colours";
import { n } from "./data";
import { MapView } from "./maps";

export const state = { on: true };
const CELLS = 24,
  MOST = 40,
  MOST_CLASSES = 400,
  HIGH = 19,
  CORNERS = [
    [-0.4, -1.2],
    [0.4, -1.2],
    [-0.4, 1.2],
    [0.4, 1.2],
  ],
  FONT = '600 13px system-ui, "Segoe UI", Roboto, Arial, sans-serif';
const box = document.createElement("div");
box.className = "names";
box.setAttribute("aria-hidden", "true"); // the legend has the same names, as buttons
const pen = document.createElement("canvas").getContext("2d")!;

interface Group {
  name: string;
  count: number;
  x: number;
  y: number;
  small: boolean; // its name in the middle would cover all of it
}
interface Label extends Group {
  left: number;
  top: number;
  width: number;
}

/** Groups with rows in view, the largest first, each with the middle of its densest place. */
function groupsIn(map: MapView, choice: Choice): Group[] {
  const source = classesOf(choice);
  if (!source || source.classes!.length > MOST_CLASSES) return [];
  const { width, height } = map.size,
    counts = source.classes!.map(() => new Uint16Array(CELLS * CELLS)),
    cellOf = (v: number, side: number) => Math.min(CELLS - 1, Math.floor((v / side) * CELLS)),
    total = new Uint32Array(counts.length);
  const inView = (each: (row: number, cell: number, x: number, y: number) => void) => {
    for (let i = 0; i < n; i++) {
      const [x, y] = map.place(i);
      if (source.values[i] >= 0 && x >= 0 && y >= 0 && x < width && y < height)
        each(i, cellOf(y, height) * CELLS + cellOf(x, width), x, y);
    }
  };
  inView((i, cell) => (counts[source.values[i]][cell]++, total[source.values[i]]++));
  const peaks = counts.map((cells) => cells.reduce((best, count, cell) => (count > cells[best] ? cell : best), 0)),
    sums = counts.map(() => [0, 0, 0]),
    ends = counts.map(() => [Infinity, -Infinity, Infinity, -Infinity]);
  inView((i, cell, x, y) => {
    const k = source.values[i],
      near = (a: number, b: number) => Math.abs(a - b) <= 1;
    if (!near(cell % CELLS, peaks[k] % CELLS) || !near(Math.floor(cell / CELLS), Math.floor(peaks[k] / CELLS))) return;
    sums[k][0] += x;
    sums[k][1] += y;
    sums[k][2]++;
    const [left, right, top, bottom] = ends[k];
    ends[k] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  });
  const small = ([left, right, top, bottom]: number[]) => right - left < HIGH && bottom - top < HIGH / 2;
  return source
    .classes!.map((name, k) => ({
      name,
      count: total[k],
      x: sums[k][0] / sums[k][2],
      y: sums[k][1] / sums[k][2],
      small: small(ends[k]),
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/** Names that find room: in the middle of their group, or a little off; of a row or a few in one place beside it. */
export function placed(found: Group[], size: { width: number; height: number }): Label[] {
  const labels: Label[] = [];
  pen.font = FONT;
  for (const group of found) {
    const name = group.name.length > 24 ? `${group.name.slice(0, 23)}\u2026` : group.name,
      width = Math.ceil(pen.measureText(name).width) + 10;
    const aside = group.small ? 0.5 + HIGH / width : 0.6;
    for (const [dx, dy] of [
      ...(group.small ? [] : [[0, 0]]),
      [0, -1.2],
      [0, 1.2],
      [aside, 0],
      [-aside, 0],
      ...(group.small ? CORNERS : []),
    ]) {
      const left = group.x - width / 2 + dx * width,
        top = group.y - HIGH / 2 + dy * HIGH;
      const free =
        left >= 2 &&
        top >= 2 &&
        left + width <= size.width - 2 &&
        top + HIGH <= size.height - 2 &&
        labels.every(
          (o) => left > o.left + o.width || left + width < o.left || top > o.top + HIGH || top + HIGH < o.top,
        );
      if (!free) continue;
      labels.push({ ...group, name, left, top, width });
      break;
    }
    if (labels.length >= MOST) break;
  }
  return labels;
}

/** After the large map was painted. */
export function writeNames(map: MapView, choice: Choice): void {
  const found = state.on ? placed(groupsIn(map, choice), map.size) : [];
  box.replaceChildren(
    ...found.map(({ name, left, top, width }) => {
      const made = document.createElement("span");
      made.textContent = name;
      made.style.left = `${left}px`;
      made.style.top = `${top}px`;
      made.style.width = `${width}px`;
      return made;
    }),
  );
  if (box.parentElement !== map.canvas.parentElement) map.canvas.parentElement!.append(box);
}
export const hideNames = () => box.replaceChildren();
