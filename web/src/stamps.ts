// Small marks as stamps of coverage, and their mixing into an image: what is painted without WebGL.

/** Room for the tip of the largest shape and a soft edge. */
export const boxOf = (radius: number) => Math.ceil(2.6 * radius + 2);
export const SUB = 4; // a mark is placed to a quarter of a pixel

/** How much of each pixel of a small square a mark covers whose centre is a little off the middle, sampled 4 x 4. */
function stamp(shape: number, r: number, side: number, dx: number, dy: number): Uint8Array {
  const out = new Uint8Array(side * side);
  for (let p = 0; p < side * side * 16; p++) {
    const cell = p >> 4;
    const x = (cell % side) + ((p & 3) + 0.5) / 4 - side / 2 - dx;
    const y = Math.floor(cell / side) + (((p >> 2) & 3) + 0.5) / 4 - side / 2 - dy;
    if (covers(shape, r, x, y)) out[cell] += 1;
  }
  return out;
}

function covers(shape: number, r: number, x: number, y: number): boolean {
  if (shape === 0) return x * x + y * y <= r * r;
  if (shape === 1) return Math.max(Math.abs(x), Math.abs(y)) <= 0.9 * r;
  if (shape === 2) return y <= 0.8 * r && 0.876 * Math.abs(x) - 0.482 * y <= 0.578 * r;
  return Math.abs(x) + Math.abs(y) <= 1.3 * r;
}

/** The stamps of a radius: shape by shape, for every part of a pixel that a centre can fall on. */
export function stampsOf(radius: number, side: number): Uint8Array[] {
  const made: Uint8Array[] = [];
  for (let k = 0; k < 4 * SUB * SUB; k++)
    made.push(stamp(k >> 4, radius, side, ((k & 3) + 0.5) / SUB - 0.5, (((k >> 2) & 3) + 0.5) / SUB - 0.5));
  return made;
}

export function blend(
  to: Uint8ClampedArray,
  width: number,
  height: number,
  left: number,
  top: number,
  side: number,
  cover: Uint8Array,
  ink: number,
  alpha: number,
): void {
  const r = ink & 255,
    g = (ink >> 8) & 255,
    b = (ink >> 16) & 255;
  const x1 = Math.min(side, width - left),
    y1 = Math.min(side, height - top);
  for (let y = Math.max(0, -top); y < y1; y++)
    for (let x = Math.max(0, -left); x < x1; x++) {
      const c = cover[y * side + x];
      if (c === 0) continue;
      const a = (c / 16) * alpha,
        rest = 1 - a,
        p = 4 * ((top + y) * width + left + x);
      to[p] = r * a + to[p] * rest;
      to[p + 1] = g * a + to[p + 1] * rest;
      to[p + 2] = b * a + to[p + 2] * rest;
      to[p + 3] = 255 * a + to[p + 3] * rest;
    }
}

/** The image holds colour times cover while it is mixed; a canvas wants the colour itself. */
export function unmultiply(to: Uint8ClampedArray, p: number): void {
  const a = to[p + 3];
  if (a === 0 || a === 255) return;
  to[p] = (to[p] * 255) / a;
  to[p + 1] = (to[p + 1] * 255) / a;
  to[p + 2] = (to[p + 2] * 255) / a;
}
