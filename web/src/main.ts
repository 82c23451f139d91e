// The script of the page: linked maps, one of them large; a sortable table; values of the curves under the pointer.
import * as address from "./address";
import * as arrows from "./axes/arrows";
import { gliding, morph, moves } from "./change/morph";
import * as moved from "./change/moved";
import { nearRamp, onScheme, printing } from "./colours";
import { readable } from "./curves";
import { charts, label, maps as places, n, start, title } from "./data";
import { download, fileName } from "./download";
import { asPng, asSvg } from "./figure";
import { findable } from "./find";
import { framed } from "./frame";
import { Job, run } from "./jobs";
import { judge } from "./judge/panel";
import { describe, refresh } from "./legend";
import { MapView, shared, touched } from "./maps";
import { Painter, Raster, webglPainter } from "./marks";
import { asCsv, describeMarked } from "./picked";
import * as ellipses from "./ellipses";
import { MOVED } from "./change/moved";
import { hideNames, state as named, writeNames } from "./names";
import { offerStress } from "./stress";
import * as selection from "./selection";
import { Stage } from "./stage";
import { sortable } from "./table";
import { digits, hideTip } from "./tip";
import * as truth from "./truth";

const BUDGET = 24; // milliseconds of painting before the browser is let go on
const chooser = document.getElementById("colour") as HTMLSelectElement;
const bar = document.getElementById("selection")!,
  count = document.getElementById("count")!;
const drawing = document.getElementById("finger") as HTMLButtonElement,
  pointing = document.getElementById("truth") as HTMLButtonElement;

let painter: Painter =
  webglPainter(() => {
    painter = new Raster();
    all(false);
  }) ?? new Raster();
const maps: MapView[] = [];
const waiting = new Map<MapView, boolean>(); // to be painted; true where the inks changed too
let asked = 0;
let stage: Stage | null = null;

function later(map: MapView, inks: boolean): void {
  waiting.set(map, inks || (waiting.get(map) ?? false));
  document.documentElement.dataset.ready = "false";
  if (!asked) asked = requestAnimationFrame(work);
}
/** The large map is painted first: it is the one that is looked at. */
function all(inks: boolean): void {
  const large = stage?.large;
  if (large) {
    const before = waiting.get(large) ?? false,
      rest = [...waiting].filter(([map]) => map !== large);
    waiting.clear();
    waiting.set(large, before || inks);
    for (const [map, also] of rest) waiting.set(map, also);
  }
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
    if (map === stage?.large) map.resting ? writeNames(map, shared.choice) : hideNames();
    if (performance.now() > end) break;
  }
  if (waiting.size) asked = requestAnimationFrame(work);
  document.documentElement.dataset.ready = String(!waiting.size && !gliding());
}

function recolour(): void {
  if (shared.choice !== chooser.value) selection.forget();
  shared.choice = chooser.value;
  truth.stale();
  compareTwo();
  describe(shared.choice);
  describeTruth();
  all(true);
  remember();
}

// --- the address

let restoring = true;
function remember(): void {
  if (restoring || !stage) return;
  const fitted = address.write({
    map: stage.large.places.name,
    question: stage.question?.name ?? "",
    colour: shared.choice,
    truth: truth.state.on,
    axes: arrows.state.on,
    against: shared.choice === MOVED ? against.value : "",
    view: stage.large.window,
    marked: selection.marked(),
  });
  document.getElementById("too-many")!.hidden = fitted;
}

/** What the address asks for, as far as this page has it. */
function restore(): void {
  const wanted = address.read();
  if (!wanted || !stage) return;
  if (wanted.question) stage.ask(wanted.question);
  stage.show(stage.named(wanted.map) ?? stage.large);
  if (wanted.view) stage.large.window = wanted.view;
  if ([...chooser.options].some((option) => option.value === wanted.colour)) chooser.value = wanted.colour!;
  arrows.state.on = arrows.available && wanted.axes;
  if (wanted.against !== null && stage.named(wanted.against)) against.value = wanted.against;
  if (wanted.truth !== null) truth.state.on = truth.available && wanted.truth;
  if (wanted.rows.length) selection.mark((found) => wanted.rows.forEach(found), "replace");
}

// --- what is true about the row that is pointed at

let recoloured = false;
shared.pointed = () => {
  const shows = truth.state.on && shared.current >= 0 && truth.look(shared.current).distances !== null;
  if (shows || recoloured) all(true);
  recoloured = shows;
  describeTruth();
};

function describeTruth(): void {
  const ramp = document.getElementById("truth-ramp");
  if (!ramp) return;
  pointing.setAttribute("aria-pressed", String(truth.state.on));
  ramp.hidden = !truth.state.on;
  const seen = truth.state.on && shared.current >= 0 ? truth.look(shared.current) : null;
  const [near, far] = ramp.querySelectorAll("span[data-end]");
  near.textContent = seen?.distances ? `nearest ${digits(seen.low, 3)}` : "near";
  far.textContent = seen?.distances ? `\u2265 ${digits(seen.high, 3)}` : "far";
  ramp.querySelector<HTMLElement>(".bar")!.style.background = `linear-gradient(90deg, ${nearRamp().join()})`;
}

pointing?.addEventListener("click", () => {
  truth.state.on = !truth.state.on;
  recoloured = true;
  shared.pointed();
  remember();
});

// --- what changed between two maps

const against = document.getElementById("against") as HTMLSelectElement,
  change = document.getElementById("change")!;

function glide(map: MapView, from: MapView): void {
  morph(map, from.places.xy, (each) => later(each, false));
}

function compareTwo(): void {
  change.hidden = shared.choice !== MOVED;
  if (change.hidden || !stage) return;
  if (against.value === stage.large.places.name || !stage.named(against.value))
    against.value = maps.find((map) => map !== stage!.large)?.places.name ?? "";
  const from = stage.named(against.value) ?? stage.large;
  moved.compareMaps(from.places, stage.large.places, () => {
    all(true);
    sayChange();
  });
  sayChange();
}
function sayChange(): void {
  document.getElementById("changed")!.textContent = moved.sentence();
  change.dataset.state = moved.state.shares ? "done" : "busy";
}
/** The large map is another one: changes are counted to it. */
function recolourChanges(): void {
  if (shared.choice !== MOVED) return;
  compareTwo();
  all(true);
}
against.addEventListener("change", () => {
  recolourChanges();
  remember();
});
document.getElementById("play")!.addEventListener("click", () => {
  const from = stage?.named(against.value);
  if (from && stage) glide(stage.large, from);
});
document.getElementById("play")!.hidden = !moves();

// --- what the axes mean, names of groups, uncertain places

const axesButton = document.getElementById("axes") as HTMLButtonElement | null;
function describeAxes(): void {
  if (!axesButton) return;
  axesButton.setAttribute("aria-pressed", String(arrows.state.on));
  const told = document.getElementById("axes-told")!;
  told.hidden = !arrows.state.on;
  if (stage)
    told.textContent = stage.large.places.linear
      ? `${stage.large.places.name} is a linear map: an arrow points to where its column grows, everywhere alike; ` +
        "it reaches the circle if the map shows all of the column."
      : "This map is curved, so directions mean something else in each place. Point at a row: arrows show where " +
        "columns grow among its 60 nearest rows in the data (approximate, by local regression).";
}
/** A button that switches a part of the picture. */
function switches(id: string, state: { on: boolean }, after: () => void): void {
  const button = document.getElementById(id);
  button?.setAttribute("aria-pressed", String(state.on));
  button?.addEventListener("click", () => {
    state.on = !state.on;
    button.setAttribute("aria-pressed", String(state.on));
    after();
  });
}
const repaintLarge = () => stage && later(stage.large, false);
switches("axes", arrows.state, () => {
  describeAxes();
  repaintLarge();
  remember();
});
switches("names", named, repaintLarge);
switches("ellipses", ellipses.state, repaintLarge);
moved.offerMoved();
offerStress(() => all(true));

// --- maps

for (const canvas of document.querySelectorAll<HTMLCanvasElement>("canvas[data-map]"))
  maps.push(
    new MapView(canvas, places[+canvas.dataset.map!], maps, (map) => {
      later(map, false);
      remember();
    }),
  );
maps.sort((a, b) => places.indexOf(a.places) - places.indexOf(b.places));
if (maps.length)
  stage = new Stage(maps, (repaint, before) => {
    for (const map of repaint) later(map, false);
    if (before && stage && !restoring) glide(stage.large, before);
    if (before) recolourChanges();
    describeAxes();
    if (repaint.length) judge(selection.marked(), stage?.large.places ?? null);
    remember();
  });

selection.watch(() => {
  const found = selection.nMarked();
  bar.hidden = !found;
  count.textContent = found ? `${found.toLocaleString("en")} of ${n.toLocaleString("en")} rows marked` : "";
  refresh();
  all(true);
  describeMarked();
  judge(selection.marked(), stage?.large.places ?? null);
  remember();
});

// --- what the reader takes away

const shown = () => ({
  places: stage!.large.places,
  view: stage!.large.window,
  choice: shared.choice,
  colourName: chooser.selectedOptions[0]?.textContent ?? "",
});
const figureName = () => fileName(`${title} ${stage!.large.places.name}`);
document
  .getElementById("svg")!
  .addEventListener("click", () => stage && download(`${figureName()}.svg`, "image/svg+xml", asSvg(shown())));
document
  .getElementById("png")!
  .addEventListener(
    "click",
    () => stage && asPng(shown(), (made) => download(`${figureName()}.png`, "image/png", made)),
  );
document.getElementById("save")!.addEventListener("click", () => download("marked-rows.csv", "text/csv", asCsv()));
document.getElementById("clear")!.addEventListener("click", () => selection.clear());

// --- keys and fingers

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
findable();
addEventListener("resize", () => all(false));
addEventListener("hashchange", () => {
  restoring = true;
  restore();
  recolour();
  describeAxes();
  restoring = false;
});
/** Paper is white: all maps are painted in the colours for it at once, and again for the screen afterwards. */
function paint(onPaper: boolean): void {
  printing(onPaper);
  truth.stale();
  for (const map of maps) {
    map.ink();
    map.paint(painter);
  }
  describe(shared.choice);
}
addEventListener("beforeprint", () => paint(true));
addEventListener("afterprint", () => paint(false));
addEventListener("scroll", hideTip, { passive: true });
document.querySelectorAll<HTMLTableElement>("table.scores").forEach(sortable);
document.querySelectorAll<SVGSVGElement>(".chart > svg").forEach((svg, k) => readable(svg, charts[k]));
chooser.value = start ?? (label ? "label" : "quality");
restore();
recolour();
describeAxes();
restoring = false;
framed();
/** What the first row that is pointed at needs. */
function* ahead(): Job<void> {
  truth.warm();
  yield;
  for (const map of maps) {
    map.prepare(painter);
    yield;
  }
}
setTimeout(() => run(ahead(), () => {}), 300);
