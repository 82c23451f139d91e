// The search of the site, for questions in a reader's own words. Sphinx shows only pages that have every word of the query, in the order of
// their best word. Here a page counts by how much of the query it answers, rare words more than common ones, words of a heading more than words
// of its text, and the result leads to the section whose heading fits best. Words of one line of SAME stand for each other.
const SAME = [
  "cluster group class",
  "missing nan na empty blank incomplete hole null",
  "dissimilarity dissimilarities distance precomputed proximity proximities",
  "row sample point observation case record",
  "column feature variable",
  "text string category categorical categories mixed",
  "cite citation bibtex reference",
  "gpu cuda nvidia",
  "save store pickle export",
  "safe security secure trusted",
  "large big huge million memory size",
  "reproducible determinism deterministic same seed identical",
  "machine computer platform",
  "continue goes update warm append add added",
  "scanpy anndata scverse cell",
  "loadings weights coefficients",
  "fill impute imputation",
  "slow fast speed cost time long",
  "normalise normalize standardise standardize scale",
  "choose which chooser pick",
  "real noise chance significant",
  "believe trust",
  "undo inverse back reverse reconstruct",
  "picture figure plot image chart",
  "outlier outlying",
  "license licence copyright",
].map((line) => line.split(" "));

const FILLER = new Set("use get know run need want work make go tell find try give say way mean now can".split(" ")); // of questions, not of answers

const ranking = {
  stems: new Map(),
  stem(word) {
    if (!ranking.stemmer) ranking.stemmer = new Stemmer();
    if (!ranking.stems.has(word)) ranking.stems.set(word, ranking.stemmer.stemWord(word));
    return ranking.stems.get(word);
  },

  // Stems that answer a word, with how much each is worth.
  variants(word) {
    const found = new Map([[word, 1]]);
    for (const line of SAME) {
      const stems = line.map(ranking.stem);
      if (stems.includes(word)) stems.filter((stem) => !found.has(stem)).forEach((stem) => found.set(stem, 0.6));
    }
    return found;
  },

  // Files whose terms have the word: file -> worth.
  files(index, word, variants) {
    const found = new Map();
    const add = (files, worth) => {
      for (const file of [files ?? []].flat()) found.set(file, Math.max(worth, found.get(file) ?? 0));
    };
    for (const [stem, worth] of variants) {
      for (const terms of [index.terms, index.titleterms]) if (Object.hasOwn(terms, stem)) add(terms[stem], worth);
    }
    if (!found.size && word.length > 2)
      for (const terms of [index.terms, index.titleterms])
        for (const [term, files] of Object.entries(terms)) if (term.includes(word)) add(files, 0.4);
    return found;
  },

  // Share of the query that a heading has, less for headings with many other words.
  heading(title, words) {
    const own = new Set(splitQuery(title.toLowerCase()).filter((word) => !stopwords.has(word)).map(ranking.stem));
    let hit = 0, used = 0, all = 0;
    for (const { weight, variants } of words) {
      const worth = Math.max(0, ...[...variants].filter(([stem]) => own.has(stem)).map(([, value]) => value));
      hit += weight * worth;
      used += worth > 0;
      all += weight;
    }
    return (hit / all) * (0.6 + (0.4 * used) / Math.max(own.size, 1));
  },

  // For each file its best heading: [share, title, anchor].
  headings(index, words) {
    const best = new Map();
    for (const [title, places] of Object.entries(index.alltitles)) {
      const share = ranking.heading(title, words);
      if (share > 0)
        for (const [file, id] of places) if (share > (best.get(file)?.[0] ?? 0)) best.set(file, [share, title, id]);
    }
    return best;
  },

  search(searchTerms, excludedTerms) {
    const index = Search._index;
    const total = index.docnames.length;
    const words = [...searchTerms].map((word) => {
      const variants = ranking.variants(word);
      const files = ranking.files(index, word, variants);
      const rare = Math.log(1 + total / Math.max(files.size, total / 20)); // a word of a single page must not decide alone
      return { variants, files, weight: FILLER.has(word) ? 0.2 : rare };
    });
    if (!words.length) return [];
    const all = words.reduce((sum, { weight }) => sum + weight, 0);
    const headings = ranking.headings(index, words);
    const without = new Set([...excludedTerms].flatMap((word) => [index.terms[word] ?? [], index.titleterms[word] ?? []].flat()));
    const shares = index.docnames.map((_name, file) => words.reduce((sum, one) => sum + one.weight * (one.files.get(file) ?? 0), 0) / all);
    const least = Math.min(0.45, Math.max(...shares));
    const results = [];
    shares.forEach((share, file) => {
      if (share < least || share === 0 || without.has(file)) return;
      const [fit, title, id] = headings.get(file) ?? [0, index.titles[file], null];
      const page = index.titles[file];
      const section = fit > 0 && id !== null && title !== page;
      results.push([
        index.docnames[file], section ? `${page} > ${title}` : page, section ? `#${id}` : "", null,
        40 * share + 60 * fit + 15 * ranking.heading(page, words), index.filenames[file], SearchResultKind.text,
      ]);
    });
    const best = Math.max(...results.map((one) => one[4]));
    return results.filter((one) => one[4] > best / 3);
  },
};

// This file becomes part of language_data.js, which the search page loads after searchtools.js and before it searches.
Search.performTermsSearch = ranking.search;

// Short answers and guides before records of decisions and long tables.
var Scorer = {
  score: ([docname, , , , score, , kind]) => {
    const first = [["start/questions", 15], ["guides/", 8], ["start/", 8], ["choose/", 6], ["reading/", 6], ["about", 6], ["methods/", 4], ["coming-from/", 2], ["cases/", 2]];
    const last = [["decisions/", 25], ["CHANGELOG", 25], ["CONTRIBUTING", 25], ["ARCHITECTURE", 25], ["releasing", 25], ["benchmarks", 20], ["robustness", 20], ["verdicts", 10], ["experiments/", 5], ["other-libraries", 5]];
    const named = kind === "object" && score >= 26 ? 60 : 0; // a name of the package, written in full
    for (const [start, more] of first) if (docname.startsWith(start)) return score + named + more;
    for (const [start, less] of last) if (docname.startsWith(start)) return score + named - less;
    return score + named;
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
