// Values on the R_NX curves: a line follows the pointer, or the arrow keys, and the box names every curve at that K.
import { Chart, Line } from "./data";
import { hideTip, showTip } from "./tip";

const say = document.getElementById("say")!;

export function readable(svg: SVGSVGElement, chart: Chart): void {
  const frame = svg.dataset,
    left = +frame.left!,
    right = +frame.right!,
    top = +frame.top!,
    bottom = +frame.bottom!;
  const guide = document.createElementNS(svg.namespaceURI!, "g");
  guide.setAttribute("class", "guide");
  svg.append(guide);
  let k = 0;

  const xOf = (size: number) => left + ((right - left) * Math.log(size)) / Math.log(Math.max(chart.longest, 2));
  const yOf = (value: number) => bottom - ((bottom - top) * (value - chart.low)) / (1 - chart.low);
  const add = (kind: string, attributes: Record<string, number | string>) => {
    const made = document.createElementNS(svg.namespaceURI!, kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    guide.append(made);
  };

  function show(size: number, aloud: boolean): void {
    k = Math.max(1, Math.min(chart.longest, size));
    const x = xOf(k),
      read = chart.lines.map((line) => ({ line, value: at(line, k) })).filter((r) => Number.isFinite(r.value));
    guide.replaceChildren();
    add("line", { x1: x, x2: x, y1: top, y2: bottom });
    for (const { line, value } of read) add("circle", { class: line.colour, cx: x, cy: yOf(value), r: 4 });
    const entries = read.map(({ line, value }) => ({
      name: line.name,
      value: value.toFixed(3).replace("-0.000", "0.000").replace("-", "\u2212"),
      colour: line.colour,
    }));
    const box = svg.getBoundingClientRect(),
      scale = box.width / svg.viewBox.baseVal.width;
    showTip(box.left + x * scale, box.top + top * scale, `K = ${k.toLocaleString("en")}`, entries);
    if (aloud) say.textContent = `K ${k}: ${entries.map((e) => `${e.name} ${e.value}`).join("; ")}`;
  }
  const hide = () => {
    guide.replaceChildren();
    hideTip();
  };

  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(),
      x = ((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width;
    const share = Math.max(0, Math.min(1, (x - left) / (right - left)));
    show(Math.round(Math.exp(share * Math.log(Math.max(chart.longest, 2)))), false);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") return hide();
    if (!by) return;
    event.preventDefault();
    show(k ? k + by * Math.max(1, Math.round(k * 0.05)) : 1, true);
  });
}

/** The value at K, between the two stored sizes around it. */
function at(line: Line, size: number): number {
  const { k, r } = line;
  if (!k.length || size < k[0] || size > k[k.length - 1]) return NaN;
  let low = 0,
    high = k.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (k[middle] <= size) low = middle;
    else high = middle;
  }
  if (k[high] === size) return r[high];
  return k[low] === size || low === high
    ? r[low]
    : r[low] + ((r[high] - r[low]) * (size - k[low])) / (k[high] - k[low]);
}
