// Model B against model A: differences with a paired bootstrap over concepts, wins, ties and losses.
(() => {
  "use strict";
  const DRAWS = 10000;
  const SEED = 42;
  const SMALL_N = 30; // below this an interval is to be read with care
  const SAME = 1e-12; // what differs by less is rounding
  const { concepts, subsets, whole } = JSON.parse(document.getElementById("items").textContent);
  const titles = { T1: "T1", T2: "T2", T3: "T3", spans: "Spans" };
  const languages = { tr: "Turkish", az: "Azerbaijani", tk: "Turkmen", gag: "Gagauz", uz: "Uzbek" };
  const form = document.getElementById("choice");
  const status = document.getElementById("status");
  const loaded = new Map();
  window.turkicIdiomScores = (id, scores) => loaded.set(id, scores);

  // mulberry32, so that a link always shows the same figures
  function generator(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  // Per concept of a subset what each model adds to numerator and denominator of its score
  function summed(subset, values) {
    const sums = new Map();
    const spans = subset.task === "spans";
    subset.concepts.forEach((concept, item) => {
      const sum = sums.get(concept) || [0, 0, 0, 0];
      values.forEach((one, model) => {
        const [right, found, gold] = one.slice(3 * item, 3 * item + 3);
        sum[2 * model] += spans ? 2 * right : one[item];
        sum[2 * model + 1] += spans ? found + gold : 1;
      });
      sums.set(concept, sum);
    });
    return sums;
  }

  const ratio = (above, below) => (below > 0 ? above / below : 0);

  function stratum(subset, values) {
    const sums = summed(subset, values);
    const total = [0, 0, 0, 0];
    for (const sum of sums.values()) sum.forEach((value, index) => (total[index] += value));
    const size = (total[1] + total[3]) / 2;
    const parts = new Map(); // concept -> its part in the difference: what A lacks to the full score less what B lacks
    for (const [concept, [a, fullA, b, fullB]] of sums) parts.set(concept, (fullA - a - (fullB - b)) / size);
    return {
      ...subset,
      n: subset.concepts.length,
      concepts: [...sums.keys()],
      flat: [...sums.values()].flat(),
      parts,
      scores: [ratio(total[0], total[1]), ratio(total[2], total[3])],
      draws: new Float64Array(DRAWS),
    };
  }

  // Fills the difference of every subset in every draw; NaN where no item was drawn
  function resample(strata) {
    const random = generator(SEED);
    const counts = new Uint16Array(concepts);
    for (let draw = 0; draw < DRAWS; draw++) {
      counts.fill(0);
      for (let one = 0; one < concepts; one++) counts[Math.floor(random() * concepts)]++;
      for (const { concepts: own, flat, draws } of strata) {
        let [a, fullA, b, fullB, items] = [0, 0, 0, 0, 0];
        for (let index = 0; index < own.length; index++) {
          const times = counts[own[index]];
          if (!times) continue;
          items += times;
          a += times * flat[4 * index];
          fullA += times * flat[4 * index + 1];
          b += times * flat[4 * index + 2];
          fullB += times * flat[4 * index + 3];
        }
        draws[draw] = items ? ratio(b, fullB) - ratio(a, fullA) : NaN;
      }
    }
  }

  function interval(draws) {
    const sorted = draws.filter(value => !Number.isNaN(value)).sort();
    const at = share => {
      const place = share * (sorted.length - 1);
      const low = Math.floor(place);
      return sorted[low] + (place - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
    };
    return [at(0.025), at(0.975)];
  }

  // A weighted sum of subsets as one row; scale is 1, or what the chance correction divides by
  function row(title, language, strata, { weigh, correct = false }) {
    const level = subset => (correct ? subset.floor : 0);
    const draws = new Float64Array(DRAWS);
    const scores = [0, 0];
    const parts = new Map();
    for (const one of strata) {
      const weight = weigh(one) / (1 - level(one));
      one.draws.forEach((value, draw) => (draws[draw] += weight * value));
      scores.forEach((_, model) => (scores[model] += weight * (one.scores[model] - level(one))));
      for (const [concept, part] of one.parts) parts.set(concept, (parts.get(concept) || 0) + weight * part);
    }
    const n = strata.reduce((sum, one) => sum + one.n, 0);
    const count = test => [...parts.values()].filter(test).length;
    return {
      title,
      language,
      n,
      scores,
      difference: scores[1] - scores[0],
      interval: interval(draws),
      wins: count(part => part > SAME),
      ties: count(part => Math.abs(part) <= SAME),
      losses: count(part => part < -SAME),
      sum: strata.length > 1,
    };
  }

  function compare(a, b) {
    const both = subsets.filter(({ key }) => a[key] && b[key]);
    const strata = both.map(subset => stratum(subset, [a[subset.key], b[subset.key]]));
    resample(strata);
    const rows = [];
    const tasks = [...new Set(subsets.map(({ task }) => task))];
    const of = (list, task) => list.filter(one => one.task === task);
    for (const task of tasks) {
      const own = of(strata, task);
      const title = titles[task];
      for (const one of own) rows.push(row(title, languages[one.language], [one], { weigh: () => 1 }));
      if (own.length > 1) rows.push(row(title, "mean", own, { weigh: () => 1 / own.length }));
    }
    if (strata.length === whole) {
      const weigh = one => 1 / (tasks.length * of(strata, one.task).length);
      rows.unshift(row("All tasks", "mean, corrected", strata, { weigh, correct: true }));
    }
    return rows;
  }

  const score = value => value.toFixed(3).replace("-0.000", "0.000").replace(/^(-?)0\./, "$1.").replace("-", "−");
  const signed = value => (value > 0 ? "+" : "") + score(value);

  function show(rows) {
    const body = document.querySelector("#differences tbody");
    body.replaceChildren();
    for (const one of rows) {
      const line = body.insertRow();
      line.className = one.sum ? "sum" : "";
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = one.title;
      const [low, high] = one.interval;
      const verdict = low > 0 ? "better" : high < 0 ? "worse" : "";
      const cells = [one.language, one.n < SMALL_N ? `${one.n} (n<30)` : one.n, ...one.scores.map(score), signed(one.difference)];
      cells.push(`${signed(low)} to ${signed(high)}`, one.wins, one.ties, one.losses);
      line.append(head);
      if (one.n < SMALL_N) line.title = "fewer than 30 queries or sentences: read with care";
      cells.forEach((text, column) => {
        const cell = line.insertCell();
        cell.textContent = text;
        if (column === 0) cell.className = "text";
        if (column === 4 || column === 5) cell.className = verdict;
      });
    }
    for (const select of [a, b]) {
      const link = document.createElement("a");
      link.href = `models/${select.value}.html`;
      link.textContent = select.selectedOptions[0].textContent;
      document.getElementById(`name-${select.name}`).replaceChildren(link);
    }
    document.getElementById("result").hidden = false;
  }

  // The id is one of the options, so an address can load nothing else
  function load(id, then) {
    if (loaded.has(id)) return then();
    const script = document.createElement("script");
    script.src = `scores/${id}.js`;
    script.addEventListener("load", then);
    script.addEventListener("error", () => (status.textContent = `The scores of ${id} are missing: scores/${id}.js`));
    return document.head.append(script);
  }

  const [a, b] = [form.elements.a, form.elements.b];
  b.append(...[...a.options].map(option => option.cloneNode(true)));
  const asked = new URLSearchParams(location.search);
  [a, b].forEach((select, place) => {
    const id = asked.get(select.name);
    const known = [...select.options].some(option => option.value === id);
    if (known) select.value = id;
    else select.selectedIndex = Math.min(place, select.options.length - 1);
  });
  form.hidden = false;
  const chosen = [a, b].every(select => asked.get(select.name) === select.value);
  if (!chosen) {
    status.textContent = "Choose two models.";
    document.documentElement.dataset.ready = "compare";
    return;
  }
  load(a.value, () =>
    load(b.value, () => {
      const rows = compare(loaded.get(a.value), loaded.get(b.value));
      status.textContent = rows.length ? "" : "These two submissions have no task in common.";
      if (rows.length) show(rows);
      document.documentElement.dataset.ready = "compare";
    }),
  );
})();
