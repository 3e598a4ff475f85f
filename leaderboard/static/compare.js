// Model B against model A: differences with a paired bootstrap over concepts, a sign-flip test with Holm's correction,
// wins, ties and losses. Draws, exchanges and formulas are those of turkic_idiom_tasks/metrics/bootstrap.py and
// comparison.py, so `turkic-idiom compare` prints the same.
(() => {
  "use strict";
  const TAIL = 0.025; // of a 95% interval, at either end
  const SAME = 1e-12; // a spread below this is rounding
  const TIED = 5e-10; // a part in the difference below this is a tie
  const TIED_SCORES = 1e-9; // an exchange whose difference is smaller by less is as extreme
  const setup = JSON.parse(document.getElementById("items").textContent);
  const { subsets, small } = setup;
  const titles = { T1: "T1", T2: "T2", T3: "T3", T4: "T4", spans: "Spans" };
  const languages = { tr: "Turkish", az: "Azerbaijani", tk: "Turkmen", gag: "Gagauz", uz: "Uzbek" };
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

  // How probable an at least as large difference is if the models were equal: exchanged in random concepts
  function signFlip(pairs) {
    const n = counts[0].length;
    const gaps = new Float64Array(n);
    let observed = 0;
    for (const { a, b } of pairs) {
      const [above, below] = [new Float64Array(n), new Float64Array(n)]; // what the exchanges move
      const middle = [0, 0];
      a.terms.forEach((first, place) => {
        const second = b.terms[place];
        middle[0] += (first.above + second.above) / 2;
        middle[1] += (first.below + second.below) / 2;
        const half = [(second.above - first.above) / 2, (second.below - first.below) / 2];
        if (half[0] === 0 && half[1] === 0) return;
        const bits = exchanges[first.concept];
        for (let draw = 0; draw < n; draw++) {
          const sign = (bits[draw >> 3] >> (7 - (draw & 7))) & 1 ? -1 : 1;
          above[draw] += sign * half[0];
          below[draw] += sign * half[1];
        }
      });
      for (let draw = 0; draw < n; draw++) {
        const ratio = sign => {
          const denominator = middle[1] + sign * below[draw];
          return denominator > 0 ? (middle[0] + sign * above[draw]) / denominator : NaN;
        };
        gaps[draw] += (ratio(1) - ratio(-1)) / pairs.length;
      }
      observed += (b.score - a.score) / pairs.length;
    }
    const extreme = gaps.filter(gap => !(Math.abs(gap) < Math.abs(observed) - TIED_SCORES)).length;
    return (extreme + 1) / (n + 1);
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

  function compare(a, b) {
    const both = subsets.filter(({ key }) => a[key] && b[key]);
    const pairs = both.map(subset => ({ subset, a: resample(subset, a[subset.key]), b: resample(subset, b[subset.key]) }));
    const tasks = [...new Set(subsets.map(({ task }) => task))];
    const of = task => pairs.filter(pair => pair.subset.task === task);
    const rows = [];
    for (const task of tasks) {
      const own = of(task);
      for (const pair of own) rows.push(row(task, languages[pair.subset.language], [pair], [pair.a, pair.b]));
      if (own.length > 1) {
        const means = ["a", "b"].map(model => mean(own.map(pair => pair[model])));
        rows.push(row(task, "mean", own, means));
      }
    }
    const adjusted = holm(rows.map(({ p }) => p));
    rows.forEach((entry, place) => {
      entry.holm = adjusted[place];
      const isShown = entry.holm !== null && entry.holm < setup.alpha;
      entry.winner = isShown ? (entry.difference > 0 ? "B" : "A") : null;
    });
    return { rows, summary: summarise(of) };
  }

  // The chance-corrected means that rank models, of the groups of tasks that both have in every language
  function summarise(of) {
    const rows = [];
    for (const [title, tasks] of [["All tasks", setup.whole], ["T1–T3", setup.retrieval]]) {
      const isWhole = task => of(task).length === subsets.filter(subset => subset.task === task).length;
      if (!tasks.length || !tasks.every(isWhole)) continue;
      const [first, second] = ["a", "b"].map(model =>
        mean(tasks.map(task => mean(of(task).map(pair => correct(pair[model], pair.subset.floor))))),
      );
      const gap = difference(second, first);
      const n = gap.influence.size;
      rows.push({ title, n, scores: [first.score, second.score], difference: gap.score, interval: interval(gap) });
    }
    return rows;
  }

  // A sentence for each task, as `verdict` of turkic_idiom_tasks/experiments/compare.py writes it
  function verdicts(rows) {
    return [...new Set(rows.map(({ title }) => title))].map(title => {
      const own = rows.filter(entry => entry.title === title);
      const whole = own[own.length - 1];
      const parts = own.slice(0, -1);
      if (whole.n < small) return `Too few concepts on ${title} for a test.`;
      const counted = [];
      for (const side of ["A", "B"]) {
        const n = parts.filter(({ winner }) => winner === side).length;
        if (n && whole.winner === side) counted.unshift(`${n} of ${parts.length} languages`);
        else if (n) counted.push(`${side} is better in ${n} of ${parts.length} languages`);
      }
      if (parts.length && whole.winner && !parts.some(({ winner }) => winner === whole.winner))
        counted.unshift(`over all ${parts.length} languages, in none by itself`);
      const said = whole.winner ? `${whole.winner} is better on ${title}` : `No difference shown on ${title}`;
      return `${said}${counted.length ? ` (${counted.join("; ")})` : ""}.`;
    });
  }

  const score = value => value.toFixed(3).replace("-0.000", "0.000").replace(/^(-?)0\./, "$1.").replace("-", "−");
  const signed = value => (value > 0 ? "+" : "") + score(value);
  const pValue = p => (p === null ? "–" : p >= 0.0001 ? p.toFixed(4).replace(/^0/, "") : p.toExponential(1));

  // Write a line of a table; returns its cells
  function addLine(table, entry, texts) {
    const line = document.querySelector(`#${table} tbody`).insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = entry.title;
    line.append(head);
    const { low, high, isReliable } = entry.interval;
    line.dataset.low = low;
    line.dataset.high = high;
    const cells = texts.map(text => {
      const cell = line.insertCell();
      cell.textContent = text;
      return cell;
    });
    const ofInterval = cells[texts.indexOf(`${signed(low)} to ${signed(high)}`)];
    if (!isReliable) {
      const mark = document.createElement("abbr");
      mark.className = "unreliable";
      mark.title = setup.unreliable_note;
      mark.textContent = "unreliable";
      ofInterval.append(" ", mark);
    }
    return { line, cells };
  }

  function show({ rows, summary }) {
    for (const body of document.querySelectorAll("#result tbody")) body.replaceChildren();
    for (const entry of rows) {
      const { low, high } = entry.interval;
      const n = entry.n < small ? `${entry.n} (n<${small})` : entry.n;
      const texts = [entry.language, n, ...entry.scores.map(score), signed(entry.difference), `${signed(low)} to ${signed(high)}`];
      const { line, cells } = addLine("differences", entry, [...texts, pValue(entry.holm), entry.wins, entry.ties, entry.losses]);
      line.className = entry.sum ? "sum" : "";
      line.dataset.p = entry.p;
      line.dataset.holm = entry.holm;
      if (entry.n < small) line.title = `fewer than ${small} concepts: too few for a test`;
      cells[0].className = "text";
      const colour = entry.winner && (entry.winner === "B" ? "better" : "worse");
      if (colour) for (const cell of cells.slice(4, 7)) cell.className = colour;
    }
    for (const entry of summary) {
      const { low, high } = entry.interval;
      addLine("summary", entry, [entry.n, ...entry.scores.map(score), signed(entry.difference), `${signed(low)} to ${signed(high)}`]);
    }
    document.getElementById("corrected").hidden = !summary.length;
    const list = document.getElementById("verdict");
    list.replaceChildren(
      ...verdicts(rows).map(sentence => {
        const item = document.createElement("li");
        item.textContent = sentence;
        return item;
      }),
    );
    for (const select of [a, b]) {
      const link = document.createElement("a");
      link.href = `models/${select.value}.html`;
      link.textContent = select.selectedOptions[0].textContent;
      document.getElementById(`name-${select.name}`).replaceChildren(link);
    }
    document.getElementById("result").hidden = false;
  }

  function load(file, then) {
    const script = document.createElement("script");
    script.src = file;
    script.addEventListener("load", then);
    script.addEventListener("error", () => (status.textContent = `A file of this site is missing: ${file}`));
    document.head.append(script);
  }

  // The id is one of the options, so an address can load nothing else
  function loadScores(id, then) {
    if (loaded.has(id)) then();
    else load(`scores/${id}.js`, then);
  }

  const [a, b] = [form.elements.a, form.elements.b];
  b.append(...[...a.options].map(option => option.cloneNode(true)));
  const parameters = new URLSearchParams(location.search);
  [a, b].forEach((select, place) => {
    const id = parameters.get(select.name);
    const known = [...select.options].some(option => option.value === id);
    if (known) select.value = id;
    else select.selectedIndex = Math.min(place, select.options.length - 1);
  });
  form.hidden = false;
  const chosen = [a, b].every(select => parameters.get(select.name) === select.value);
  if (!chosen) {
    status.textContent = "Choose two models.";
    document.documentElement.dataset.ready = "compare";
    return;
  }
  const steps = [
    then => load(setup.draws, then),
    then => load(setup.signs, then),
    then => loadScores(a.value, then),
    then => loadScores(b.value, then),
    () => {
      const result = compare(loaded.get(a.value), loaded.get(b.value));
      status.textContent = result.rows.length ? "" : "These two submissions have no task in common.";
      if (result.rows.length) show(result);
      document.documentElement.dataset.ready = "compare";
    },
  ];
  const next = () => steps.shift()(next);
  next();
})();
