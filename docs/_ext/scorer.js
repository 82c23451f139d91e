// The order of search results: short answers and guides before records of decisions and long tables.
// `var`, since searchtools.js declares the same name.
var Scorer = {
  score: ([docname, , , , score]) => {
    const first = [["start/questions", 40], ["guides/", 15], ["start/", 15], ["choose/", 10], ["reading/", 10], ["about", 10], ["cases/", 5]];
    const last = [["decisions/", 20], ["CHANGELOG", 20], ["CONTRIBUTING", 20], ["ARCHITECTURE", 20], ["benchmarks", 20], ["robustness", 20], ["verdicts", 10]];
    for (const [start, more] of first) if (docname.startsWith(start)) return score + more;
    for (const [start, less] of last) if (docname.startsWith(start)) return score - less;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
