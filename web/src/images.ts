// Rows that are images, drawn small.
import { images } from "./data";

export const hasImages = images !== null;

/** The image of a row as a canvas, `side` pixels of the page along its longer side; null where rows are no images. */
export function imageOf(row: number, side: number): HTMLCanvasElement | null {
  if (!images) return null;
  const { width, height, channels, values } = images,
    canvas = document.createElement("canvas"),
    made = new ImageData(width, height),
    size = width * height;
  for (let p = 0; p < size; p++) {
    const at = (row * size + p) * channels;
    for (let c = 0; c < 3; c++) made.data[4 * p + c] = values[at + (channels === 3 ? c : 0)];
    made.data[4 * p + 3] = 255;
  }
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d")!.putImageData(made, 0, 0);
  const scale = side / Math.max(width, height);
  canvas.style.width = `${Math.round(width * scale)}px`;
  canvas.style.height = `${Math.round(height * scale)}px`;
  canvas.className = "image";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "image of this row");
  return canvas;
}
