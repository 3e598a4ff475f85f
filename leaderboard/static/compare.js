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
  const { subsets, small, titles } = setup;
  const form = document.getElementById("choice");
  const status = document.getElementById("status");
  const loaded = new Map();
  window.turkicIdiomScores = (id, sums) => loaded.set(id, sums);
  const texts = new Map(); // concept -> its texts and items
  window.turkicIdiomPart = (_, rows) => rows.forEach(row => texts.set(row.id, row));

  // numpy's generator PCG64: a state of 128 bits is multiplied and increased; the halves of each output stand in `low`
  // and `high`. The page has the first state for each concept. A product of two parts of 16 bits is exact in a number,
  // and written out it takes a fifth of the time of a loop.
  const N_DRAWS = setup.draws;
  function generator(hex) {
    const words = [...hex.matchAll(/.{8}/g)].map(([word]) => parseInt(word, 16));
    let [s3, s2, s1, s0] = words; // 32 bits each, the highest first
    const parts = words.slice(4).flatMap(word => [word >>> 16, word & 0xffff]);
    const [i7, i6, i5, i4, i3, i2, i1, i0] = parts; // what is added
    const [m7, m6, m5, m4, m3, m2, m1, m0] = [0x2360, 0xed05, 0x1fc6, 0x5da4, 0x4385, 0xdf64, 0x9fcc, 0xf645];
    const self = { low: 0, high: 0 };
    self.next = () => {
      const [a0, a1, a2, a3] = [s0 & 0xffff, s0 >>> 16, s1 & 0xffff, s1 >>> 16];
      const [a4, a5, a6, a7] = [s2 & 0xffff, s2 >>> 16, s3 & 0xffff, s3 >>> 16];
      const above = value => Math.floor(value / 65536);
      const r0 = i0 + a0 * m0;
      const r1 = i1 + above(r0) + a0 * m1 + a1 * m0;
      const r2 = i2 + above(r1) + a0 * m2 + a1 * m1 + a2 * m0;
      const r3 = i3 + above(r2) + a0 * m3 + a1 * m2 + a2 * m1 + a3 * m0;
      const r4 = i4 + above(r3) + a0 * m4 + a1 * m3 + a2 * m2 + a3 * m1 + a4 * m0;
      const r5 = i5 + above(r4) + a0 * m5 + a1 * m4 + a2 * m3 + a3 * m2 + a4 * m1 + a5 * m0;
      const r6 = i6 + above(r5) + a0 * m6 + a1 * m5 + a2 * m4 + a3 * m3 + a4 * m2 + a5 * m1 + a6 * m0;
      const r7 = i7 + above(r6) + a0 * m7 + a1 * m6 + a2 * m5 + a3 * m4 + a4 * m3 + a5 * m2 + a6 * m1 + a7 * m0;
      s0 = ((r1 << 16) | (r0 & 0xffff)) >>> 0;
      s1 = ((r3 << 16) | (r2 & 0xffff)) >>> 0;
      s2 = ((r5 << 16) | (r4 & 0xffff)) >>> 0;
      s3 = ((r7 << 16) | (r6 & 0xffff)) >>> 0;
      const turn = s3 >>> 26; // the halves of the state, combined and turned
      const [low, high] = turn & 32 ? [s1 ^ s3, s0 ^ s2] : [s0 ^ s2, s1 ^ s3];
      const by = turn & 31;
      self.low = by ? (low >>> by) | (high << (32 - by)) : low;
      self.high = by ? (high >>> by) | (low << (32 - by)) : high;
    };
    return self;
  }

  // How often each draw holds a concept: Poisson numbers of mean 1, by multiplying uniform numbers (Knuth)
  const INVERSE_E = 0.36787944117144233;
  const countsOf = remembered(concept => {
    const random = generator(setup.states[concept].slice(0, 64));
    const counts = new Uint8Array(N_DRAWS);
    for (let draw = 0; draw < N_DRAWS; draw++)
      for (let product = 1; ; counts[draw]++) {
        random.next();
        product *= ((random.high >>> 5) * 67108864 + (random.low >>> 6)) / 9007199254740992;
        if (product <= INVERSE_E) break;
      }
    return counts;
  });

  // In which random exchanges the models change places in a concept: 1 or -1
  const signsOf = remembered(concept => {
    const random = generator(setup.states[concept].slice(64));
    const signs = new Int8Array(N_DRAWS);
    for (let draw = 0; draw < N_DRAWS; draw += 2) {
      random.next();
      signs[draw] = random.low < 0 ? 1 : -1;
      signs[draw + 1] = random.high < 0 ? 1 : -1;
    }
    return signs;
  });

  function remembered(make) {
    const known = new Map();
    return key => known.get(key) || known.set(key, make(key)).get(key);
  }

  // The score of one subset, the same under each draw, and the influence of each concept on it
  function resample(subset, sums) {
    const terms = subset.concepts.map((concept, place) => ({
      concept,
      above: subset.sizes ? sums[place] : sums[2 * place],
      below: subset.sizes ? subset.sizes[place] : sums[2 * place + 1],
    }));
    const [numerators, denominators] = [new Float64Array(N_DRAWS), new Float64Array(N_DRAWS)];
    let [above, below] = [0, 0];
    for (const term of terms) {
      const own = countsOf(term.concept);
      above += term.above;
      below += term.below;
      for (let draw = 0; draw < N_DRAWS; draw++) {
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
      terms: resampled.terms,
      scale,
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
    const [above, below] = [new Float64Array(N_DRAWS), new Float64Array(N_DRAWS)]; // what the exchanges move
    const middle = [0, 0];
    a.terms.forEach((first, place) => {
      const second = b.terms[place];
      middle[0] += (first.above + second.above) / 2;
      middle[1] += (first.below + second.below) / 2;
      const halves = [(second.above - first.above) / 2, (second.below - first.below) / 2];
      if (!halves[0] && !halves[1]) return;
      const signs = signsOf(first.concept);
      for (let draw = 0; draw < N_DRAWS; draw++) {
        above[draw] += signs[draw] * halves[0];
        below[draw] += signs[draw] * halves[1];
      }
    });
    return above.map((moved, draw) => {
      const [more, less] = [middle[1] + below[draw], middle[1] - below[draw]];
      const second = more > 0 ? (middle[0] + moved) / more : NaN;
      const first = less > 0 ? (middle[0] - moved) / less : NaN;
      return second - first;
    });
  }

  // How probable an at least as large difference is if the models were equal: exchanged in random concepts. A pair may
  // have a weight; without one all have the same
  function signFlip(pairs) {
    const gaps = new Float64Array(N_DRAWS);
    let observed = 0;
    for (const pair of pairs) {
      pair.gaps ||= exchangedGaps(pair); // a pair is tested by itself and in the mean over the languages
      const weight = (pair.weight ?? 1 / pairs.length) * (pair.a.scale || 1);
      for (let draw = 0; draw < N_DRAWS; draw++) gaps[draw] += pair.gaps[draw] * weight;
      observed += ((pair.b.score - pair.a.score) / (pair.a.scale || 1)) * weight;
    }
    const extreme = gaps.filter(gap => !(Math.abs(gap) < Math.abs(observed) - TIED_SCORES)).length;
    return (extreme + 1) / (N_DRAWS + 1);
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
        const entries = pairs.map(pair => row(task, pair.subset.label, [pair], [pair.a, pair.b]));
        if (pairs.length > 1) {
          const certain = pairs.filter(pair => !pair.subset.provisional);
          const inMean = certain.length ? certain : pairs;
          const means = ["a", "b"].map(side => mean(inMean.map(pair => pair[side])));
          entries.push({ ...row(task, "mean", inMean, means), sum: true, nLanguages: inMean.length });
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
    const groups = setup.groups.filter(([, group]) => isWhole(group));
    const whole = tasks.filter(task => shared.get(task).isWhole && setup.whole.includes(task));
    if (whole.length > 1 && !groups.some(([, group]) => group.length === whole.length))
      groups.push([whole.map(task => titles[task]).join(", "), whole]);
    for (const task of tasks) groups.push([titles[task], [task]]);
    const partsOf = (group, model) =>
      group.map(task =>
        shared
          .get(task)
          .withHeadline.map(({ subset, resampled }) => headline(subset, model.sums[subset.key], resampled.get(model))),
      );
    return groups.map(([title, group], place) => {
      const parts = models.map(model => partsOf(group, model));
      const means = parts.map(ofModel => mean(ofModel.map(mean)));
      const entry = { title, n: means[0].influence.size, scores: means.map(({ score }) => score) };
      if (models.length > 2) entry.intervals = means.map(interval);
      else {
        const gap = difference(means[1], means[0]);
        Object.assign(entry, { difference: gap.score, interval: interval(gap) });
      }
      // The first line, over most tasks, is the one that is tested: one question before all others
      if (!place) entry.pairs = testedPairs(models, means, parts, entry.n);
      return entry;
    });
  }

  function testedPairs(models, means, parts, n) {
    const pairs = pairsOf(models).map(([second, first]) => {
      const [b, a] = [second, first].map(model => models.indexOf(model));
      const weighted = parts[a].flatMap((ofTask, task) =>
        ofTask.map((part, at) => ({ a: part, b: parts[b][task][at], weight: 1 / parts[a].length / ofTask.length })),
      );
      const gap = difference(means[b], means[a]);
      return { first, second, difference: gap.score, interval: interval(gap), p: n < small ? null : signFlip(weighted) };
    });
    const adjusted = holm(pairs.map(({ p }) => p));
    return pairs.map((pair, place) => ({ ...pair, p: adjusted[place] }));
  }

  // The tested difference of each pair over most tasks
  function verdictsOverAll({ title, pairs }) {
    return pairs.map(({ first, second, difference: gap, interval: { low, high }, p }) => {
      const chance = p === null ? "; too few concepts for a test" : p < 0.001 ? "; p < .001" : `; p = ${pValue(p)}`;
      const about = `(${score(low)} to ${score(high)}${chance})`;
      if (p === null || p >= setup.alpha) return `${title}: no clear difference between ${first.short} and ${second.short}, ${signed(gap)} ${about}.`;
      const [better, worse] = gap > 0 ? [second, first] : [first, second];
      const ends = gap > 0 ? about : `(${score(-high)} to ${score(-low)}${chance})`;
      return `${title}: ${better.short} is better than ${worse.short} by ${score(Math.abs(gap))} ${ends}.`;
    });
  }

  // A sentence for each task of a pair; it says the same as `verdict` of turkic_idiom_tasks/report/compare.py
  function verdictsOfPair(rows) {
    return [...new Set(rows.map(({ title }) => title))].map(title => {
      const own = rows.filter(entry => entry.title === title);
      const whole = own[own.length - 1];
      const parts = own.slice(0, -1);
      if (whole.n < small) return `Too few concepts on ${title} for a test.`;
      const counted = [];
      const languages = parts.some(({ language }) => language.includes("→")) ? "directions" : "languages";
      for (const model of [whole.first, whole.second]) {
        const n = parts.filter(({ winner }) => winner === model).length;
        if (n && whole.winner === model) counted.unshift(`${n} of ${parts.length} ${languages}`);
        else if (n) counted.push(`${model.short} is better in ${n} of ${parts.length} ${languages}`);
      }
      if (parts.length && whole.winner && !parts.some(({ winner }) => winner === whole.winner))
        counted.unshift(`over all ${parts.length} ${languages}, in none by itself`);
      const by = whole.winner && `${other(whole, whole.winner).short} on ${title} by ${score(Math.abs(whole.difference))}`;
      const said = whole.winner ? `${whole.winner.short} is better than ${by}` : `No clear difference on ${title}`;
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
        const beaten = own.filter(({ winner }) => winner === model).map(entry => other(entry, model).short);
        if (beaten.length) said.push(`${model.short} is better than ${enumerate(beaten)}`);
      }
      const open = own.filter(({ winner, n }) => winner === null && n >= small);
      const pairs = open.map(({ first, second }) => `${first.short} and ${second.short}`);
      if (open.length === own.length) said.push("no clear difference between any two");
      else if (open.length) said.push(`no clear difference between ${pairs.join(", or ")}`);
      const lacking = models.filter(model => !own.some(({ first, second }) => first === model || second === model));
      if (lacking.length) said.push(`not submitted by ${enumerate(lacking.map(({ short }) => short))}`);
      return `${title}: ${said.join("; ")}.`;
    });
  }

  const isRetrieval = task => /^T\d$/.test(task);
  const other = (entry, model) => (entry.first === model ? entry.second : entry.first);
  const enumerate = words => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
  const score = value => value.toFixed(3).replace("-0.000", "0.000").replace(/^(-?)0\./, "$1.").replace("-", "−");
  const signed = value => (value > 0 ? "+" : "") + score(value);
  const span = ({ low, high }) => `${signed(low)} to ${signed(high)}`;
  const pValue = p => (p === null ? "–" : p > 0.99995 ? "1" : p >= 0.0001 ? p.toFixed(4).replace(/^0/, "") : p.toExponential(1));

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

  // A pair as dots with intervals around 0: to the right the second model is better
  function showForest(summary, rows, models) {
    const figure = document.getElementById("forest");
    figure.hidden = models.length !== 2;
    if (figure.hidden) return;
    const lines = summary.slice(0, 1).map(entry => [[entry.title, "headline", entry]]);
    for (const title of new Set(rows.map(entry => entry.title)))
      lines.push(rows.filter(entry => entry.title === title).map(entry => [title, entry.language, entry]));
    const ends = lines.flat().flatMap(([, , { interval: ends }]) => [Math.abs(ends.low), Math.abs(ends.high)]);
    const reach = Math.max(0.05, Math.ceil(20 * Math.max(...ends)) / 20);
    const at = value => ((value + reach) / (2 * reach)).toFixed(3);
    const bodies = lines.map(ofTask =>
      element(
        "tbody",
        {},
        ...ofTask.map(([title, language, entry], place) => {
          const strip = element("td", { className: "strip" });
          const { low, high } = entry.interval;
          strip.style = `--p:${at(entry.difference)};--l:${at(low)};--h:${at(high)};--f:.5`;
          const label = head(place ? language : `${title}, ${language}`, "row");
          return element("tr", {}, label, strip, element("td", { text: signed(entry.difference) }));
        }),
      ),
    );
    const axis = element("div", {}, ...[-reach, 0, reach].map(value => element("span", { text: signed(value) })));
    const foot = element("tr", {}, element("td"), element("td", { className: "axis" }, axis), element("td"));
    const caption = `${models[1].short} minus ${models[0].short} with 95% intervals: right of the line ${models[1].short} is better`;
    figure.replaceChildren(element("table", {}, element("caption", { text: caption }), ...bodies, element("tbody", {}, foot)));
  }

  function showDifferences(rows, models) {
    const table = document.getElementById("differences");
    const [first, second] = models.length === 2 ? models.map(({ short }) => short) : ["first", "second"];
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
        const title = head(`${model.short} (second) against ${against.short} (first)`, "rowgroup", "text");
        title.colSpan = heads.length;
        body.append(element("tr", { className: "sum" }, title));
      }
      body.append(...own.map(differenceRow));
      for (const line of body.querySelectorAll("tr:not(:has([scope=rowgroup]))"))
        [...line.cells].forEach((cell, place) => place && (cell.dataset.label = heads[place].textContent));
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
      const heads = ["Model", task === "spans" ? "F1" : isRetrieval(task) ? "nDCG" : "accuracy", ...members.map(({ short }) => `vs ${short}`)];
      const { first, second } = own[0];
      const onePair = rows.filter(entry => entry.task === task && entry.first === first && entry.second === second);
      const nLanguages = own[0].nLanguages || 1;
      const over = nLanguages === 1 ? onePair[0].language : `mean of ${nLanguages} languages`;
      const table = element(
        "table",
        { className: "matrix stacked" },
        element("caption", { text: `${titles[task]}, ${over}, ${own[0].n} concepts; not chance-corrected` }),
        element("thead", {}, element("tr", {}, ...heads.map(text => head(text, "col")))),
        element("tbody", {}, ...lines),
      );
      table.dataset.task = task;
      for (const line of lines) [...line.cells].forEach((cell, place) => place && (cell.dataset.label = heads[place]));
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
    title.append(modelLink({ ...model, name: model.short }));
    const cells = members.map(against => {
      if (against === model) return element("td", { text: "–", className: "none" });
      const entry = own.find(({ first, second }) => [first, second].includes(model) && [first, second].includes(against));
      const gap = entry.second === model ? entry.difference : -entry.difference;
      const verdict = entry.winner === null ? "no clear difference" : entry.winner === model ? "better" : "worse";
      const cell = element("td", { text: signed(gap), className: entry.winner && verdict });
      cell.append(element("small", { text: entry.n < small ? "no test" : verdict }));
      return cell;
    });
    return element("tr", {}, title, element("td", { text: score(mine.scores[mine.second === model ? 1 : 0]) }), ...cells);
  }

  function showSummary(summary, models) {
    const table = document.getElementById("summary");
    const ofPair = models.length === 2 ? [`${models[1].short} − ${models[0].short}`, "95% interval"] : [];
    const names = ["Tasks", "Concepts", ...models.map(({ short }) => short), ...ofPair];
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
    if (!isRetrieval(subset.task)) return { value, text: value === 1 ? "right" : value ? score(value) : "wrong" };
    const isOneAnswer = subset.sizes[place] === 1 && !subset.several.includes(place);
    // nDCG = 1 / log2(1 + rank) with one right answer; in a tie it is the mean over its places
    return { value, text: isOneAnswer ? `rank ${Math.round(2 ** (1 / value) - 1)}` : `nDCG ${score(value)}` };
  }

  async function showDiffering(models) {
    const differing = mostDiffering(models);
    const chunks = new Set(differing.map(({ concept }) => setup.chunks[concept]));
    await Promise.all([...chunks].map(chunk => load(`concepts/${chunk}.js`)));
    const table = document.getElementById("differing");
    const names = ["Concept", "Task", "Query", "Right answer", ...models.map(({ short }) => short)];
    table.tHead.replaceChildren(element("tr", {}, ...names.map(name => head(name, "col"))));
    const lines = differing.map(({ subset, concept, results }) => {
      const id = setup.names[concept];
      const link = element("a", { text: id });
      link.href = `items.html#c-${encodeURIComponent(id)}`;
      const [, query, answer] = texts.get(id)?.items?.find(([key]) => key === subset.key) || ["", "", ""];
      const name = head("", "row");
      name.append(link);
      return element(
        "tr",
        {},
        name,
        element("td", { text: `${titles[subset.task]}, ${subset.title}` }),
        element("td", { text: query, lang: subset.from }),
        element("td", { text: answer, lang: subset.language }),
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
    const overall = summary[0]?.pairs ? verdictsOverAll(summary[0]) : [];
    document.getElementById("overall").replaceChildren(...overall.map(text => element("li", { text })));
    document.getElementById("question").textContent = models.length === 2 ? `Is ${models[1].short} better?` : "Which is better?";
    document.getElementById("names").replaceChildren(...models.map(model => element("li", {}, modelLink(model))));
    showForest(summary, rows, models);
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

  // The fields: a name from the list, or a part that only one name has; an address can choose nothing else
  const fields = [...form.querySelectorAll("input")];
  const ids = new Map([...document.getElementById("models").options].map(option => [option.value, option.dataset.id]));
  const labels = new Map([...ids].map(([label, id]) => [id, label]));
  const nameOf = label => label.split(" (")[0];

  function fitting(text) {
    if (ids.has(text) || labels.has(text)) return [ids.get(text) || text];
    const [words, all] = [text.toLowerCase(), [...ids.keys()]];
    const same = all.filter(label => nameOf(label).toLowerCase().split("/").at(-1) === words);
    const found = same.length === 1 ? same : all.filter(label => label.toLowerCase().includes(words));
    return found.map(label => ids.get(label));
  }

  function chosenIds() {
    const chosen = [];
    for (const field of fields) {
      const text = field.value.trim();
      const found = text ? fitting(text) : [];
      const isTwice = found.length === 1 && chosen.includes(found[0]);
      let problem = isTwice ? "This model is chosen already." : "";
      if (text && !found.length) problem = "No model has this name.";
      if (found.length > 1) problem = `${found.length} models fit; type more of the name: ${labels.get(found[0])}, ${labels.get(found[1])} …`;
      field.setCustomValidity(problem);
      if (found.length === 1 && !isTwice) chosen.push(found[0]);
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
    document.getElementById("suggested").hidden = true;
    for (const id of chosen) await load(`scores/${id}.js`);
    status.textContent = "Comparing …";
    await new Promise(resolve => setTimeout(resolve)); // so that this is seen
    const shorts = chosen.map(id => nameOf(labels.get(id)).split("/").at(-1));
    const models = chosen.map((id, place) => {
      const isUnique = shorts.indexOf(shorts[place]) === shorts.lastIndexOf(shorts[place]);
      return { id, short: isUnique ? shorts[place] : labels.get(id), name: labels.get(id), sums: loaded.get(id) };
    });
    const result = compare(models);
    status.textContent = result.rows.length ? "" : "These submissions have no task in common.";
    if (result.rows.length) show(result, models);
    document.documentElement.dataset.ready = "compare";
    if (result.rows.length) await showDiffering(models);
  }
  start();
})();
