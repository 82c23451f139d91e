// The script of `lowdim view`: linked maps of any number of rows, drawn from squares that the server has.
import { AtlasMap, asking, setSoft, shadeNow, shared } from "./atlas";
import { download, fileName } from "./download";
import { AMOUNT, grey, ink, onScheme } from "./palette";
import { inksOf, shadeOfClass } from "./shades";
import { About, Row, json, points, tiles } from "./tiles";
import { digits, hideTip, showTip } from "./tip";

const MOST_NAMED = 24; // classes in the legend
const MOST_FACTS = 8; // values shown with a row
const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const chooser = element<HTMLSelectElement>("colour"),
  legend = element("legend"),
  say = element("say");
const maps: AtlasMap[] = [];
let large: AtlasMap;
const waiting = new Set<AtlasMap>();
let asked = 0;
const count = (n: number) => n.toLocaleString("en");

// --- painting

function later(map: AtlasMap): void {
  waiting.add(map);
  document.documentElement.dataset.ready = "false";
  if (!asked) asked = requestAnimationFrame(work);
}
const all = () => maps.forEach(later);

function work(): void {
  asked = 0;
  tiles.forget();
  points.forget();
  // The large map first: its squares are asked for first. All others say again what they still want.
  for (const map of [large, ...maps.filter((map) => map !== large)])
    if (waiting.has(map) || !map.shown.complete) map.paint();
  waiting.clear();
  tiles.go();
  points.go();
  describeShown();
  document.documentElement.dataset.ready = String(!tiles.busy && !points.busy && maps.every((m) => m.shown.complete));
}

function describeShown(): void {
  const { inView, kind, half, points: drawn, complete } = large.shown,
    rows = shared.about.maps[large.k].n;
  const seen = inView >= rows ? `all ${count(inView)} rows` : `${count(inView)} of ${count(rows)} rows around the view`;
  const share =
    half === 0
      ? "each drawn as a point"
      : `a random sample: ${count(drawn)} points, one row in ${count(2 ** half)}, ${digits(100 / 2 ** half, 3)} %`;
  const how = kind === "density" ? "density of all of them" : share;
  element("shown").textContent = complete ? `${large.name}: ${seen}; ${how}.` : `${large.name}: loading \u2026`;
}

// --- colours

function recolour(): void {
  shared.before = asking();
  shared.colour = chooser.value;
  repaint();
}

function repaint(): void {
  shared.inks = inksOf(shadeNow());
  setSoft(ink(grey()) & 0xffffff);
  describeLegend();
  all();
}

function words(text: string): HTMLElement {
  const made = document.createElement("span");
  made.textContent = text;
  return made;
}

function swatch(colour: string): HTMLElement {
  const made = document.createElement("span");
  made.className = "swatch";
  made.style.background = colour;
  return made;
}

function describeLegend(): void {
  const shade = shadeNow();
  legend.replaceChildren();
  if (!shade) return;
  if (!shade.classes) {
    const bar = document.createElement("span"),
      [least, most] = shade.clipped ? ["\u2264 ", "\u2265 "] : ["", ""];
    bar.className = "bar";
    bar.style.background = `linear-gradient(90deg, ${AMOUNT.join()})`;
    legend.append(words(least + digits(shade.low!, 4)), bar, words(most + digits(shade.high!, 4)));
    return;
  }
  shade.classes.slice(0, MOST_NAMED).forEach((name, k) => {
    const made = document.createElement("button"),
      mark = `class:${shared.colour}:${k}`;
    made.type = "button";
    made.title = name;
    made.append(swatch(shadeOfClass(k)), words(name));
    made.setAttribute("aria-pressed", String(shared.mark === mark));
    made.addEventListener("click", () => shared.marked(shared.mark === mark ? "" : mark));
    legend.append(made);
  });
  const left = shade.classes.length - MOST_NAMED;
  if (left > 0) legend.append(words(`and ${count(left)} smaller classes in grey`));
}

// --- marks

let marking = 0;
shared.marked = (mark) => {
  shared.before = asking();
  shared.mark = mark;
  const own = ++marking,
    bar = element("selection");
  bar.hidden = mark === "";
  repaint();
  if (!mark) return;
  element("count").textContent = "\u2026";
  void json<number>(`marked?mark=${encodeURIComponent(mark)}`).then((found) => {
    if (own === marking) element("count").textContent = `${count(found)} of ${count(shared.about.rows)} rows marked`;
  });
};
element("clear").addEventListener("click", () => shared.marked(""));

// --- a row

const headOf = (row: Row) => (row.name ? `${row.name} (row ${row.number})` : `row ${row.number}`);

function factsOf(row: Row): { name: string; value: string }[] {
  const chosen = shared.colour === "" ? -1 : +shared.colour;
  const order = shared.about.colours.map((_, k) => k).sort((a, b) => +(b === chosen) - +(a === chosen) || a - b);
  const facts = order
    .filter(
      (k) => row.values[k] !== null && (k === chosen || (shared.about.colours[k].only ?? large.name) === large.name),
    )
    .map((k) => {
      const value = row.values[k]!;
      return { name: shared.about.colours[k].name, value: typeof value === "number" ? digits(value) : value };
    });
  return [...row.texts, ...facts];
}

shared.pointed = (row, by) => {
  if (row === null && shared.current === null) return hideTip();
  shared.current = row;
  for (const map of maps) map.overlay();
  const at = row?.places[by.k];
  if (!row || !at) return hideTip();
  const box = by.canvas.getBoundingClientRect(),
    [x, y] = by.place(at),
    facts = factsOf(row),
    left = facts.length - MOST_FACTS;
  const tail = left > 0 ? `and ${left} more` : "";
  showTip(box.left + x, box.top + y, headOf(row), facts.slice(0, MOST_FACTS), tail);
};

async function find(text: string): Promise<void> {
  const out = element("found");
  out.textContent = "";
  if (!text.trim()) return shared.pointed(null, large);
  const found = await json<number[]>(`find?text=${encodeURIComponent(text.trim())}`);
  if (!found.length) return void (out.textContent = "no such row");
  const row = await json<Row>(`row?row=${found[0]}`);
  out.textContent =
    found.length > 1 ? `${headOf(row)}, the first of ${found.length >= 20 ? "many" : found.length}` : headOf(row);
  const at = row.places[large.k];
  if (!at) return void (out.textContent += ", not in this map");
  large.look({ scale: Math.max(large.view.scale, 8), x: at[0], y: at[1] });
  shared.current = row; // ringed until the pointer moves
  for (const map of maps) map.overlay();
}
element<HTMLInputElement>("find").addEventListener(
  "change",
  (event) => void find((event.target as HTMLInputElement).value),
);

// --- maps

function figureOf(map: AtlasMap): HTMLElement {
  const figure = document.createElement("figure"),
    box = document.createElement("div"),
    zoom = document.createElement("div"),
    caption = document.createElement("figcaption"),
    name = document.createElement("button");
  box.className = "canvas";
  zoom.className = "zoom";
  for (const [text, title, act] of [
    ["+", "Zoom in", () => map.zoom(1.5)],
    ["\u2212", "Zoom out", () => map.zoom(1 / 1.5)],
    ["\u2922", "Whole map", () => map.look({ scale: 1, x: 0.5, y: 0.5 })],
  ] as const) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = title;
    button.setAttribute("aria-label", `${title}: ${map.name}`);
    button.addEventListener("click", act);
    zoom.append(button);
  }
  const { n, flat } = shared.about.maps[map.k];
  map.canvas.setAttribute(
    "aria-label",
    `Map of ${n} rows by ${map.name}. Arrow keys move it, plus and minus zoom, 0 shows the whole map.`,
  );
  name.type = "button";
  name.className = "pick";
  name.textContent = map.name;
  name.setAttribute("aria-label", `Show ${map.name} as the large map`);
  name.addEventListener("click", () => enlarge(map));
  name.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = maps[(maps.indexOf(large) + by + maps.length) % maps.length];
    enlarge(next);
    next.canvas.closest("figure")!.querySelector<HTMLElement>(".pick")!.focus();
  });
  caption.append(name);
  if (flat) {
    const tag = words("1 component: heights are random");
    tag.className = "tag";
    caption.append(tag);
  }
  box.append(map.canvas, map.over, zoom);
  figure.append(box, caption);
  return figure;
}

function enlarge(map: AtlasMap): void {
  large = map;
  for (const each of maps) {
    const figure = each.canvas.closest("figure")!;
    each.large = each === map;
    if (!each.large) each.view = { scale: 1, x: 0.5, y: 0.5 };
    each.canvas.tabIndex = each.large ? 0 : -1;
    figure.classList.toggle("small-map", !each.large);
    figure.querySelector(".pick")!.setAttribute("aria-pressed", String(each.large));
  }
  element("large").replaceChildren(map.canvas.closest("figure")!);
  element("others").replaceChildren(
    ...maps.filter((each) => each !== map).map((each) => each.canvas.closest("figure")!),
  );
  say.textContent = `${map.name} is the large map`;
  hideTip();
  all();
}

// --- the page

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || maps.some((map) => map.drop())) return;
  shared.pointed(null, large);
  if (shared.mark) shared.marked("");
});
element("loops").addEventListener("click", () => {
  shared.loops = !shared.loops;
  element("loops").setAttribute("aria-pressed", String(shared.loops));
});
element<HTMLSelectElement>("draw").addEventListener("change", (event) => {
  shared.always = (event.target as HTMLSelectElement).value === "points";
  all();
});
element("png").addEventListener("click", () => {
  const made = document.createElement("canvas"),
    pen = made.getContext("2d")!;
  made.width = large.canvas.width;
  made.height = large.canvas.height;
  pen.fillStyle = getComputedStyle(large.canvas.closest("figure")!).backgroundColor;
  pen.fillRect(0, 0, made.width, made.height);
  pen.drawImage(large.canvas, 0, 0);
  made.toBlob((blob) => blob && download(`${fileName(`${shared.about.title} ${large.name}`)}.png`, "image/png", blob));
});
chooser.addEventListener("change", () => {
  if (shared.mark.startsWith("class:")) shared.marked("");
  recolour();
});
onScheme(() => {
  tiles.each((tile) => (tile.image = null));
  repaint();
});
addEventListener("resize", all);
addEventListener("scroll", hideTip, { passive: true });

function describe(about: About): void {
  element("lead").textContent =
    `${count(about.rows)} rows in ${about.maps.length} map${about.maps.length === 1 ? "" : "s"}. Density shows every row; points are drawn where they fit.`;
  about.colours.forEach((colour, k) => chooser.add(new Option(colour.name, String(k))));
  chooser.add(new Option("none", ""));
  for (const note of about.notes) {
    const made = document.createElement("p");
    made.className = "note";
    made.textContent = note;
    element("notes").append(made);
  }
  about.files.forEach((file, k) => {
    const link = document.createElement("a");
    link.href = file;
    link.textContent = file === "report.html" ? "the report, with the verdict and the scores" : file;
    element("files").append(k ? ", " : "Also in this study: ", link);
  });
}

async function begin(): Promise<void> {
  const about = (shared.about = await json<About>("study.json"));
  describe(about);
  about.maps.forEach((map, k) => maps.push(new AtlasMap(k, map.name, later, enlarge)));
  element("others").append(...maps.map(figureOf));
  enlarge(maps[0]);
  recolour();
}
void begin();
