// The verdict on a group of rows: the same rules, limits and words as lowdim.trust.groups.
export const FEW = 20, // rows of a group that is not judged
  SAMPLED = 2000, // rows of a group whose density is looked at
  AROUND = 100, // rows that are looked at around a group, if it has fewer
  PARTS = 10, // a neighbourhood for densities holds this part of the group
  VALLEY = 4, // standard deviations of a log density
  NEIGHBORS = 15;
const SHARED = 0.5,
  ALONE = 0.98,
  MANY = 100,
  SMALL_VALLEY = 2,
  APART = 0.25;

export interface Facts {
  inside: number;
  inside_map: number;
  chance: number;
  conductance: number;
  pieces: number;
  pieces_map: number;
  valley: number;
  valley_map: number;
  border: number;
  border_map: number;
  split: number;
}
export interface Verdict {
  verdict: "holds together" | "torn" | "mixture" | "overlaps" | "too few rows";
  reason: string;
}

/** Rounded half to even, as Python does. */
export function percent(share: number): string {
  const value = 100 * share,
    low = Math.floor(value);
  return `${value - low === 0.5 ? low + (low % 2) : Math.round(value)}%`;
}

/** In order; the first rule that holds decides. */
export function verdictOf(size: number, f: Facts): Verdict {
  const kept = `${percent(f.inside)} of the neighbours of its rows in the data are in the group`;
  const say = (verdict: Verdict["verdict"], reason: string) => ({ verdict, reason });
  if (f.pieces > 1) return say("mixture", `in the data it has ${f.pieces} pieces that are not connected`);
  if (f.valley > VALLEY)
    return say(
      "mixture",
      `in the data it has two peaks of density, ${f.valley.toFixed(1)} deviations above the valley between`,
    );
  if (f.split > VALLEY)
    return say("mixture", "in several places of the map, and in the data too there is a gap between them");
  if (f.pieces_map > 1 || f.valley_map > VALLEY)
    return say("torn", "in several places of the map, but no drop in density between them was found in the data");
  if (size < MANY && f.inside - f.chance >= ALONE * (1 - f.chance) && f.border >= SMALL_VALLEY)
    return say("holds together", kept);
  if (f.inside < SHARED && f.inside_map - f.inside > APART)
    return say(
      "torn",
      `the map shows it apart (${percent(f.inside_map)} of its neighbours there are its own), but only ${kept}`,
    );
  if (f.border < VALLEY && VALLEY <= f.border_map && f.inside >= SHARED)
    return say(
      "torn",
      `the map shows a gap around it, but no drop in density was found between it and the others; ${kept}`,
    );
  if (f.inside < SHARED || f.border < VALLEY)
    return say("overlaps", `${kept}, and no drop in density was found between it and the others`);
  return say("holds together", `${kept}, and the density drops between it and the others`);
}
