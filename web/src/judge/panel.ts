// Whether the marked rows are a group, in words and numbers.
import { Places, hasTruth } from "../data";
import { Job, run } from "../jobs";
import { facts } from "./judge";
import { FEW, Facts, Verdict, percent, verdictOf } from "./rules";
import { dataSpace, mapSpace, placed } from "./spaces";

const box = document.getElementById("group")!,
  MEANING: Record<Verdict["verdict"], string> = {
    "holds together": "These rows are a group in the data too, not only in this map.",
    torn: "The map separates what the data do not: do not read the gap as a border.",
    mixture: "There is more than one group in these rows: mark them one by one.",
    overlaps: "In the data there is no border around these rows: they pass into the rows beside them.",
    "too few rows": `Mark at least ${FEW} rows to learn whether they are a group.`,
  };
interface Judged extends Verdict {
  size: number;
  left: number; // marked rows that have no place in the map
  facts: Facts | null;
}

/** The verdict on marked rows in one map; null where the page does not know the data well enough. */
export function* judged(marked: Uint8Array, places: Places): Job<Judged | null> {
  const chosen = marked.map((flag, i) => (flag && placed(places, i) ? 1 : 0)),
    count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0),
    size = count(chosen),
    left = count(marked) - size,
    data = dataSpace();
  if (size < FEW)
    return { size, left, facts: null, verdict: "too few rows", reason: `${size} rows, fewer than ${FEW}` };
  if (!data) return null;
  const map = yield* mapSpace(places);
  const found = yield* facts(chosen, data, map);
  return { size, left, facts: found, ...verdictOf(size, found) };
}

function made(kind: string, text: string, className = ""): HTMLElement {
  const found = document.createElement(kind);
  found.textContent = text;
  if (className) found.className = className;
  return found;
}

const depth = (value: number) => (Number.isFinite(value) ? value.toFixed(1) : "a gap");

function numbers(name: string, f: Facts): HTMLTableElement {
  const table = document.createElement("table"),
    body = table.createTBody();
  const head = table.createTHead().insertRow();
  for (const text of ["", "in the data", `in ${name}`]) head.append(made("th", text));
  const line = (what: string, why: string, ...values: string[]) => {
    const row = body.insertRow(),
      first = made("th", what);
    first.title = why;
    row.append(first, ...values.map((text) => made("td", text)));
  };
  line(
    "neighbours in the group",
    "Of the 15 nearest rows of each marked row, the share that is marked too.",
    `${percent(f.inside)} (by chance ${percent(f.chance)})`,
    percent(f.inside_map),
  );
  line("pieces", "Parts that are not connected by neighbours.", String(f.pieces), String(f.pieces_map));
  line(
    "drop in density inside",
    "Standard deviations between the lower of two peaks and the valley between them; above 4 there are two groups.",
    depth(f.valley),
    depth(f.valley_map),
  );
  line(
    "drop to the others",
    "The same between these rows and all others; above 4 there is a border.",
    depth(f.border),
    depth(f.border_map),
  );
  return table;
}

function show(found: Judged | null, name: string): void {
  if (!found) {
    const why = hasTruth
      ? "This page has no distances between all rows, so it cannot tell. In Python: lowdim.trust.groups(X, Z, marked)."
      : "This page has no copy of the data, so it cannot tell. In Python: lowdim.trust.groups(X, Z, marked).";
    box.replaceChildren(made("h3", "Are these rows a group?"), made("p", why, "small"));
    return;
  }
  const line = document.createElement("p");
  line.append(made("strong", found.verdict, "word"), ` \u2013 ${MEANING[found.verdict]}`);
  line.className = "answer";
  box.replaceChildren(made("h3", "Are these rows a group?"), line, made("p", `${found.reason}.`, "small reason"));
  if (found.left) box.append(made("p", `${found.left} marked rows are not in this map.`, "small"));
  if (!found.facts) return;
  const more = document.createElement("details");
  more.append(made("summary", "The numbers"), numbers(name, found.facts));
  more.append(
    made(
      "p",
      "By the rules of lowdim.trust.groups, from the copy of the data in this page" +
        (found.size > 2000 ? "; densities from 2,000 of the rows." : "."),
      "small",
    ),
  );
  box.append(more);
}

let drop = () => {};
/** Judges marked rows in the large map; the page goes on meanwhile. */
export function judge(marked: Uint8Array | null, places: Places | null): void {
  drop();
  if (!marked || !places) {
    box.dataset.state = "";
    return;
  }
  box.dataset.state = "busy";
  const flags = marked.slice();
  drop = run(judged(flags, places), (found) => {
    show(found, places.name);
    box.dataset.verdict = found?.verdict ?? "";
    box.dataset.facts = JSON.stringify(found?.facts ?? null, (_, v) =>
      typeof v === "number" && !Number.isFinite(v) ? String(v) : v,
    );
    box.dataset.state = "done";
  });
}
