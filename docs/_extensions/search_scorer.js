// The order of what the search finds: pages that explain, then classes, then methods and lists.
const WEIGHTS = [
  [/^(start|guide)\//, 4],
  [/^(choose|uncertainty|sets|influence|exactness|audit|scaling|security|coming-from\/|lectures\/gallery\/)/, 2],
  [/^mathematics\//, 1.5],
  [/^(benchmarks\/|changelog|cli|scikit-learn|lectures\/calls|contributing\/)/, 0.4],
];
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    const found = WEIGHTS.find(([pages]) => pages.test(page));
    return score * (found ? found[1] : 1) * (kind === "object" || kind === "index" ? 0.2 : 1);
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
