// Rows glide from their places in one map to those in another; not where the reader asks for little motion.
import { n } from "../data";
import { MapView } from "../maps";

const LASTS = 700, // milliseconds
  LONGEST = 120, // of a step: on a slow machine there are fewer pictures, but never none
  MANY = 30_000; // rows from which on frames would be too slow to follow
const still = matchMedia("(prefers-reduced-motion: reduce)");
export const moves = () => !still.matches && n <= MANY;

let current: { map: MapView; asked: number } | null = null;
export const gliding = () => current !== null;

function stop(): void {
  if (!current) return;
  cancelAnimationFrame(current.asked);
  current.map.glide(null, 1);
  current = null;
}

/** Paints `map` with the rows on their way from other places; `paint` is called for each frame, the last one at rest. */
export function morph(map: MapView, from: Float32Array, paint: (map: MapView) => void): void {
  stop();
  if (!moves()) return paint(map);
  let last = performance.now(),
    gone = 0;
  const frame = (now: number) => {
    gone += Math.min(LONGEST, Math.max(0, now - last));
    last = now;
    const t = Math.min(1, gone / LASTS);
    if (t >= 1) stop();
    else {
      map.glide(from, t * t * (3 - 2 * t));
      current!.asked = requestAnimationFrame(frame);
    }
    paint(map);
  };
  map.glide(from, 0);
  current = { map, asked: requestAnimationFrame(frame) };
  paint(map);
}
