// What the colours mean. The buttons of classes mark their rows in every map.
import {
  AMOUNT,
  N_COLOURS,
  N_SHAPES,
  Choice,
  classColour,
  classShape,
  grey,
  classesOf,
  quantityOf,
  rangeOf,
} from "./colours";
import { Column, Label, columns, label, n } from "./data";
import { measured } from "./measured";
import * as selection from "./selection";
import { digits } from "./tip";

const legend = document.getElementById("legend")!;
const MOST = 24; // classes named before the rest is asked for
let whole = false;

function swatch(colour: string, shape: number): HTMLCanvasElement {
  const made = document.createElement("canvas"),
    pen = made.getContext("2d")!,
    c = 12,
    r = 8;
  made.width = made.height = 24;
  pen.fillStyle = colour;
  const corners = [
    [],
    [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
    [0, -1.2, 1.1, 0.8, -1.1, 0.8],
    [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
  ][shape];
  if (shape === 0) pen.arc(c, c, r, 0, 7);
  for (let k = 0; k < corners.length; k += 2) pen.lineTo(c + r * corners[k], c + r * corners[k + 1]);
  pen.fill();
  return made;
}

function words(text: string): HTMLElement {
  const made = document.createElement("span");
  made.textContent = text;
  return made;
}

function bar(colours: string[], from: string, to: string): void {
  const made = document.createElement("span");
  made.className = "bar";
  made.style.background = `linear-gradient(90deg, ${colours.join()})`;
  legend.append(words(from), made, words(to));
}

function chip(name: string, k: number, codes: ArrayLike<number>): HTMLElement {
  const made = document.createElement("button");
  made.type = "button";
  made.title = name;
  made.setAttribute("aria-pressed", String(selection.classes.has(k)));
  made.append(swatch(classColour(k), classShape(k)), words(name));
  made.addEventListener("click", () => selection.toggleClass(k, codes));
  made.dataset.class = String(k);
  return made;
}

function chips(source: Column | Label, again: () => void): void {
  const classes = source.classes!;
  const most = whole || classes.length <= MOST + 4 ? classes.length : MOST;
  classes.slice(0, most).forEach((name, k) => legend.append(chip(name, k, source.values)));
  if (most < classes.length) {
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.textContent = `${classes.length - most} more`;
    more.addEventListener("click", () => {
      whole = true;
      again();
    });
    legend.append(more);
  }
}

export function describe(choice: Choice): void {
  legend.replaceChildren();
  const quantity = quantityOf(choice);
  const computed = measured(choice);
  if (computed) bar(computed.stops(), ...computed.ends);
  if (quantity) {
    const { low, high, clipped } = rangeOf(quantity);
    bar(AMOUNT, (clipped ? "\u2264 " : "") + digits(low, 4), (clipped ? "\u2265 " : "") + digits(high, 4));
  }
  const grouped = classesOf(choice);
  if (grouped) chips(grouped, () => describe(choice));
  if (choice === "label" && label?.holes) legend.append(swatch(grey(), 0), words("no label"));
  if (choice.startsWith("column:") && missing(+choice.slice(7))) legend.append(swatch(grey(), 0), words("no value"));
  if (grouped && grouped.classes!.length > N_COLOURS * N_SHAPES)
    legend.append(
      words(
        `${grouped.classes!.length} classes, ${N_COLOURS * N_SHAPES} symbols: several classes share a symbol; ` +
          "press a class to show it alone.",
      ),
    );
}

function missing(k: number): boolean {
  const { classes, values } = columns[k];
  for (let i = 0; i < n; i++) if (classes ? values[i] < 0 : !Number.isFinite(values[i])) return true;
  return false;
}

/** The pressed state of the buttons after the marked rows changed. */
export function refresh(): void {
  for (const button of legend.querySelectorAll<HTMLElement>("[data-class]"))
    button.setAttribute("aria-pressed", String(selection.classes.has(+button.dataset.class!)));
}
