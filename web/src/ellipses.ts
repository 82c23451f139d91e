// Where rows with missing cells may be: ellipses that hold 95 % of the places of multiple imputation.
import { Places, maps } from "./data";

export const available = maps.some(({ ellipses }) => ellipses !== null);
export const state = { on: available };
const MANY = 400; // ellipses that are drawn at once; of more only that of the row that is pointed at

interface Placing {
  place(row: number): [number, number];
}

export function drawEllipses(
  pen: CanvasRenderingContext2D,
  { ellipses }: Places,
  map: Placing,
  span: number,
  current: number,
): void {
  if (!ellipses || !state.on) return;
  const style = getComputedStyle(document.body);
  pen.strokeStyle = style.getPropertyValue("--soft");
  ellipses.rows.forEach((row, k) => {
    if (row !== current && (current >= 0 || ellipses.rows.length > MANY)) return;
    const [x, y] = map.place(row),
      [ax, ay, bx, by] = ellipses.axes.subarray(4 * k, 4 * k + 4);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    pen.lineWidth = row === current ? 2 : 1;
    pen.beginPath();
    pen.ellipse(x, y, Math.hypot(ax, ay) * span, Math.hypot(bx, by) * span, -Math.atan2(ay, ax), 0, 7);
    pen.stroke();
  });
}
