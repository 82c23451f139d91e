// Quantities of rows that are computed here, for colours: each has its own values in each map.
import { Places, n } from "./data";

export interface Measured {
  low: number;
  high: number;
  stops: () => string[];
  ends: [string, string];
  /** The values in a map; null while they are computed. */
  of: (map: Places) => ArrayLike<number> | null;
}
const known = new Map<string, Measured>();
export const measured = (choice: string) => known.get(choice);
export const addMeasured = (choice: string, how: Measured) => void known.set(choice, how);

/** For rows whose values are not known yet. */
export const unknown = new Float32Array(n).fill(NaN);
