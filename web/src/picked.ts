// The marked rows: what sets them apart, and a table of them that sorts.
import { Column, Label, columns, groups, label, n, names, rows, shown } from "./data";
import { Effect, effects } from "./effects";
import { hasImages, imageOf } from "./images";
import { valueOf } from "./maps";
import * as selection from "./selection";

const box = document.getElementById("picked")!,
  list = document.getElementById("apart")!,
  table = document.getElementById("picked-rows") as HTMLTableElement,
  told = document.getElementById("picked-told")!;
const MOST_EFFECTS = 8,
  MOST_COLUMNS = 6,
  MOST_ROWS = 100;

/** A column of the table: its heading, and the text and the place in the order of a row. */
interface Field {
  name: string;
  text: (row: number) => string;
  key: (row: number) => number | string;
  picture?: (row: number) => Node | null;
}
let sortedBy = 0,
  turn = 1;

const fieldOf = (source: Column | Label): Field => ({
  name: source.name,
  text: (row) => valueOf(source, row),
  key: (row) => (source.classes && source.values[row] < 0 ? NaN : source.values[row]),
});

function fields(found: Effect[]): Field[] {
  const made: Field[] = [{ name: "row", text: (row) => String(rows[row]), key: (row) => rows[row] }];
  if (hasImages) made.push({ name: "image", text: () => "", key: () => 0, picture: (row) => imageOf(row, 32) });
  if (names) made.push({ name: "name", text: (row) => names![row], key: (row) => names![row] });
  if (label) made.push(fieldOf(label));
  const columnsOf = found.filter((effect) => effect.column >= 0).slice(0, MOST_COLUMNS);
  return [...made, ...columnsOf.map((effect) => fieldOf(columns[effect.column]))];
}

function bars(found: Effect[]): void {
  list.replaceChildren(
    ...found.slice(0, MOST_EFFECTS).map((effect) => {
      const item = document.createElement("li"),
        name = document.createElement("span"),
        bar = document.createElement("meter"),
        text = document.createElement("span");
      name.textContent = effect.name;
      name.title = effect.name;
      bar.max = 3;
      bar.value = Math.min(3, Math.abs(effect.size));
      bar.className = effect.size < 0 ? "less" : "more";
      const word = effect.size < 0 ? "lower" : "higher";
      bar.setAttribute("aria-label", `${word} by ${Math.abs(effect.size).toFixed(1)} standard deviations`);
      text.textContent = `${effect.size < 0 ? "\u2212" : "+"}${Math.abs(effect.size).toFixed(1)} \u00b7 ${effect.text}`;
      text.className = "small";
      item.append(name, bar, text);
      return item;
    }),
  );
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "string") return a.localeCompare(String(b));
  return a - (b as number);
}

function draw(found: Field[], marked: number[]): void {
  const by = found[Math.min(sortedBy, found.length - 1)];
  const empty = (row: number) => Number.isNaN(by.key(row));
  const sorted = [...marked].sort((a, b) =>
    empty(a) || empty(b) ? Number(empty(a)) - Number(empty(b)) : turn * compare(by.key(a), by.key(b)) || a - b,
  );
  const head = document.createElement("tr"),
    body = table.tBodies[0];
  found.forEach((field, k) => {
    const cell = document.createElement("th"),
      button = document.createElement("button");
    cell.scope = "col";
    if (k === sortedBy) cell.setAttribute("aria-sort", turn > 0 ? "ascending" : "descending");
    button.type = "button";
    button.textContent = field.name;
    button.addEventListener("click", () => {
      turn = sortedBy === k ? -turn : 1;
      sortedBy = k;
      draw(found, marked);
      table.tHead!.querySelectorAll("button")[k].focus();
    });
    cell.append(button);
    head.append(cell);
  });
  table.tHead!.replaceChildren(head);
  body.replaceChildren(
    ...sorted.slice(0, MOST_ROWS).map((row) => {
      const line = document.createElement("tr");
      found.forEach((field, k) => {
        const cell = document.createElement(k ? "td" : "th");
        cell.textContent = field.text(row);
        const picture = field.picture?.(row);
        if (picture) cell.append(picture);
        line.append(cell);
      });
      return line;
    }),
  );
  told.textContent =
    marked.length > MOST_ROWS
      ? `The first ${MOST_ROWS} of ${marked.length.toLocaleString("en")} marked rows; the saved file has all of them.`
      : "";
}

let waiting = 0;
/** After the maps: the marked rows may be many. */
export function describeMarked(): void {
  clearTimeout(waiting);
  const flags = selection.marked();
  box.hidden = !flags;
  if (flags) waiting = window.setTimeout(() => fill(flags), 30);
}

function fill(flags: Uint8Array): void {
  const marked: number[] = [];
  for (let i = 0; i < n; i++) if (flags[i]) marked.push(i);
  const found = effects(flags);
  bars(found);
  document.getElementById("apart-none")!.hidden = found.length > 0;
  draw(fields(found), marked);
}

/** Text that a spreadsheet would run as a formula gets an apostrophe in front. */
const safe = (text: string) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
const quoted = (text: string) => `"${safe(text).replaceAll('"', '""')}"`;
const cell = (source: Column | Label, row: number) => {
  const value = source.values[row];
  if (source.classes) return value >= 0 ? quoted(source.classes[value]) : "";
  return Number.isFinite(value) ? String(+value.toPrecision(7)) : "";
};

/** The marked rows with all that the page knows about them, as a table for other programs. */
export function asCsv(): string {
  const flags = selection.marked()!,
    given = columns.slice(0, groups.columns + groups.positions),
    sources = label ? [label, ...given] : given;
  const head = ["row", ...(names ? ["name"] : []), ...[...sources, ...shown].map((each) => quoted(each.name))];
  const lines = [head.join()];
  for (let i = 0; i < n; i++)
    if (flags[i])
      lines.push(
        [
          rows[i],
          ...(names ? [quoted(names[i])] : []),
          ...sources.map((source) => cell(source, i)),
          ...shown.map(({ values }) => quoted(values[i])),
        ].join(),
      );
  return lines.join("\n") + "\n";
}
