// Search, filters, sorting and pinned models of the one board of a page; what is chosen stands in the address after #.
// A filter ranks again what it leaves. Ranks follow from one fact about each pair of ranked models: whether the upper one
// is significantly better, which Python has computed (leaderboard/ranking.py). Scores and intervals stay as they are,
// because they depend on no other model.
(() => {
  "use strict";
  const table = document.querySelector("table.board");
  if (!table) return;
  const form = document.getElementById("filters");
  const filters = document.getElementById("fold");
  const count = document.getElementById("count");
  const body = table.querySelector("tbody:not(.people)");
  const headers = [...table.tHead.rows[0].cells];
  const marks = /[\u0300-\u036f'\u02bb\u02bc]/g;
  const fold = text => text.toLowerCase().normalize("NFD").replace(marks, "").replace(/ı/g, "i");

  // The rank or the number of parameters of a cell, else its score as it is shown; null if it has none. Models whose
  // scores look the same stay in the order of their ranks
  function valueOf(cell) {
    const { v = cell.firstChild.data } = cell.dataset;
    const value = v === undefined ? NaN : Number(v.replace("−", "-"));
    return Number.isNaN(value) ? null : value;
  }

  const rows = [...body.rows].map((element, place) => {
    const [rank, model] = element.cells;
    const link = model.querySelector("a");
    return {
      element,
      place,
      id: link.getAttribute("href").slice("models/".length, -".html".length),
      name: link.textContent,
      kinds: { type: model.querySelector(".type").textContent, ...element.dataset },
      fits: true,
      text: fold(model.textContent),
      atChance: element.className === "chance",
      tie: ["first", "middle", "last"].find(name => rank.classList.contains(name)) || "",
      values: [...element.cells].map(valueOf),
    };
  });
  const titles = headers.slice(2).map(header => header.firstChild.data.trim()); // before they become buttons
  const isText = headers.map((_, column) => rows.every(row => row.values[column] === null));
  const fields = ["q", "type", "size", "regime", "languages"].filter(name => form.elements[name]);
  const verdict = document.getElementById("verdict");
  const empty = document.getElementById("empty");
  const more = document.getElementById("more");
  const LIMIT = 40; // as in site.css; drawing rows takes most of the time of a filter
  const start = { sort: "rank", order: "ascending" };
  let sorting = { ...start };
  let pinned = []; // ids, the earlier first
  let ordered = rows; // as they are sorted
  let isLong = false; // whether all rows of a long board are shown
  let isTyping = false; // whether the last change of the address was one of the search

  const first = column => headers[column].dataset.first || "descending";
  const columnOf = key => headers.findIndex(header => header.dataset.key === key);

  function compare(column, sign) {
    const isRanked = row => row.values[0] !== null;
    if (column === 0) return (a, b) => isRanked(b) - isRanked(a) || (isRanked(a) ? sign : 1) * (a.place - b.place);
    if (!isText[column])
      return (a, b) => {
        const [x, y] = [a.values[column], b.values[column]];
        if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
        return sign * (x - y) || a.place - b.place;
      };
    const text = row => (column === 1 ? row.name.toLowerCase() : row.element.cells[column].textContent);
    return (a, b) => sign * text(a).localeCompare(text(b), "en") || a.place - b.place;
  }

  function sort() {
    const column = columnOf(sorting.sort);
    order.value = sorting.sort;
    const sign = sorting.order === "ascending" ? 1 : -1;
    headers.forEach((header, index) => {
      if (index === column) header.setAttribute("aria-sort", sorting.order);
      else header.removeAttribute("aria-sort");
    });
    table.classList.toggle("grouped", sorting.sort === start.sort);
    ordered = [...rows].sort(compare(column, sign));
    body.append(...ordered.map(row => row.element));
    showRows();
    showColumns();
  }

  // Of a long board the first rows are shown, so that the page answers at once; a button shows the others
  function showRows() {
    const fitting = ordered.filter(row => row.fits);
    const shown = new Set(isLong ? fitting : fitting.slice(0, LIMIT));
    for (const row of rows) if (row.element.hidden === shown.has(row)) row.element.hidden = !row.element.hidden;
    const isWhole = fitting.length === rows.length;
    const first = shown.size < fitting.length ? `first ${shown.size} of ` : "";
    const all = first ? "" : ` of ${rows.length}`;
    count.textContent = `${first}${fitting.length}${all} shown${isWhole ? "" : "; ranked among themselves"}`;
    more.hidden = !first;
    empty.hidden = fitting.length > 0;
  }

  const ranked = rows.filter(row => row.values[0] !== null); // best first
  const pairs = Uint8Array.from(atob(table.dataset.pairs), character => character.charCodeAt(0));

  // Whether a ranked model is significantly better than one that stands below it: one bit, row by row
  function isBetter(upper, lower) {
    const bit = (upper * (2 * ranked.length - upper - 1)) / 2 + lower - upper - 1;
    return (pairs[bit >> 3] >> (7 - (bit & 7))) & 1;
  }

  // As `rank` of leaderboard/ranking.py: a model begins a new group if the best of the group is better than it
  function rankFitting() {
    const fitting = [...ranked.keys()].filter(place => ranked[place].fits);
    const groups = [];
    const [nBetter, nWorse] = [new Map(), new Map()];
    fitting.forEach((place, at) => {
      if (!at || isBetter(groups.at(-1)[0], place)) groups.push([]);
      groups.at(-1).push(place);
      for (const lower of fitting.slice(at + 1))
        if (isBetter(place, lower)) {
          nBetter.set(lower, (nBetter.get(lower) || 0) + 1);
          nWorse.set(place, (nWorse.get(place) || 0) + 1);
        }
    });
    let rank = 1;
    for (const group of groups) {
      group.forEach((place, at) => {
        const tie = at === 0 ? "first" : at === group.length - 1 ? "last" : "middle";
        const range = [1 + (nBetter.get(place) || 0), fitting.length - (nWorse.get(place) || 0)];
        showRank(ranked[place], rank, group.length > 1 ? tie : "", range[0] < range[1] ? range.join(" to ") : "");
      });
      rank += group.length;
    }
    sayVerdict(fitting);
  }

  function showRank(row, rank, tie, range) {
    row.values[0] = rank;
    const [cell] = row.element.cells;
    const name = tie ? `rank tie ${tie}` : "rank";
    if (cell.textContent === (range ? `${rank} ${range}` : `${rank}`) && cell.className === name) return;
    cell.dataset.v = rank;
    cell.className = name;
    cell.replaceChildren(`${rank}`);
    if (!range) return;
    const mark = document.createElement("small");
    mark.textContent = range;
    cell.append(" ", mark);
  }

  // Which model to take: the best, and the smallest that is not shown to be worse; never a baseline or one at chance
  function sayVerdict(fitting) {
    const tied = fitting.filter((place, at) => !at || !isBetter(fitting[0], place));
    const good = tied.filter(place => !ranked[place].atChance && ranked[place].kinds.type !== "baseline");
    const [best = fitting[0]] = good;
    if (best === undefined) return verdict.replaceChildren();
    const scoreOf = ({ element }) => {
      const [value, interval] = element.cells[3].childNodes;
      return ` ${value.data.trim()} (${interval.firstChild.data.replace("–", " to ")})`;
    };
    const nameOf = row => {
      const link = document.createElement("a");
      link.href = `models/${row.id}.html`;
      link.textContent = row.name;
      return link;
    };
    const row = ranked[best];
    if (!good.length) {
      const why = row.kinds.type === "baseline" ? "a baseline" : "at chance or below";
      const none = `No submitted model understands ${verdict.dataset.about} yet; the best score is that of `;
      return verdict.replaceChildren(none, nameOf(row), `,${scoreOf(row)}, ${why}.`);
    }
    const { q, type, size, regime } = Object.fromEntries(new FormData(form));
    const conditions = [q && `that fit “${q}”`, type && `of type ${type}`, size && `with at most ${size} parameters`];
    const which = [...conditions, regime && `in the regime ${regime}`].filter(Boolean).join(" ");
    const n = fitting.filter(place => ranked[place].kinds.type !== "baseline").length;
    const many = n === 1 ? "The only model" : `Best of ${n} models`;
    verdict.replaceChildren(`${many}${which && ` ${which}`}: `, nameOf(row), `${scoreOf(row)}.`);
    const sized = good.map(place => ranked[place]).filter(other => other.values[2]);
    const [smallest] = sized.sort((one, other) => one.values[2] - other.values[2]);
    if (n === 1 || !smallest || !row.values[2]) return;
    if (smallest.values[2] >= row.values[2]) return verdict.append(" Every smaller model is shown to be worse, or is at chance.");
    verdict.append(" Smallest that is not shown worse: ", nameOf(smallest), ` (${smallest.element.cells[2].textContent}).`);
  }

  // A column that no fitting model has a value in disappears; the cards of a phone show the column that sorts
  const columnStyle = document.head.appendChild(document.createElement("style"));
  function showColumns() {
    const fitting = rows.filter(row => row.fits);
    const sorted = columnOf(sorting.sort);
    const view = form.elements.languages?.checked ? "languages" : "tasks";
    const isEmpty = headers.map(
      ({ dataset }, column) =>
        (fitting.length && column > 1 && fitting.every(row => row.values[column] === null)) ||
        (dataset.view && dataset.view !== view && column !== sorted),
    );
    const hidden = headers.flatMap((_, column) => (isEmpty[column] ? [column] : []));
    const firstFilled = isEmpty.findIndex((empty, column) => column > 2 && !empty);
    const onCard = Math.max(3, sorted > 1 ? sorted : firstFilled);
    const rules =
      hidden.map(column => `.board.cards.cards.cards :is(td,th):nth-child(${column + 1}){display:none}`).join("") +
      (sorted > 2 ? `.board tbody td:nth-child(${sorted + 1}){background-color:var(--band)}` : "") +
      `@media (max-width:46rem){` +
      titles.map((title, column) => `.board tbody td:nth-child(${column + 3})::before{content:"${title} "}`).join("") +
      `.board.cards tbody tr > td:nth-child(${onCard + 1}){order:-1;grid-column:2/-1;display:block}` +
      `.board td:nth-child(${onCard + 1}) small{display:inline}}`;
    if (columnStyle.textContent !== rules) columnStyle.textContent = rules; // a change styles the whole page anew
  }
  table.classList.add("cards");

  function filter() {
    const words = fold(form.elements.q.value).split(/\s+/).filter(Boolean);
    const chosen = ["type", "regime"].map(name => [name, form.elements[name].value]).filter(([, value]) => value);
    const most = parseFloat(form.elements.size.value) * (form.elements.size.value.endsWith("B") ? 1e9 : 1e6);
    for (const row of rows)
      row.fits =
        words.every(word => row.text.includes(word)) &&
        chosen.every(([name, value]) => row.kinds[name] === value) &&
        !(most && !(row.values[2] <= most && row.values[2] !== null)); // an unknown size fits no limit
    rankFitting();
    showRows();
    showColumns();
  }

  // The other tabs open with the same filters
  function carry(state) {
    for (const link of document.querySelectorAll(".tabs a")) link.hash = state;
  }

  // Back undoes a step; the letters of one search are one step
  function write({ typing = false } = {}) {
    const state = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value && fields.includes(name)) state.set(name, value);
    if (sorting.sort !== start.sort || sorting.order !== start.order)
      for (const name of ["sort", "order"]) state.set(name, sorting[name]);
    if (pinned.length) state.set("pin", pinned.join(" "));
    const hash = `#${state}`;
    carry(state);
    if (hash !== (location.hash || "#")) {
      if (typing && isTyping) history.replaceState(null, "", hash);
      else history.pushState(null, "", hash);
      isTyping = typing;
    }
  }

  function read() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const name of fields) {
      const field = form.elements[name];
      if (field.type === "checkbox") field.checked = state.has(name);
      else field.value = state.get(name) || "";
      if (field.selectedIndex < 0) field.value = "";
    }
    const order = state.get("order") === "descending" ? "descending" : "ascending";
    sorting = columnOf(state.get("sort") || "") < 0 ? { ...start } : { sort: state.get("sort"), order };
    const known = new Set(rows.map(row => row.id));
    pinned = (state.get("pin") || "").split(" ").filter(id => known.has(id)).slice(0, MOST_PINNED);
    isTyping = false;
    sort();
    filter();
    showPins();
    carry(state);
  }

  // Two to four pinned models can be compared; a fifth replaces the earliest one
  const MOST_PINNED = 4;
  const bar = document.createElement("p");
  bar.className = "pins";
  bar.setAttribute("role", "status");
  bar.hidden = true;

  function pin(ids) {
    pinned = ids.slice(-MOST_PINNED);
    showPins();
    write();
  }

  function showPins() {
    for (const row of rows) {
      const button = row.element.querySelector(".pin");
      if (button) button.setAttribute("aria-pressed", String(pinned.includes(row.id)));
    }
    const nameOf = id => rows.find(row => row.id === id).name;
    bar.replaceChildren(pinned.map(nameOf).join(", ") + (pinned.length < 2 ? ": pin one more to compare" : ""));
    if (pinned.length >= 2) {
      const link = document.createElement("a");
      link.href = `compare.html?${new URLSearchParams(pinned.map((id, place) => ["abcd"[place], id]))}`;
      link.textContent = "Compare";
      bar.append(link);
    }
    const clear = document.createElement("button");
    clear.type = "button";
    clear.textContent = "Unpin";
    clear.addEventListener("click", () => pin([]));
    bar.append(clear);
    bar.hidden = !pinned.length;
  }

  for (const { element, id, name } of rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pin";
    button.textContent = "Pin";
    button.setAttribute("aria-label", `Pin ${name} to compare it`);
    button.addEventListener("click", () =>
      pin(pinned.includes(id) ? pinned.filter(other => other !== id) : [...pinned, id]),
    );
    element.cells[1].querySelector(".line").prepend(button);
  }
  empty.after(bar);

  // Cards have no column heads, so the order is also a field of the form
  const order = document.createElement("select");
  for (const header of headers) order.add(new Option(header.textContent.trim(), header.dataset.key));
  const orderLabel = document.createElement("label");
  orderLabel.className = "order";
  orderLabel.append("Order by", order);
  form.querySelector("button").before(orderLabel);
  order.addEventListener("change", () => {
    sorting = { sort: order.value, order: first(columnOf(order.value)) };
    sort();
    write();
  });

  more.addEventListener("click", () => {
    isLong = true;
    showRows();
  });

  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const { key } = header.dataset;
      const other = sorting.order === "ascending" ? "descending" : "ascending";
      sorting = { sort: key, order: sorting.sort === key ? other : first(column) };
      sort();
      write();
    });
  });
  form.addEventListener("input", event => {
    filter();
    write({ typing: event.target.name === "q" });
  });
  form.addEventListener("reset", () =>
    setTimeout(() => {
      sorting = { ...start };
      sort();
      filter();
      write();
    }),
  );
  form.addEventListener("submit", event => event.preventDefault());
  empty.querySelector("button").addEventListener("click", () => form.reset());
  window.addEventListener("hashchange", read);
  read();
  // On a phone the filters are folded, unless the address has one; on a wide screen they cannot be
  const phone = window.matchMedia("(max-width: 46rem)");
  const unfold = () => (filters.open = !phone.matches || fields.some(name => new FormData(form).get(name)));
  phone.addEventListener("change", unfold);
  unfold();
  filters.hidden = false;
  document.documentElement.dataset.ready = "table";
})();
