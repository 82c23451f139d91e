// Rows by their name, number, class or shown text.
import { label, n, names, rows, shown } from "./data";
import * as selection from "./selection";

const field = document.getElementById("find") as HTMLInputElement,
  told = document.getElementById("found")!;

export function matches(wanted: string): number[] {
  const text = wanted.trim().toLowerCase(),
    found: number[] = [];
  if (!text) return found;
  const has = (value: string | undefined) => value !== undefined && value.toLowerCase().includes(text);
  const classes = label?.classes?.map(has);
  for (let i = 0; i < n; i++)
    if (
      String(rows[i]) === text ||
      has(names?.[i]) ||
      (classes && label!.values[i] >= 0 && classes[label!.values[i]]) ||
      shown.some(({ values }) => has(values[i]))
    )
      found.push(i);
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
