// Two to four models, each pair of them: differences with a paired bootstrap over concepts, a sign-flip test with Holm's
// correction for everything that is shown, wins, ties and losses. Draws, exchanges and formulas are those of
// turkic_idiom_tasks/metrics/bootstrap.py and comparison.py, so `turkic-idiom compare` prints the same for a pair.
(() => {
  "use strict";
  const TAIL = 0.025; // of a 95% interval, at either end
  const SAME = 1e-12; // a spread below this is rounding
  const TIED = 5e-10; // a part in the difference below this is a tie
  const TIED_SCORES = 1e-9; // an exchange whose difference is smaller by less is as extreme
  const setup = JSON.parse(document.getElementById("items").textContent);
  const { subsets, small, titles, languages } = setup;
  const form = document.getElementById("choice");
  const status = document.getElementById("status");
  const loaded = new Map();
  let counts = []; // for each concept how often each draw holds it
  window.turkicIdiomScores = (id, sums) => loaded.set(id, sums);
  window.turkicIdiomDraws = rows => (counts = rows.map(unpack));
  let exchanges = []; // for each concept the bits that say in which random exchanges the models change places
  window.turkicIdiomSigns = rows =>
    (exchanges = rows.map(row => Uint8Array.from(atob(row), character => character.charCodeAt(0))));

  // Two counts below 9 are one character; others are a mark and one character each
  const codes = new Map([...setup.pairs].map((character, code) => [character, code]));
  function unpack(text) {
    const unpacked = [];
    for (let at = 0; at < text.length; at++) {
      if (text[at] === "~") {
        unpacked.push(codes.get(text[at + 1]), codes.get(text[at + 2]));
        at += 2;
      } else {
        const pair = codes.get(text[at]);
        unpacked.push(Math.floor(pair / 9), pair % 9);
      }
    }
    return Uint8Array.from(unpacked);
  }

  // The score of one subset, the same under each draw, and the influence of each concept on it
  function resample(subset, sums) {
    const terms = subset.concepts.map((concept, place) => ({
      concept,
      above: subset.sizes ? sums[place] : sums[2 * place],
      below: subset.sizes ? subset.sizes[place] : sums[2 * place + 1],
    }));
    const n = counts[0].length;
    const [numerators, denominators] = [new Float64Array(n), new Float64Array(n)];
    let [above, below] = [0, 0];
    for (const term of terms) {
      const own = counts[term.concept];
      above += term.above;
      below += term.below;
      for (let draw = 0; draw < n; draw++) {
        numerators[draw] += own[draw] * term.above;
        denominators[draw] += own[draw] * term.below;
      }
    }
    const score = above / below;
    return {
      score,
      draws: numerators.map((value, draw) => (denominators[draw] > 0 ? value / denominators[draw] : NaN)),
      influence: new Map(terms.map(term => [term.concept, (term.above - score * term.below) / below])),
      reach: 1 / terms.length,
      terms,
      below,
    };
  }

  // The chance-corrected score: (score - floor) / (1 - floor)
  function correct(resampled, floor) {
    const scale = 1 / (1 - floor);
    return {
      score: (resampled.score - floor) * scale,
      draws: resampled.draws.map(value => (value - floor) * scale),
      influence: new Map([...resampled.influence].map(([concept, value]) => [concept, value * scale])),
      reach: resampled.reach * scale,
    };
  }

  // The headline of a subset: over the queries that spelling does not answer, if only those count
  function headline(subset, sums, resampled) {
    const { places, floor } = subset.headline;
    if (!places) return correct(resampled, floor);
    const pick = values => places.map(place => values[place]);
    const counted = { ...subset, concepts: pick(subset.concepts), sizes: pick(subset.sizes) };
    return correct(resample(counted, pick(sums)), floor);
  }

  function addTo(map, concept, value) {
    map.set(concept, (map.get(concept) || 0) + value);
  }

  function mean(parts) {
    const draws = new Float64Array(parts[0].draws.length);
    const influence = new Map();
    for (const part of parts) {
      part.draws.forEach((value, draw) => (draws[draw] += value));
      for (const [concept, value] of part.influence) addTo(influence, concept, value / parts.length);
    }
    const sum = name => parts.reduce((total, part) => total + part[name], 0);
    return {
      score: sum("score") / parts.length,
      draws: draws.map(value => value / parts.length),
      influence,
      reach: sum("reach") / parts.length ** 2,
    };
  }

  function difference(second, first) {
    const influence = new Map(second.influence);
    for (const [concept, value] of first.influence) addTo(influence, concept, -value);
    return {
      score: second.score - first.score,
      draws: second.draws.map((value, draw) => value - first.draws[draw]),
      influence,
      reach: Math.max(second.reach, first.reach),
    };
  }

  // An expanded percentile interval (Hesterberg, 2015): its ends, and whether few concepts carry it
  function interval(resampled) {
    const influence = [...resampled.influence.values()];
    const squares = influence.map(value => value ** 2);
    const sum = squares.reduce((total, value) => total + value, 0);
    if (Math.sqrt(sum) <= SAME) return { low: resampled.score, high: resampled.score, isReliable: false };
    const fourth = squares.reduce((total, value) => total + value ** 2, 0);
    const tail = tailProbability(influence.length, fourth / sum ** 2);
    const sorted = resampled.draws.filter(value => !Number.isNaN(value)).sort();
    const at = share => {
      const place = share * (sorted.length - 1);
      const below = Math.floor(place);
      const above = Math.min(below + 1, sorted.length - 1);
      return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    };
    const [low, high] = [at(tail), at(1 - tail)];
    return { low, high, isReliable: (high - low) / 2 >= setup.few * resampled.reach };
  }

  function tailProbability(n, kurtosisShare) {
    const excess = kurtosisShare - 1 / n;
    const freedom = excess > 0 ? Math.min(n - 1, 2 / excess) : n - 1;
    return normalTail(studentQuantile(freedom) * Math.sqrt(n / (n - 1)));
  }

  // The logarithm of the gamma function (Lanczos, 1964; coefficients for g = 7)
  function logGamma(x) {
    const coefficients = [
      676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
      -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
    ];
    const base = x + 6.5;
    const series = coefficients.reduce((sum, value, place) => sum + value / (x + place), 0.99999999999980993);
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(series);
  }

  // The regularised incomplete beta function by its continued fraction (Lentz's method), for x < (a + 1) / (a + b + 2)
  function betaFraction(x, a, b) {
    const tiny = 1e-300;
    const guarded = value => (Math.abs(value) < tiny ? tiny : value);
    let c = 1;
    let d = 1 / guarded(1 - ((a + b) * x) / (a + 1));
    let fraction = d;
    for (let m = 1; m < 1000; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      let step = 1;
      for (const term of [even, odd]) {
        d = 1 / guarded(1 + term * d);
        c = guarded(1 + term / c);
        step *= d * c;
      }
      fraction *= step;
      if (Math.abs(step - 1) < 1e-16) break;
    }
    const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
    return (Math.exp(front) / a) * fraction;
  }

  // How probable it is that Student's t exceeds a positive value
  function studentTail(t, freedom) {
    const x = freedom / (freedom + t * t);
    const [a, b] = [freedom / 2, 0.5];
    const beta = x < (a + 1) / (a + b + 2) ? betaFraction(x, a, b) : 1 - betaFraction(1 - x, b, a);
    return beta / 2;
  }

  function studentQuantile(freedom) {
    let [low, high] = [0, 1000];
    for (let step = 0; step < 100; step++) {
      const middle = (low + high) / 2;
      if (studentTail(middle, freedom) > TAIL) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  // How probable it is that a standard normal variable exceeds x, which is above 1.9 here, by a continued fraction
  function normalTail(x) {
    let fraction = x;
    for (let k = 300; k > 0; k--) fraction = x + k / fraction;
    return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) / fraction;
  }

  // The difference of a pair on one subset under each exchange of the models in random concepts
  function exchangedGaps({ a, b }) {
    const n = counts[0].length;
    const [above, below] = [new Float64Array(n), new Float64Array(n)]; // what the exchanges move
    const middle = [0, 0];
    a.terms.forEach((first, place) => {
      const second = b.terms[place];
      middle[0] += (first.above + second.above) / 2;
      middle[1] += (first.below + second.below) / 2;
      addExchanges(above, exchanges[first.concept], (second.above - first.above) / 2);
      addExchanges(below, exchanges[first.concept], (second.below - first.below) / 2);
    });
    const gaps = new Float64Array(n);
    for (let draw = 0; draw < n; draw++) {
      const [more, less] = [middle[1] + below[draw], middle[1] - below[draw]];
      const second = more > 0 ? (middle[0] + above[draw]) / more : NaN;
      const first = less > 0 ? (middle[0] - above[draw]) / less : NaN;
      gaps[draw] = second - first;
    }
    return gaps;
  }

  // Add a value, or its opposite where the bit of the draw is set, to every draw
  function addExchanges(sums, bits, value) {
    if (value === 0) return;
    for (let draw = 0, at = 0; draw < sums.length; at++)
      for (let mask = 128; mask && draw < sums.length; mask >>= 1, draw++) sums[draw] += bits[at] & mask ? -value : value;
  }

  // How probable an at least as large difference is if the models were equal: exchanged in random concepts
  function signFlip(pairs) {
    const gaps = new Float64Array(counts[0].length);
    let observed = 0;
    for (const pair of pairs) {
      pair.gaps ||= exchangedGaps(pair); // a pair is tested by itself and in the mean over the languages
      for (let draw = 0; draw < gaps.length; draw++) gaps[draw] += pair.gaps[draw] / pairs.length;
      observed += (pair.b.score - pair.a.score) / pairs.length;
    }
    const extreme = gaps.filter(gap => !(Math.abs(gap) < Math.abs(observed) - TIED_SCORES)).length;
    return (extreme + 1) / (gaps.length + 1);
  }

  // p-values adjusted for all of them (Holm, 1979); null is no test and stays null
  function holm(values) {
    const known = values.map((p, place) => ({ p, place })).filter(({ p }) => p !== null);
    known.sort((one, other) => one.p - other.p);
    const adjusted = values.map(() => null);
    let highest = 0;
    known.forEach(({ p, place }, rank) => {
      highest = Math.max(highest, Math.min(1, (known.length - rank) * p));
      adjusted[place] = highest;
    });
    return adjusted;
  }

  // One row: models A and B on the subsets of a task; concepts are won by the part they have in the sum
  function row(task, language, pairs, [first, second]) {
    const gap = difference(second, first);
    const parts = new Map();
    for (const pair of pairs) {
      const weight = 1 / ((pair.a.below + pair.b.below) / 2);
      pair.a.terms.forEach((a, place) => {
        const b = pair.b.terms[place];
        addTo(parts, a.concept, weight * (a.below - a.above - (b.below - b.above)));
      });
    }
    const scaled = [...parts.values()].map(value => (value * parts.size) / pairs.length);
    return {
      task,
      title: titles[task],
      language,
      n: parts.size,
      scores: [first.score, second.score],
      difference: gap.score,
      interval: interval(gap),
      p: parts.size < small ? null : signFlip(pairs),
      wins: scaled.filter(value => value > TIED).length,
      ties: scaled.filter(value => Math.abs(value) <= TIED).length,
      losses: scaled.filter(value => value < -TIED).length,
      sum: pairs.length > 1,
    };
  }

  // All pairs of models on the subsets of each task that every model with the task has
  function compare(models) {
    const tasks = [...new Set(subsets.map(({ task }) => task))];
    const shared = new Map(tasks.map(task => [task, sharedOf(task, models)]));
    const rows = [];
    for (const [second, first] of pairsOf(models))
      for (const task of tasks) {
        const { members, parts } = shared.get(task);
        if (!members.includes(first) || !members.includes(second)) continue;
        const pairs = parts.map(({ subset, resampled }) => ({ subset, a: resampled.get(first), b: resampled.get(second) }));
        const entries = pairs.map(pair => row(task, languages[pair.subset.language], [pair], [pair.a, pair.b]));
        if (pairs.length > 1) {
          const means = ["a", "b"].map(side => mean(pairs.map(pair => pair[side])));
          entries.push(row(task, "mean", pairs, means));
        }
        entries.forEach((entry, place) => {
          const isWhole = place === entries.length - 1; // the mean over the languages, or the only language
          rows.push({ ...entry, first, second, isWhole });
        });
      }
    const adjusted = holm(rows.map(({ p }) => p));
    rows.forEach((entry, place) => {
      entry.holm = adjusted[place];
      const isShown = entry.holm !== null && entry.holm < setup.alpha;
      entry.winner = isShown ? (entry.difference > 0 ? entry.second : entry.first) : null;
    });
    return { rows, summary: summarise(shared, models) };
  }

  function pairsOf(models) {
    const pairs = [];
    for (let second = 1; second < models.length; second++)
      for (let first = 0; first < second; first++) pairs.push([models[second], models[first]]);
    return pairs;
  }

  // The models that have a task, and the subsets that all of them have; none if there are fewer than two
  function sharedOf(task, models) {
    const ofTask = subsets.filter(subset => subset.task === task);
    const members = models.filter(({ sums }) => ofTask.some(({ key }) => sums[key]));
    const common = members.length < 2 ? [] : ofTask.filter(({ key }) => members.every(({ sums }) => sums[key]));
    const parts = common.map(subset => ({
      subset,
      resampled: new Map(members.map(model => [model, resample(subset, model.sums[subset.key])])),
    }));
    const withHeadline = parts.filter(({ subset }) => subset.headline);
    const isWhole = withHeadline.length === ofTask.filter(subset => subset.headline).length;
    return { members: parts.length ? members : [], parts, withHeadline, isWhole };
  }

  // Means of headlines: those that rank models, where all have them, then each task that all have
  function summarise(shared, models) {
    const tasks = [...shared.keys()].filter(
      task => shared.get(task).members.length === models.length && shared.get(task).withHeadline.length,
    );
    const isWhole = group => group.length && group.every(task => tasks.includes(task) && shared.get(task).isWhole);
    const groups = [["All tasks", setup.whole], ["T1–T3", setup.retrieval]].filter(([, group]) => isWhole(group));
    const whole = tasks.filter(task => shared.get(task).isWhole && setup.whole.includes(task));
    if (whole.length > 1 && !groups.some(([, group]) => group.length === whole.length))
      groups.push([whole.map(task => titles[task]).join(", "), whole]);
    for (const task of tasks) groups.push([titles[task], [task]]);
    return groups.map(([title, group]) => {
      const means = models.map(model =>
        mean(
          group.map(task =>
            mean(
              shared
                .get(task)
                .withHeadline.map(({ subset, resampled }) =>
                  headline(subset, model.sums[subset.key], resampled.get(model)),
                ),
            ),
          ),
        ),
      );
      const entry = { title, n: means[0].influence.size, scores: means.map(({ score }) => score) };
      if (models.length > 2) return { ...entry, intervals: means.map(interval) };
      const gap = difference(means[1], means[0]);
      return { ...entry, difference: gap.score, interval: interval(gap) };
    });
  }

  // A sentence for each task of a pair, as `verdict` of turkic_idiom_tasks/report/compare.py writes it
  function verdictsOfPair(rows) {
    return [...new Set(rows.map(({ title }) => title))].map(title => {
      const own = rows.filter(entry => entry.title === title);
      const whole = own[own.length - 1];
      const parts = own.slice(0, -1);
      if (whole.n < small) return `Too few concepts on ${title} for a test.`;
      const counted = [];
      for (const model of [whole.first, whole.second]) {
        const n = parts.filter(({ winner }) => winner === model).length;
        if (n && whole.winner === model) counted.unshift(`${n} of ${parts.length} languages`);
        else if (n) counted.push(`${model.letter} is better in ${n} of ${parts.length} languages`);
      }
      if (parts.length && whole.winner && !parts.some(({ winner }) => winner === whole.winner))
        counted.unshift(`over all ${parts.length} languages, in none by itself`);
      const said = whole.winner ? `${whole.winner.letter} is better on ${title}` : `No difference shown on ${title}`;
      return `${said}${counted.length ? ` (${counted.join("; ")})` : ""}.`;
    });
  }

  // A sentence for each task of three or four models: who is better than whom, and which pairs are not told apart
  function verdictsOfMany(rows, models) {
    return [...new Set(rows.map(({ title }) => title))].map(title => {
      const own = rows.filter(entry => entry.title === title && entry.isWhole);
      const said = [];
      if (own[0].n < small) said.push("too few concepts for a test");
      for (const model of models) {
        const beaten = own.filter(({ winner }) => winner === model).map(entry => other(entry, model).letter);
        if (beaten.length) said.push(`${model.letter} is better than ${enumerate(beaten)}`);
      }
      const open = own.filter(({ winner, n }) => winner === null && n >= small);
      const pairs = open.map(({ first, second }) => `${first.letter} and ${second.letter}`);
      if (open.length === own.length) said.push("no difference shown between any two");
      else if (open.length) said.push(`no difference shown between ${pairs.join(", or ")}`);
      const lacking = models.filter(model => !own.some(({ first, second }) => first === model || second === model));
      if (lacking.length) said.push(`not submitted by ${enumerate(lacking.map(({ letter }) => letter))}`);
      return `${title}: ${said.join("; ")}.`;
    });
  }

  const other = (entry, model) => (entry.first === model ? entry.second : entry.first);
  const enumerate = words => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
  const score = value => value.toFixed(3).replace("-0.000", "0.000").replace(/^(-?)0\./, "$1.").replace("-", "−");
  const signed = value => (value > 0 ? "+" : "") + score(value);
  const span = ({ low, high }) => `${signed(low)} to ${signed(high)}`;
  const pValue = p => (p === null ? "–" : p >= 0.0001 ? p.toFixed(4).replace(/^0/, "") : p.toExponential(1));

  function element(name, { text, className, lang } = {}, ...children) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    if (lang) made.lang = lang;
    made.append(...children);
    return made;
  }

  function head(text, scope, className) {
    const cell = element("th", { text, className });
    cell.scope = scope;
    return cell;
  }

  function modelLink({ id, name }) {
    const link = element("a", { text: name });
    link.href = `models/${id}.html`;
    return link;
  }

  function unreliableMark() {
    const mark = element("abbr", { text: "unreliable", className: "unreliable" });
    mark.title = setup.unreliable_note;
    return mark;
  }

  // A cell with an interval, and the mark of one that few concepts decide
  function intervalCell(ends, className) {
    const cell = element("td", { text: span(ends), className });
    if (!ends.isReliable) cell.append(" ", unreliableMark());
    return cell;
  }

  function tableRow(entry, cells) {
    const line = element("tr", {}, head(entry.title, "row"), ...cells);
    if (entry.interval) {
      line.dataset.low = entry.interval.low;
      line.dataset.high = entry.interval.high;
    }
    return line;
  }

  // The row of a pair in the table of differences
  function differenceRow(entry) {
    const n = entry.n < small ? `${entry.n} (n<${small})` : entry.n;
    const colour = entry.winner && (entry.winner === entry.second ? "better" : "worse");
    const cells = [
      element("td", { text: entry.language, className: "text" }),
      element("td", { text: n }),
      ...entry.scores.map(value => element("td", { text: score(value) })),
      element("td", { text: signed(entry.difference), className: colour }),
      intervalCell(entry.interval, colour),
      element("td", { text: pValue(entry.holm), className: colour }),
      ...[entry.wins, entry.ties, entry.losses].map(text => element("td", { text })),
    ];
    const line = tableRow(entry, cells);
    line.className = entry.sum ? "sum" : "";
    line.dataset.p = entry.p;
    line.dataset.holm = entry.holm;
    if (entry.n < small) line.title = `fewer than ${small} concepts: too few for a test`;
    return line;
  }

  function showDifferences(rows, models) {
    const table = document.getElementById("differences");
    const [first, second] = models.length === 2 ? ["A", "B"] : ["first", "second"];
    const names = ["Task", "Language", "Concepts", first, second, `${second} − ${first}`, "95% interval", "p, Holm"];
    const heads = [...names, `${second} wins`, "ties", `${first} wins`].map(name => head(name, "col"));
    heads[1].className = "text";
    heads[2].title = "Concepts that both models were scored on";
    heads[6].title = "Paired bootstrap over concepts";
    heads[7].title = "p of a two-sided sign-flip test, adjusted for all tests of this page (Holm)";
    table.tHead.replaceChildren(element("tr", {}, ...heads));
    for (const body of [...table.tBodies]) body.remove();
    for (const [model, against] of pairsOf(models)) {
      const own = rows.filter(entry => entry.first === against && entry.second === model);
      if (!own.length) continue;
      const body = element("tbody");
      if (models.length > 2) {
        const title = head(`${model.letter} (second) against ${against.letter} (first)`, "rowgroup", "text");
        title.colSpan = heads.length;
        body.append(element("tr", { className: "sum" }, title));
      }
      body.append(...own.map(differenceRow));
      table.append(body);
    }
    const details = document.getElementById("pairs");
    details.open = models.length === 2;
    details.querySelector("summary").hidden = models.length === 2;
  }

  // A table for each task: the models with their scores, and each against the others
  function showMatrices(rows, models) {
    const place = document.getElementById("matrices");
    place.replaceChildren();
    if (models.length === 2) return;
    for (const task of new Set(rows.map(entry => entry.task))) {
      const own = rows.filter(entry => entry.task === task && entry.isWhole);
      const members = models.filter(model => own.some(({ first, second }) => first === model || second === model));
      const lines = members.map(model => matrixRow(model, members, own));
      const heads = ["Model", task === "spans" ? "F1" : "nDCG", ...members.map(({ letter }) => `vs ${letter}`)];
      const { first, second } = own[0];
      const onePair = rows.filter(entry => entry.task === task && entry.first === first && entry.second === second);
      const nLanguages = Math.max(1, onePair.length - 1); // one of the rows is that of all languages
      const over = nLanguages === 1 ? onePair[0].language : `mean of ${nLanguages} languages`;
      const table = element(
        "table",
        { className: "matrix" },
        element("caption", { text: `${titles[task]}, ${over}, ${own[0].n} concepts; not chance-corrected` }),
        element("thead", {}, element("tr", {}, ...heads.map(text => head(text, "col")))),
        element("tbody", {}, ...lines),
      );
      table.dataset.task = task;
      const scroller = element("div", { className: "scroll" }, table);
      scroller.tabIndex = 0;
      scroller.setAttribute("role", "region");
      scroller.setAttribute("aria-label", `${titles[task]}, every pair`);
      place.append(scroller);
    }
  }

  function matrixRow(model, members, own) {
    const mine = own.find(({ first, second }) => first === model || second === model);
    const title = head("", "row");
    title.append(`${model.letter} `, modelLink(model));
    const cells = members.map(against => {
      if (against === model) return element("td", { text: "–", className: "none" });
      const entry = own.find(({ first, second }) => [first, second].includes(model) && [first, second].includes(against));
      const gap = entry.second === model ? entry.difference : -entry.difference;
      const verdict = entry.winner === null ? "not shown" : entry.winner === model ? "better" : "worse";
      const cell = element("td", { text: signed(gap), className: entry.winner && verdict });
      cell.append(element("small", { text: entry.n < small ? "no test" : verdict }));
      return cell;
    });
    return element("tr", {}, title, element("td", { text: score(mine.scores[mine.second === model ? 1 : 0]) }), ...cells);
  }

  function showSummary(summary, models) {
    const table = document.getElementById("summary");
    const ofPair = models.length === 2 ? ["B − A", "95% interval"] : [];
    const names = ["Tasks", "Concepts", ...models.map(({ letter }) => letter), ...ofPair];
    table.tHead.replaceChildren(element("tr", {}, ...names.map(name => head(name, "col"))));
    const lines = summary.map(entry => {
      const scores = entry.scores.map((value, place) => {
        const cell = element("td", { text: score(value) });
        if (entry.intervals) {
          const { low, high, isReliable } = entry.intervals[place];
          const mark = isReliable ? [] : [" ", unreliableMark()];
          cell.append(element("small", { text: `${score(low)} to ${score(high)}` }, ...mark));
        }
        return cell;
      });
      const gap = entry.interval ? [element("td", { text: signed(entry.difference) }), intervalCell(entry.interval)] : [];
      return tableRow(entry, [element("td", { text: entry.n }), ...scores, ...gap]);
    });
    table.tBodies[0].replaceChildren(...lines);
    document.getElementById("corrected").hidden = !summary.length;
  }

  // The concepts of each task on which the models differ most, each in the language in which they do
  const N_DIFFERING = 4;

  function mostDiffering(models) {
    const isShared = ({ key }) => models.every(({ sums }) => sums[key]);
    const tasks = new Set(subsets.filter(isShared).map(({ task }) => task));
    return [...tasks].flatMap(task => {
      const ofTask = subsets.filter(subset => subset.task === task && isShared(subset));
      return largestGaps(ofTask, models).slice(0, N_DIFFERING);
    });
  }

  function largestGaps(ofTask, models) {
    const largest = new Map(); // concept -> its item with the largest difference
    for (const subset of ofTask) {
      subset.concepts.forEach((concept, place) => {
        const results = models.map(({ sums }) => resultOf(subset, sums[subset.key], place));
        const values = results.map(({ value }) => value);
        const gap = Math.max(...values) - Math.min(...values);
        if (gap > 0 && gap > (largest.get(concept)?.gap ?? 0)) largest.set(concept, { subset, concept, place, gap, results });
      });
    }
    return [...largest.values()].sort((one, next) => next.gap - one.gap || one.concept - next.concept);
  }

  // A model's result on the queries of one concept: its value for the order, and words for the reader
  function resultOf(subset, sums, place) {
    if (!subset.sizes) {
      const [right, all] = [sums[2 * place], sums[2 * place + 1]];
      const value = all ? right / all : 1;
      return { value, text: value === 1 ? "exact" : `F1 ${score(value)}` };
    }
    const value = sums[place] / subset.sizes[place];
    const isOneAnswer = subset.sizes[place] === 1 && !subset.several.includes(place);
    // nDCG = 1 / log2(1 + rank) with one right answer; in a tie it is the mean over its places
    return { value, text: isOneAnswer ? `rank ${Math.round(2 ** (1 / value) - 1)}` : `nDCG ${score(value)}` };
  }

  function showDiffering(models, data) {
    const items = new Map(); // subset and concept -> query, right answer and name of the concept
    for (const { id, items: own } of data.concepts)
      for (const [key, query, answer] of own || []) if (!items.has(`${key} ${id}`)) items.set(`${key} ${id}`, [query, answer]);
    const table = document.getElementById("differing");
    const names = ["Concept", "Task", "Query", "Right answer", ...models.map(({ letter }) => letter)];
    table.tHead.replaceChildren(element("tr", {}, ...names.map(name => head(name, "col"))));
    const lines = mostDiffering(models).map(({ subset, concept, results }) => {
      const id = setup.names[concept];
      const link = element("a", { text: id });
      link.href = `items.html#c-${encodeURIComponent(id)}`;
      const { task, title, from, to } = data.subsets[subset.key];
      const [query, answer] = items.get(`${subset.key} ${id}`) || ["", ""];
      const name = head("", "row");
      name.append(link);
      return element(
        "tr",
        {},
        name,
        element("td", { text: `${task}, ${title}` }),
        element("td", { text: query, lang: from }),
        element("td", { text: answer, lang: to }),
        ...results.map(({ text }) => element("td", { text })),
      );
    });
    for (const line of lines) for (const [place, cell] of [...line.cells].entries()) if (place) cell.dataset.label = names[place];
    table.tBodies[0].replaceChildren(...lines);
    document.getElementById("most").hidden = !lines.length;
  }

  function show({ rows, summary }, models) {
    const sentences = models.length === 2 ? verdictsOfPair(rows) : verdictsOfMany(rows, models);
    document.getElementById("verdict").replaceChildren(...sentences.map(text => element("li", { text })));
    document.getElementById("question").textContent = models.length === 2 ? "Is B better?" : "Which is better?";
    const names = document.getElementById("names");
    names.replaceChildren();
    for (const model of models)
      names.append(element("dt", { text: model.letter }), element("dd", {}, modelLink(model)));
    showMatrices(rows, models);
    showDifferences(rows, models);
    showSummary(summary, models);
    document.getElementById("result").hidden = false;
  }

  function load(file) {
    return new Promise(resolve => {
      const script = document.createElement("script");
      script.src = file;
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => (status.textContent = `A file of this site is missing: ${file}`));
      document.head.append(script);
    });
  }

  // The fields: a name from the list, which stands for an id; an address can choose nothing else
  const fields = [...form.querySelectorAll("input")];
  const ids = new Map([...document.getElementById("models").options].map(option => [option.value, option.dataset.id]));
  const labels = new Map([...ids].map(([label, id]) => [id, label]));

  function chosenIds() {
    const chosen = [];
    for (const field of fields) {
      const text = field.value.trim();
      const id = ids.get(text) || (labels.has(text) ? text : undefined);
      const isTwice = id !== undefined && chosen.includes(id);
      const problem = text && !id ? "Choose a model from the list." : isTwice ? "This model is chosen already." : "";
      field.setCustomValidity(problem);
      if (id && !isTwice) chosen.push(id);
    }
    return chosen;
  }

  form.addEventListener("input", chosenIds);
  for (const field of fields) field.addEventListener("focus", () => field.select()); // or the list offers this model alone
  form.addEventListener("submit", event => {
    event.preventDefault();
    const chosen = chosenIds();
    if (!form.reportValidity()) return;
    if (chosen.length < 2) status.textContent = "Choose two models or more.";
    else location.search = new URLSearchParams(chosen.map((id, place) => ["abcd"[place], id]));
  });

  async function start() {
    const parameters = new URLSearchParams(location.search);
    const wanted = ["a", "b", "c", "d"].map(name => parameters.get(name)).filter(id => labels.has(id));
    const chosen = [...new Set(wanted)];
    chosen.forEach((id, place) => (fields[place].value = labels.get(id)));
    form.hidden = false;
    if (chosen.length < 2) {
      status.textContent = "Choose two models or more.";
      document.documentElement.dataset.ready = "compare";
      return;
    }
    for (const file of [setup.draws, setup.signs, ...chosen.map(id => `scores/${id}.js`)]) await load(file);
    status.textContent = "Comparing …";
    await new Promise(resolve => setTimeout(resolve)); // so that this is seen
    const models = chosen.map((id, place) => ({ id, letter: "ABCD"[place], name: labels.get(id), sums: loaded.get(id) }));
    const result = compare(models);
    status.textContent = result.rows.length ? "" : "These submissions have no task in common.";
    if (result.rows.length) show(result, models);
    document.documentElement.dataset.ready = "compare";
    if (!result.rows.length) return;
    window.turkicIdiomConcepts = data => showDiffering(models, data);
    await load(setup.texts);
  }
  start();
})();
