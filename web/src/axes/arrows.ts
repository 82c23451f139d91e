// Arrows of columns on a map: of all rows where the map is linear, of the rows around the one pointed at elsewhere.
import { columns, groups, n, Places } from "../data";
import { Slope, regionOf, slopes } from "./slopes";

export const state = { on: false };
export const available = Array.from({ length: groups.columns }, (_, k) => k).some((k) => !columns[k].classes);

const MOST = 8,
  LEAST = 0.1; // share of a column's variance below which its arrow is left out

const whole = new WeakMap<Places, Slope[]>();
/** Arrows of all rows, for linear maps. */
export function wholeMap(places: Places): Slope[] {
  let found = whole.get(places);
  if (!found)
    whole.set(
      places,
      (found = slopes(
        places.xy,
        Uint32Array.from({ length: n }, (_, i) => i),
      )),
    );
  return found;
}

let last: { row: number; places: Places; found: Slope[] } | null = null;
/** Arrows of the rows around one. */
export function nearRow(places: Places, row: number, around: (row: number, k: number) => number[]): Slope[] {
  if (last?.row !== row || last.places !== places)
    last = { row, places, found: slopes(places.xy, regionOf(row, around)) };
  return last.found;
}

export const worthShowing = (found: Slope[]) => found.filter(({ share }) => share >= LEAST).slice(0, MOST);

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
const apart = (a: Box, b: Box) => a.left > b.right || a.right < b.left || a.top > b.bottom || a.bottom < b.top;

export interface Arrow {
  name: string;
  to: [number, number];
  at: [number, number] | null; // middle of its name; null where there is no room for it
}

/** Where arrows end and their names stand, none over another; `reach` is the length of a column fully explained. */
export function layOut(
  from: [number, number],
  found: Slope[],
  reach: number,
  size: { width: number; height: number },
  widthOf: (name: string) => number,
): Arrow[] {
  const taken: Box[] = [];
  return worthShowing(found).map(({ name, x, y, share }) => {
    const length = reach * Math.sqrt(share),
      to: [number, number] = [from[0] + length * x, from[1] - length * y],
      half = widthOf(name) / 2 + 3;
    let at: Arrow["at"] = null;
    for (const far of [0, 14, 28]) {
      const cx = to[0] + (half + 5 + far) * x,
        cy = to[1] - (12 + far) * y;
      const middle: [number, number] = [
        Math.max(half, Math.min(size.width - half, cx)),
        Math.max(10, Math.min(size.height - 10, cy)),
      ];
      const box = { left: middle[0] - half, right: middle[0] + half, top: middle[1] - 9, bottom: middle[1] + 9 };
      if (!taken.every((other) => apart(other, box))) continue;
      taken.push(box);
      at = middle;
      break;
    }
    return { name, to, at };
  });
}

const FONT = '600 12.5px system-ui, "Segoe UI", Roboto, Arial, sans-serif';

export function drawArrows(
  pen: CanvasRenderingContext2D,
  from: [number, number],
  found: Slope[],
  reach: number,
  size: { width: number; height: number },
  circle: boolean,
): void {
  const style = getComputedStyle(document.body),
    ink = style.getPropertyValue("--arrow"),
    ground = style.getPropertyValue("--card");
  pen.font = FONT;
  const arrows = layOut(from, found, reach, size, (name) => pen.measureText(short(name)).width);
  if (circle) {
    pen.beginPath();
    pen.arc(...from, reach, 0, 7);
    pen.lineWidth = 1;
    pen.strokeStyle = style.getPropertyValue("--base");
    pen.setLineDash([3, 4]);
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.lineJoin = pen.lineCap = "round";
  for (const [width, colour] of [
    [5, ground],
    [2, ink],
  ] as const)
    for (const { to } of arrows) arrow(pen, from, to, width, colour);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { name, at } of arrows) {
    if (!at) continue;
    pen.lineWidth = 4;
    pen.strokeStyle = ground;
    pen.strokeText(short(name), ...at);
    pen.fillStyle = ink;
    pen.fillText(short(name), ...at);
  }
}

export const short = (name: string) => (name.length > 22 ? `${name.slice(0, 21)}\u2026` : name);

function arrow(
  pen: CanvasRenderingContext2D,
  from: [number, number],
  to: [number, number],
  width: number,
  colour: string,
): void {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  pen.lineWidth = width;
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  for (const turn of [2.6, -2.6]) {
    pen.moveTo(...to);
    pen.lineTo(to[0] + 9 * Math.cos(angle + turn), to[1] + 9 * Math.sin(angle + turn));
  }
  pen.stroke();
}
