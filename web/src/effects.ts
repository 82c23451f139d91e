// What sets the marked rows apart: columns by the size of their difference to all other rows.
import { Column, Label, columns, groups, label, n } from "./data";
import { digits } from "./tip";

export interface Effect {
  name: string;
  size: number; // Cohen's d of a quantity, Cohen's h of a class: both are in the same unit
  text: string;
  column: number; // -1: the label
}

/** The columns that the methods saw, true positions and the label; none of what was judged about rows. */
export function effects(marked: Uint8Array): Effect[] {
  const found: Effect[] = [];
  const add = (source: Column | Label, column: number) => {
    const effect = source.classes ? ofClasses(source, marked) : ofQuantity(source, marked);
    if (effect) found.push({ ...effect, column });
  };
  columns.slice(0, groups.columns + groups.positions).forEach(add);
  if (label) add(label, -1);
  return found.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
}

function ofQuantity({ name, values }: Column | Label, marked: Uint8Array): Omit<Effect, "column"> | null {
  const count = [0, 0],
    sum = [0, 0],
    squares = [0, 0];
  for (let i = 0; i < n; i++) if (Number.isFinite(values[i])) sum[marked[i]] += (count[marked[i]]++, values[i]);
  if (!count[0] || !count[1]) return null;
  const mean = [sum[0] / count[0], sum[1] / count[1]];
  for (let i = 0; i < n; i++) if (Number.isFinite(values[i])) squares[marked[i]] += (values[i] - mean[marked[i]]) ** 2;
  const spread = Math.sqrt((squares[0] + squares[1]) / Math.max(1, count[0] + count[1] - 2));
  if (!(spread > 0)) return null;
  return { name, size: (mean[1] - mean[0]) / spread, text: `mean ${digits(mean[1], 3)}, others ${digits(mean[0], 3)}` };
}

/** The class whose share differs most. */
function ofClasses({ name, classes, values }: Column | Label, marked: Uint8Array): Omit<Effect, "column"> | null {
  const count = [new Uint32Array(classes!.length), new Uint32Array(classes!.length)],
    all = [0, 0];
  for (let i = 0; i < n; i++)
    if (values[i] >= 0) {
      count[marked[i]][values[i]]++;
      all[marked[i]]++;
    }
  if (!all[0] || !all[1]) return null;
  let best: Omit<Effect, "column"> | null = null;
  const turned = (share: number) => 2 * Math.asin(Math.sqrt(share));
  classes!.forEach((each, k) => {
    const [others, own] = [count[0][k] / all[0], count[1][k] / all[1]],
      size = turned(own) - turned(others);
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    if (!best || Math.abs(size) > Math.abs(best.size))
      best = { name: `${name}: ${each}`, size, text: `${percent(own)}, others ${percent(others)}` };
  });
  return best;
}
