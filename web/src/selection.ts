// The marked rows: one set for all maps.
import { n } from "./data";

export type How = "replace" | "add" | "remove";
const flags = new Uint8Array(n);
const watchers: (() => void)[] = [];
export const classes = new Set<number>(); // classes that were marked as a whole, by their button
let count = 0;

export const nMarked = () => count;
export const marked = () => (count ? flags : null);
export const watch = (changed: () => void) => watchers.push(changed);

function changed(): void {
  count = 0;
  for (let i = 0; i < n; i++) count += flags[i];
  for (const watcher of watchers) watcher();
}

export function clear(): void {
  flags.fill(0);
  classes.clear();
  changed();
}

/** Marked classes are those of one label or column: with other colours only their rows stay marked. */
export const forget = () => classes.clear();

export function mark(each: (found: (row: number) => void) => void, how: How): void {
  if (how === "replace") flags.fill(0);
  if (how !== "add") classes.clear();
  const value = how === "remove" ? 0 : 1;
  each((row) => {
    flags[row] = value;
  });
  changed();
}

export function toggleRow(row: number): void {
  flags[row] = 1 - flags[row];
  if (!flags[row]) classes.clear();
  changed();
}

export function toggleClass(k: number, codes: ArrayLike<number>): void {
  if (!classes.size && count) flags.fill(0); // rows marked by hand give way
  const value = classes.delete(k) ? 0 : 1;
  if (value) classes.add(k);
  for (let i = 0; i < n; i++) if (codes[i] === k) flags[i] = value;
  changed();
}
