// The small box that follows the pointer. Text only: nothing from the data is ever read as markup.
const tip = document.getElementById("tip")!;

export function hideTip(): void {
  tip.classList.remove("on");
}

export interface Entry {
  name: string;
  value: string;
  colour?: string;
}

export function showTip(
  x: number,
  y: number,
  head: string,
  entries: Entry[],
  tail = "",
  off = 16,
  picture?: Node | null,
): void {
  const title = document.createElement("strong"),
    list = document.createElement("dl");
  title.textContent = head;
  for (const entry of entries) {
    const name = document.createElement("dt"),
      value = document.createElement("dd");
    if (entry.colour) name.className = `key ${entry.colour}`;
    name.append(entry.name);
    value.textContent = entry.value;
    list.append(name, value);
  }
  const more = document.createElement("small");
  more.textContent = tail;
  tip.replaceChildren(title, ...(picture ? [picture] : []), list, more);
  tip.classList.add("on");
  const { offsetWidth: w, offsetHeight: h } = tip;
  const right = x + off + w > innerWidth - 8,
    below = y + 16 + h > innerHeight - 8;
  tip.style.left = `${Math.max(4, right ? Math.min(x - off - w, innerWidth - w - 8) : x + off)}px`;
  tip.style.top = `${Math.max(4, below ? y - 16 - h : y + 16)}px`;
}

/** A number as a person writes it: five digits, no exponent where none is needed. */
export function digits(value: number, most = 5): string {
  return Number.isFinite(value) ? String(+value.toPrecision(most)).replace("-", "\u2212") : "none";
}
