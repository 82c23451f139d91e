// The table of scores sorts by a heading: better first, then reversed, then the original order.
type Direction = "ascending" | "descending";

export function sortable(table: HTMLTableElement): void {
  const body = table.tBodies[0],
    given = [...body.rows],
    heads = [...table.tHead!.rows[0].cells];
  const said = document.getElementById("sorted")!;
  let by = -1,
    turns = 0;

  const first = (k: number): Direction =>
    heads[k].dataset.good === "high" || heads[k].dataset.first === "high" ? "descending" : "ascending";
  const other = (way: Direction): Direction => (way === "ascending" ? "descending" : "ascending");

  function press(k: number): void {
    turns = by === k ? (turns + 1) % 3 : 1;
    by = turns ? k : -1;
    const way = turns === 2 ? other(first(k)) : first(k);
    heads.forEach((head, j) => (j === by ? head.setAttribute("aria-sort", way) : head.removeAttribute("aria-sort")));
    body.append(...(by < 0 ? given : sorted(given, k, heads.length, way)));
    const name = heads[k].querySelector("button")!.dataset.name;
    said.textContent =
      by < 0
        ? "In the order in which the methods were given."
        : `Sorted by ${name}, ${way}; press again to reverse, once more for the original order.`;
  }

  heads.forEach((head, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.name = head.querySelector("abbr")?.textContent ?? head.textContent!.trim();
    button.append(...head.childNodes);
    button.addEventListener("click", () => press(k));
    head.append(button);
  });
}

/** Rows without a value, failures and the line about the data itself stay at the end. */
function sorted(rows: HTMLTableRowElement[], k: number, width: number, way: Direction): HTMLTableRowElement[] {
  const turn = way === "ascending" ? 1 : -1;
  const cellOf = (row: HTMLTableRowElement): HTMLTableCellElement | undefined => {
    if (!row.querySelector(".failed")) return row.cells[k];
    return k === width - 1 ? row.cells[row.cells.length - 1] : undefined; // a failure spans all but its time
  };
  const value = (row: HTMLTableRowElement): number | string => {
    if (k === 0) return row.cells[0].textContent!.trim();
    return parseFloat(cellOf(row)?.textContent ?? "");
  };
  const last = (row: HTMLTableRowElement) => row.dataset.last !== undefined || Number.isNaN(value(row));
  return [...rows].sort((a, b) => {
    if (last(a) || last(b)) return Number(last(a)) - Number(last(b));
    const u = value(a),
      v = value(b);
    return turn * (typeof u === "string" ? u.localeCompare(String(v)) : u - (v as number));
  });
}
