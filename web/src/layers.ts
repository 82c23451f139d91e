// Many marks on few pixels: which rows are seen in each pixel, and by how much. It depends on places alone, so that
// another colouring of the same places costs a few rows for each pixel instead of a few pixels for each row.
import { Stamps } from "./stamps";

/** Marks by the corners of their squares, in the order in which they are painted. */
export interface Marks {
  count: number;
  rows: Uint32Array;
  left: Int16Array;
  top: Int16Array;
  part: Uint8Array;
  stamps: Stamps;
}
export interface Layers {
  pixels: Uint32Array; // those that a mark touches
  start: Uint32Array; // where the rows of each begin
  rows: Uint32Array;
  weight: Uint16Array; // of the row in the pixel, of 256
}
const HIDDEN = 1 / 256; // what shines through less than this is not seen

/** From the topmost mark down: what each leaves over shines on those below. */
export function layersOf({ count, rows, left, top, part, stamps }: Marks, width: number, height: number): Layers {
  const { starts, across, down, weight } = stamps,
    through = new Float32Array(width * height).fill(1),
    size = new Uint32Array(width * height + 1);
  let room = 1 << 16,
    pixel = new Uint32Array(room),
    seen = new Uint32Array(room),
    share = new Uint16Array(room),
    found = 0;
  for (let k = count - 1; k >= 0; k--)
    for (let p = starts[part[k]], end = starts[part[k] + 1]; p < end; p++) {
      const x = left[k] + across[p],
        y = top[k] + down[p];
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const at = y * width + x,
        rest = through[at];
      if (rest < HIDDEN) continue;
      const part256 = Math.round(rest * weight[p]);
      through[at] = rest * (1 - weight[p] / 256);
      if (!part256) continue;
      if (found === room) {
        room *= 2;
        pixel = grown(pixel, new Uint32Array(room));
        seen = grown(seen, new Uint32Array(room));
        share = grown(share, new Uint16Array(room));
      }
      pixel[found] = at;
      seen[found] = rows[k];
      share[found++] = part256;
      size[at]++;
    }
  return byPixel(size, pixel.subarray(0, found), seen, share);
}

function grown<T extends Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function byPixel(size: Uint32Array, pixel: Uint32Array, seen: Uint32Array, share: Uint16Array): Layers {
  const pixels: number[] = [],
    start = [0],
    next = new Uint32Array(size.length);
  for (let at = 0, sum = 0; at < size.length; at++) {
    next[at] = sum;
    if (!size[at]) continue;
    pixels.push(at);
    start.push((sum += size[at]));
  }
  const rows = new Uint32Array(pixel.length),
    weight = new Uint16Array(pixel.length);
  for (let p = 0; p < pixel.length; p++) {
    const to = next[pixel[p]]++;
    rows[to] = seen[p];
    weight[to] = share[p];
  }
  return { pixels: Uint32Array.from(pixels), start: Uint32Array.from(start), rows, weight };
}

/** Colours the pixels of an image by the rows that lie underneath, colour times cover as `blend` wants it. */
export function fill(words: Int32Array, { pixels, start, rows, weight }: Layers, inks: Uint32Array): void {
  for (let i = 0, p = 0; i < pixels.length; i++) {
    let red = 0,
      green = 0,
      blue = 0,
      cover = 0,
      all = 0;
    for (const end = start[i + 1]; p < end; p++) {
      const ink = inks[rows[p]],
        w = weight[p] * ((ink >>> 26) & 1); // nothing of a row that lies on top, without a branch
      red += (ink & 0xff) * w;
      green += ((ink >>> 8) & 0xff) * w;
      blue += ((ink >>> 16) & 0xff) * w;
      cover += w;
      all += weight[p];
    }
    if (!cover) continue;
    // Rows that lie on top took their share of rows below them: half of them, as the order is random.
    const a = Math.min(255, Math.round(cover / (1 - (all - cover) / 512))),
      scale = a / (255 * cover),
      part = (sum: number) => (sum * scale + 0.5) | 0;
    words[pixels[i]] = (a << 24) | (part(blue) << 16) | (part(green) << 8) | part(red);
  }
}
