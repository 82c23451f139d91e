// Small marks as stamps of coverage, and their mixing into an image: what is painted without WebGL.
// While it is mixed, an image holds colour times cover, four bytes in one word: whole words are mixed, two bytes at once.

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

/** The pixels that marks of one radius touch: shape by shape, for every part of a pixel that a centre can fall on. */
export interface Stamps {
  side: number; // of the square that a mark fits into
  starts: Uint32Array; // where the pixels of each stamp begin
  offset: Int32Array; // of the pixel from the corner of the square, in words of an image
  across: Uint8Array; // the same as columns and lines
  down: Uint8Array;
  weight: Uint16Array; // of the mark in the pixel, of 256
}

/** Stamps for images of a width; through marks of less than full strength others shine. */
export function stampsOf(radius: number, width: number, alpha: number): Stamps {
  const side = boxOf(radius),
    starts = [0],
    found: { cell: number; weight: number }[] = [];
  for (let k = 0; k < 4 * SUB * SUB; k++) {
    const cover = stamp(k >> 4, radius, side, ((k & 3) + 0.5) / SUB - 0.5, (((k >> 2) & 3) + 0.5) / SUB - 0.5);
    cover.forEach((c, cell) => c && found.push({ cell, weight: Math.round(16 * c * alpha) }));
    starts.push(found.length);
  }
  return {
    side,
    starts: Uint32Array.from(starts),
    offset: Int32Array.from(found, ({ cell }) => Math.floor(cell / side) * width + (cell % side)),
    across: Uint8Array.from(found, ({ cell }) => cell % side),
    down: Uint8Array.from(found, ({ cell }) => Math.floor(cell / side)),
    weight: Uint16Array.from(found, ({ weight }) => weight),
  };
}
/** Which stamp a mark needs whose square begins at these fractions of a pixel. */
export const stampAt = (shape: number, x: number, y: number) =>
  ((shape & 3) << 4) | ((Math.floor((y + 0.5) * SUB) & 3) << 2) | (Math.floor((x + 0.5) * SUB) & 3);

/** Mixes stamp `k` into an image; what lies outside is left away. */
export function blend(
  words: Int32Array,
  width: number,
  height: number,
  left: number,
  top: number,
  stamps: Stamps,
  k: number,
  ink: number,
): void {
  const { side, starts, offset, across, down, weight } = stamps,
    inside = left >= 0 && top >= 0 && left + side <= width && top + side <= height,
    redBlue = ink & 0xff00ff,
    greenFull = ((ink >>> 8) & 0xff) | 0xff0000, // a mark covers: its fourth byte is full
    corner = top * width + left;
  for (let p = starts[k], end = starts[k + 1]; p < end; p++) {
    if (!inside && outside(left + across[p], top + down[p], width, height)) continue;
    const at = corner + offset[p],
      under = words[at],
      a = weight[p],
      rest = 256 - a;
    words[at] =
      (((Math.imul(redBlue, a) + Math.imul(under & 0xff00ff, rest) + 0x800080) >>> 8) & 0xff00ff) |
      ((Math.imul(greenFull, a) + Math.imul((under >>> 8) & 0xff00ff, rest) + 0x800080) & 0xff00ff00);
  }
}

const outside = (x: number, y: number, width: number, height: number) => x < 0 || y < 0 || x >= width || y >= height;

// 255 / cover, times 2 ** 16.
const whole = Uint32Array.from({ length: 256 }, (_, a) => (a ? Math.round((255 * 65536) / a) : 0));

/** A canvas wants the colour itself, not times its cover. */
export function unmultiply(words: Int32Array): void {
  for (let p = 0; p < words.length; p++) {
    const word = words[p],
      a = word >>> 24;
    if (a === 0 || a === 255) continue;
    const scale = whole[a],
      part = (shift: number) => Math.min(255, (((word >>> shift) & 255) * scale + 32768) >>> 16);
    words[p] = (a << 24) | (part(16) << 16) | (part(8) << 8) | part(0);
  }
}
