// The script of the page: linked maps, a sortable table, values of the curves under the pointer.
import { onScheme } from "./colours";
import { readable } from "./curves";
import { charts, maps as places, n } from "./data";
import { describe, refresh } from "./legend";
import { MapView, shared, touched } from "./maps";
import { Painter, Raster, webglPainter } from "./marks";
import * as selection from "./selection";
import { sortable } from "./table";
import { hideTip } from "./tip";

const BUDGET = 24; // milliseconds of painting before the browser is let go on
const chooser = document.getElementById("colour") as HTMLSelectElement;
const bar = document.getElementById("selection")!,
  count = document.getElementById("count")!;
const drawing = document.getElementById("finger") as HTMLButtonElement;

let painter: Painter =
  webglPainter(() => {
    painter = new Raster();
    all(false);
  }) ?? new Raster();
const maps: MapView[] = [];
const waiting = new Map<MapView, boolean>(); // to be painted; true where the inks changed too
let asked = 0;

function later(map: MapView, inks: boolean): void {
  waiting.set(map, inks || (waiting.get(map) ?? false));
  if (!asked) asked = requestAnimationFrame(work);
}
function all(inks: boolean): void {
  for (const map of maps) later(map, inks);
}

/** Some of the waiting maps; the rest in the next frame, so that a million rows do not hold the page up. */
function work(): void {
  asked = 0;
  const end = performance.now() + BUDGET;
  for (const [map, inks] of waiting) {
    waiting.delete(map);
    if (inks) map.ink();
    map.paint(painter);
    if (performance.now() > end) break;
  }
  if (waiting.size) asked = requestAnimationFrame(work);
  document.documentElement.dataset.ready = String(!waiting.size);
}

function recolour(): void {
  if (shared.choice !== chooser.value) selection.forget();
  shared.choice = chooser.value;
  describe(shared.choice);
  all(true);
}

for (const canvas of document.querySelectorAll<HTMLCanvasElement>("canvas[data-map]"))
  maps.push(new MapView(canvas, places[+canvas.dataset.map!], maps, (map) => later(map, false)));

selection.watch(() => {
  const found = selection.nMarked();
  bar.hidden = !found;
  count.textContent = found ? `${found.toLocaleString("en")} of ${n.toLocaleString("en")} rows marked` : "";
  document.documentElement.dataset.ready = "false";
  refresh();
  all(true);
});

document.getElementById("clear")!.addEventListener("click", () => selection.clear());
document.getElementById("save")!.addEventListener("click", () => {
  const link = document.createElement("a"),
    address = URL.createObjectURL(new Blob([selection.asCsv()], { type: "text/csv" }));
  link.href = address;
  link.download = "marked-rows.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || maps.some((map) => map.cancel())) return;
  hideTip();
  maps[0]?.point(-1);
  if (selection.nMarked()) selection.clear();
});

function finger(): void {
  drawing.setAttribute("aria-pressed", String(shared.fingerDraws));
  document.body.classList.toggle("finger", shared.fingerDraws);
}
drawing.addEventListener("click", () => {
  shared.fingerDraws = !shared.fingerDraws;
  finger();
});
document.body.classList.toggle("touch", touched);
finger();

chooser.addEventListener("change", recolour);
onScheme(recolour);
addEventListener("resize", () => all(false));
addEventListener("scroll", hideTip, { passive: true });
document.querySelectorAll<HTMLTableElement>("table.scores").forEach(sortable);
document.querySelectorAll<SVGSVGElement>(".chart > svg").forEach((svg, k) => readable(svg, charts[k]));
recolour();
