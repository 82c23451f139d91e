// Rows by their name, number, class or text, or by a value: "height > 12", "colour = red".
import { columns, groups, label, n, names, rows, shown } from "./data";
import * as selection from "./selection";

const field = document.getElementById("find") as HTMLInputElement,
  told = document.getElementById("found")!;

type Test = (row: number) => boolean;
const plain = (text: string) => text.trim().toLowerCase();

/** A column, the label or a shown text by its name, or by the beginning of it where only one begins so. */
function sourceOf(wanted: string): { classes: string[] | null; value: (row: number) => number | string } | null {
  const known = [
    ...(label ? [label] : []),
    ...columns.map((column) => column),
    ...shown.map(({ name, values }) => ({ name, classes: null, values })),
  ];
  const named = known.filter(({ name }) => plain(name) === wanted),
    begun = known.filter(({ name }) => plain(name).startsWith(wanted)),
    found = named[0] ?? (begun.length === 1 ? begun[0] : null);
  return found && { classes: found.classes, value: (row) => found.values[row] };
}

const ORDER: Record<string, (a: number, b: number) => boolean> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b || Math.fround(a) === Math.fround(b),
  "!=": (a, b) => Number.isFinite(a) && Math.fround(a) !== Math.fround(b),
};

/** A question about a value; null where the text is none. */
function byValue(text: string): Test | null {
  const parts = /^(.+?)\s*(<=|>=|!=|<|>|=)\s*(.+)$/.exec(text),
    source = parts && sourceOf(plain(parts[1]));
  if (!parts || !source) return null;
  const sign = parts[2],
    wanted = plain(parts[3]),
    amount = Number(wanted.replace("\u2212", "-"));
  if (source.classes) {
    const hit = source.classes.map((name) => (sign === "!=") !== (plain(name) === wanted));
    if (sign !== "=" && sign !== "!=") return null;
    return (row) => hit[source.value(row) as number] ?? false;
  }
  return (row) => {
    const value = source.value(row);
    if (typeof value === "string")
      return sign === "=" ? plain(value) === wanted : sign === "!=" && plain(value) !== wanted;
    return Number.isFinite(amount) && ORDER[sign](value, amount);
  };
}

function byText(text: string): Test {
  const has = (value: string | undefined) => value !== undefined && value.toLowerCase().includes(text);
  const coded = [...(label ? [label] : []), ...columns.slice(0, groups.columns)]
    .filter(({ classes }) => classes)
    .map(({ classes, values }) => ({ values, hit: classes!.map(has) }))
    .filter(({ hit }) => hit.includes(true));
  return (i) =>
    String(rows[i]) === text ||
    has(names?.[i]) ||
    coded.some(({ values, hit }) => hit[values[i]]) ||
    shown.some(({ values }) => has(values[i]));
}

export function matches(wanted: string): number[] {
  const text = plain(wanted),
    found: number[] = [];
  if (!text) return found;
  const test = byValue(text) ?? byText(text);
  for (let i = 0; i < n; i++) if (test(i)) found.push(i);
  return found;
}

export function findable(): void {
  field.addEventListener("input", () => {
    const found = matches(field.value).length;
    told.textContent = field.value.trim() ? `${found.toLocaleString("en")} found` : "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const found = matches(field.value);
    if (found.length) selection.mark((each) => found.forEach(each), "replace");
  });
}
