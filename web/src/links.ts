// On top of a map: lines to the true neighbours of a row, and rings around its false ones.
import { Seen } from "./truth";

export interface Placed {
  place(row: number): [number, number];
  around(row: number): number[];
}

/** Of the nearest rows in a map, those that are not near in the data. */
export const falseNear = (map: Placed, seen: Seen) => map.around(seen.row).filter((i) => !seen.listed.has(i));

const finite = ([x, y]: [number, number]) => Number.isFinite(x) && Number.isFinite(y);

export function drawLinks(pen: CanvasRenderingContext2D, map: Placed, seen: Seen, large: boolean): void {
  const style = getComputedStyle(document.body),
    from = map.place(seen.row);
  if (!finite(from)) return;
  const ends = seen.near.map((i) => map.place(i)).filter(finite);
  for (const [width, colour] of [
    [large ? 3.5 : 2.5, style.backgroundColor],
    [large ? 1.25 : 0.9, style.color],
  ] as const) {
    pen.lineWidth = width;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.beginPath();
    for (const [x, y] of ends) {
      pen.moveTo(...from);
      pen.lineTo(x, y);
    }
    pen.stroke();
    for (const [x, y] of ends) {
      pen.beginPath();
      pen.arc(x, y, (large ? 2.4 : 1.2) + width / 2, 0, 7);
      pen.fill();
    }
  }
  pen.strokeStyle = style.getPropertyValue("--false");
  pen.lineWidth = large ? 2.25 : 1.25;
  for (const i of falseNear(map, seen)) {
    const at = map.place(i);
    if (!finite(at)) continue;
    pen.beginPath();
    pen.arc(...at, large ? 6.5 : 3.5, 0, 7);
    pen.stroke();
  }
}
