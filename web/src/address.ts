// What is looked at, at the end of the page's address, so that a link opens the same view.
import { n } from "./data";
import { View } from "./marks";

export interface State {
  map: string;
  question: string;
  colour: string;
  truth: boolean;
  axes: boolean;
  against: string; // the map that changes are counted from; "" where none are shown
  view: View;
  marked: Uint8Array | null;
}
const LONGEST = 4000; // characters of the marked rows; more of them do not fit into an address

/** Marked rows as runs, "first-last" in base 36, each first row counted from the end of the run before. */
export function packRows(marked: Uint8Array): string {
  const runs: string[] = [];
  for (let i = 0, end = 0; i < n; i++) {
    if (!marked[i]) continue;
    const first = i;
    while (i + 1 < n && marked[i + 1]) i++;
    runs.push((first - end).toString(36) + (i > first ? `-${(i - first).toString(36)}` : ""));
    end = i;
  }
  return runs.join(".");
}

export function unpackRows(text: string): number[] {
  const found: number[] = [];
  let end = 0;
  for (const run of text.split(".")) {
    const [gap, more] = run.split("-").map((part) => parseInt(part, 36));
    const first = end + gap;
    end = first + (more || 0);
    if (!(first >= 0 && end < n)) return found;
    for (let i = first; i <= end; i++) found.push(i);
  }
  return found;
}

const current = () => new URLSearchParams(location.hash.slice(1));

/** Says whether everything fitted. */
export function write(state: State): boolean {
  const before = current(),
    next = new URLSearchParams();
  if (before.has("painter")) next.set("painter", before.get("painter")!);
  next.set("map", state.map);
  if (state.question) next.set("for", state.question);
  next.set("colour", state.colour);
  next.set("truth", state.truth ? "1" : "0");
  if (state.axes) next.set("axes", "1");
  if (state.against) next.set("against", state.against);
  if (state.view.scale > 1)
    next.set("view", [state.view.scale, state.view.x, state.view.y].map((v) => +v.toPrecision(4)).join());
  const packed = state.marked ? packRows(state.marked) : "";
  if (packed && packed.length <= LONGEST) next.set("rows", packed);
  if (location.protocol !== "about:") history.replaceState(null, "", `#${next}`); // a page in a frame may have no address
  return packed.length <= LONGEST;
}

export interface Wanted {
  map: string | null;
  question: string | null;
  colour: string | null;
  truth: boolean | null;
  axes: boolean;
  against: string | null;
  view: View | null;
  rows: number[];
}

/** What the address asks for; null where it does not say. */
export function read(): Wanted | null {
  const given = current();
  if (!given.has("map")) return null;
  const view = (given.get("view") ?? "").split(",").map(Number);
  return {
    map: given.get("map"),
    question: given.get("for"),
    colour: given.get("colour"),
    truth: given.has("truth") ? given.get("truth") === "1" : null,
    axes: given.get("axes") === "1",
    against: given.get("against"),
    view: view.length === 3 && view.every(Number.isFinite) ? { scale: view[0], x: view[1], y: view[2] } : null,
    rows: given.has("rows") ? unpackRows(given.get("rows")!) : [],
  };
}
