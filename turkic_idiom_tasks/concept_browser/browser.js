// Concepts side by side: search, filters, pages, and a link to each concept. What is chosen stands in the address after
// #. The data stand in the page, and every concept is a card; or a second script hands them to turkicIdiomConcepts, and
// the concepts are rows of a table. Then cards, and results by task and model, are loaded when somebody asks for them.
(() => {
  "use strict";
  const form = document.getElementById("concept-filters");
  const list = document.getElementById("concept-list");
  const count = document.getElementById("concept-count");
  const empty = document.getElementById("no-concept");
  const pagers = [...document.querySelectorAll(".pager")];
  const fields = ["q", "language", "task", "model", "order"];
  const marks = /[\u0300-\u036f'`\u00b4\u2018\u2019\u201b\u02b9\u02bb\u02bc]/g;
  const chosen = name => form.elements[name].value;
  const textsOf = row => row.entries || row.texts;
  const parts = new Map(); // name of a file in concepts/ -> what it holds
  window.turkicIdiomPart = (name, value) => parts.set(name, value);
  let data = null;
  let subsets = [];
  let concepts = []; // {row, text, hardness by task}
  let byId = new Map(); // id, or former id -> concept
  let page = 0;
  let isTyping = false; // whether the last change of the address was one of the search

  // Letters that are easily typed: no marks, no apostrophes, ı and ə as i and e
  function fold(text) {
    return text.toLowerCase().normalize("NFD").replace(marks, "").replace(/ı/g, "i").replace(/ə/g, "e");
  }

  function allTexts(row) {
    const texts = [row.id, row.gloss, ...Object.values(row.texts || {}).flat()];
    for (const entry of Object.values(row.entries || {})) {
      texts.push(entry.idiom, ...(entry.variants || []));
      for (const field of Object.keys(data.labels))
        if (entry[field]) texts.push(field === "example" ? entry[field].map(([text]) => text).join("") : entry[field]);
    }
    return fold(texts.join("\n"));
  }

  // The items of a concept that fit the chosen task and language, both at once: [place of the subset, who solves it, place in it]
  function itemsOf(row) {
    const [task, language] = [chosen("task"), chosen("language")];
    return (row.n || []).filter(([place]) => {
      const { task: own, from, to } = subsets[place];
      return (!task || own === task) && (!language || to === language || from === language);
    });
  }

  // How many answers of models to these items are right, and how many there are
  function solvedOf(row) {
    const items = itemsOf(row);
    const sum = count => items.reduce((total, item) => total + count(item), 0);
    return [sum(([, n]) => n), sum(([place]) => subsets[place].models)];
  }

  // A model's wrong answers to these items, if it is chosen
  function missedOf(row) {
    const missed = parts.get(`of-${chosen("model")}`) || {};
    const answers = itemsOf(row).map(([place, , at]) => missed[subsets[place].key]?.[at] ?? "0"); // 0 where it is right
    return answers.filter(answer => String(answer) !== "0").map(answer => (answer === "1" ? "wrong" : answer || "could not be read"));
  }

  function load(name) {
    return new Promise(resolve => {
      const script = element("script");
      script.src = `concepts/${name}.js`;
      script.addEventListener("load", resolve);
      script.addEventListener("error", resolve); // a file that is missing leaves its cells empty
      document.head.append(script);
    });
  }

  function element(name, { text, lang, className } = {}, ...children) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (lang) made.lang = lang;
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  function showEntry(code, entry) {
    const column = element("div", { lang: code });
    const name = element("p", { text: data.languages[code], lang: "en", className: "language" });
    column.append(name, element("p", { text: entry.idiom, className: "idiom" }));
    if (entry.variants) {
      const also = element("span", { text: "also: ", lang: "en", className: "label" });
      column.append(element("p", {}, also, entry.variants.join(", ")));
    }
    for (const [field, label] of Object.entries(data.labels)) {
      if (!entry[field]) continue;
      const line = element("p");
      if (label) line.append(element("span", { text: `${label}: `, lang: "en", className: "label" }));
      if (field === "example")
        for (const [text, isIdiom] of entry.example) line.append(isIdiom ? element("mark", { text }) : text);
      else line.append(entry[field]);
      column.append(line);
    }
    return column;
  }

  const solvedWords = task => (task === "Spans" ? "marked exactly by" : /^T\d/.test(task) ? "placed first by" : "solved by");

  // What is relevant for the queries of a concept, and how many models find it
  function showItems(row, isOpen) {
    const sums = new Map();
    const lines = element("ul", { className: "items" });
    for (const [name, query, answer, n] of row.items) {
      const subset = data.subsets[name];
      const sum = sums.get(subset.task) || { solved: 0, tried: 0 };
      sums.set(subset.task, { solved: sum.solved + n, tried: sum.tried + subset.models });
      const solved = subset.models ? ` (${solvedWords(subset.task)} ${n} of ${subset.models})` : "";
      lines.append(
        element(
          "li",
          {},
          element("b", { text: `${subset.task}, ${subset.title}: ` }),
          element("span", { text: query, lang: subset.from }),
          " → ",
          element("span", { text: answer, lang: subset.to }),
          element("span", { text: solved, className: "solved" }),
        ),
      );
    }
    const parts = [...sums].map(([task, { solved, tried }]) => (tried ? `${task} ${solved} of ${tried}` : task));
    const details = element("details", {}, element("summary", { text: `Test items and results: ${parts.join(" · ")}` }), lines);
    details.open = isOpen;
    return details;
  }

  function showConcept({ row }, linked) {
    const section = element("section", { className: row.id === linked ? "concept linked" : "concept" });
    section.id = `c-${row.id}`;
    section.tabIndex = -1;
    const link = element("a", { text: "#", className: "permalink" });
    link.href = `#c-${encodeURIComponent(row.id)}`;
    link.setAttribute("aria-label", `Copy the link to ${row.id}`);
    link.addEventListener("click", () => navigator.clipboard?.writeText(link.href).catch(() => {})); // or the address has it
    const id = element("code", { text: row.id });
    section.append(element("h2", {}, row.gloss ? `${row.gloss} ` : "", id, " ", link));
    const language = chosen("language");
    const codes = Object.keys(data.languages).filter(code => row.entries[code]);
    codes.sort((one, other) => (other === language) - (one === language));
    section.append(element("div", { className: "languages" }, ...codes.map(code => showEntry(code, row.entries[code]))));
    if (row.items) section.append(showItems(row, row.id === linked));
    return section;
  }

  function chosenConcepts() {
    const words = fold(chosen("q")).split(/\s+/).filter(Boolean);
    const [language, task, model] = ["language", "task", "model"].map(chosen);
    const fitting = concepts.filter(
      ({ row, text }) =>
        words.every(word => text.includes(word)) &&
        (task ? itemsOf(row).length : !language || textsOf(row)[language]) &&
        (!model || missedOf(row).length),
    );
    if (chosen("order") !== "hardest") return fitting;
    const shares = new Map();
    for (const concept of fitting) {
      const [solved, tried] = solvedOf(concept.row);
      shares.set(concept, tried ? solved / tried : 2); // the untried last
    }
    return fitting.sort((one, other) => shares.get(one) - shares.get(other) || one.place - other.place);
  }

  // What is missing is loaded, and then everything is drawn
  async function show(linked) {
    const needed = chosen("model") ? [`of-${chosen("model")}`] : [];
    if (data.chunk && chosen("task"))
      for (const { key, task, from, to } of subsets)
        if (task === chosen("task") && (!chosen("language") || [from, to].includes(chosen("language")))) needed.push(key);
    const missing = needed.filter(name => !parts.has(name));
    list.setAttribute("aria-busy", String(missing.length > 0));
    if (missing.length) await Promise.all(missing.map(name => load(name.replace("/", "-"))));
    draw(linked);
    list.setAttribute("aria-busy", "false");
    if (linked && data.chunk) await open(linked);
  }

  function draw(linked) {
    const fitting = chosenConcepts();
    const nPages = Math.max(1, Math.ceil(fitting.length / data.per_page));
    const place = linked ? fitting.findIndex(({ row }) => row.id === linked) : -1;
    page = place >= 0 ? Math.floor(place / data.per_page) : Math.min(page, nPages - 1);
    const start = page * data.per_page;
    const shown = fitting.slice(start, start + data.per_page);
    list.replaceChildren(...(data.chunk ? [drawTable(shown)] : shown.map(concept => showConcept(concept, linked))));
    const range = nPages > 1 ? `${start + 1}–${start + shown.length} of ` : "";
    count.textContent = `${range}${fitting.length} concept${fitting.length === 1 ? "" : "s"}`;
    empty.hidden = fitting.length > 0;
    for (const pager of pagers) showPager(pager, nPages);
  }

  function drawTable(shown) {
    const heads = ["Concept", "English", "Solved"];
    if (chosen("task")) heads.push("Spelt alike", chosen("model") ? "Its answer" : "Most frequent wrong answer");
    heads.push("Per million words");
    const head = element("tr", {}, ...heads.map(text => element("th", { text })));
    for (const cell of head.cells) cell.scope = "col";
    const body = element("tbody", {}, ...shown.map(({ row }) => drawRow(row)));
    const table = element("table", { className: "texts stacked" }, element("thead", {}, head), body);
    for (let column = heads.length - 1; column > 1; column--) // a column that is empty for every row says nothing
      if (shown.length && [...body.rows].every(line => line.cells[column].textContent === "–"))
        for (const line of table.rows) line.deleteCell(column);
    for (const line of body.rows) for (const [column, cell] of [...line.cells].entries()) if (column) cell.dataset.label = head.cells[column].textContent;
    const scroller = element("div", { className: "scroll" }, table);
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "region");
    scroller.setAttribute("aria-label", "Concepts");
    return scroller;
  }

  function drawRow(row) {
    const codes = Object.keys(data.languages).filter(code => row.texts[code]);
    const code = codes.find(own => own === chosen("language")) || codes[0];
    const button = element("button", { text: code ? row.texts[code][0] : row.id, lang: code, className: "open" });
    button.type = "button";
    button.dataset.id = row.id;
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => open(row.id));
    const name = element("th", {}, button);
    name.scope = "row";
    const [solved, tried] = solvedOf(row);
    const cells = [element("td", { text: row.gloss || row.id }), element("td", { text: tried ? `${solved} of ${tried}` : "–" })];
    if (chosen("task")) {
      const results = itemsOf(row).flatMap(([place]) => (parts.get(subsets[place].key) || []).filter(([id]) => id === row.id));
      const alike = results.map(([, isAlike]) => isAlike).filter(isAlike => isAlike !== null);
      const wrong = chosen("model")
        ? missedOf(row)
        : results.sort((one, other) => other[3] - one[3]).slice(0, 1).map(([, , text, n]) => (n ? `${text} (${n})` : ""));
      cells.push(element("td", { text: alike.length ? (alike.some(Boolean) ? "yes" : "no") : "–" }));
      cells.push(element("td", { text: wrong.join("; ") || "–", lang: subsets[itemsOf(row)[0][0]].to }));
    }
    cells.push(element("td", { text: row.texts[code]?.[2] ?? "–" })); // how often found text in the language has it
    return element("tr", {}, name, ...cells);
  }

  // Open the card of a concept below its row, or close it
  async function open(id) {
    const button = list.querySelector(`button[data-id="${CSS.escape(id)}"]`);
    const line = button.closest("tr");
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) return line.nextSibling.remove();
    const name = String(Math.floor(byId.get(id).place / data.chunk));
    if (!parts.has(name)) await load(name);
    const row = (parts.get(name) || []).find(own => own.id === id);
    const cell = element("td", {}, ...(row ? [showConcept({ row }, linkedConcept())] : []));
    cell.colSpan = line.cells.length;
    line.after(element("tr", { className: "card" }, cell));
  }

  function showPager(pager, nPages) {
    pager.hidden = nPages < 2;
    if (pager.hidden) return;
    const [previous, next] = [-1, 1].map(step => {
      const button = element("button", { text: step < 0 ? "Previous" : "Next" });
      button.type = "button";
      button.disabled = page + step < 0 || page + step >= nPages;
      button.addEventListener("click", () => turnTo(page + step));
      return button;
    });
    const choice = element("select");
    for (let number = 0; number < nPages; number++) choice.append(element("option", { text: number + 1 }));
    choice.selectedIndex = page;
    choice.addEventListener("change", () => turnTo(choice.selectedIndex));
    pager.replaceChildren(previous, element("label", {}, "Page", choice, `of ${nPages}`), next);
  }

  function turnTo(number) {
    page = number;
    show();
    write();
    list.focus({ preventScroll: true });
    pagers[0].scrollIntoView();
  }

  // Back undoes a step; the letters of one search are one step
  function write({ typing = false } = {}) {
    const state = new URLSearchParams();
    for (const name of fields) if (chosen(name)) state.set(name, chosen(name));
    if (page) state.set("page", page + 1);
    const hash = `#${state}`;
    if (hash !== (location.hash || "#")) {
      if (typing && isTyping) history.replaceState(null, "", hash);
      else history.pushState(null, "", hash);
      isTyping = typing;
    }
  }

  // Return the concept that an address names: #c-ID, or #ID as earlier versions of the page had it
  function linkedConcept() {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch {
      return null; // no address of ours
    }
    const concept = (name.startsWith("c-") && byId.get(name.slice(2))) || byId.get(name);
    return concept ? concept.row.id : null;
  }

  async function read() {
    isTyping = false;
    const linked = linkedConcept();
    const state = new URLSearchParams(linked ? "" : location.hash.slice(1));
    for (const name of fields) {
      const field = form.elements[name];
      field.value = state.get(name) || "";
      if (field.selectedIndex < 0) field.value = "";
    }
    page = Math.max(0, Math.floor(Number(state.get("page")) || 1) - 1);
    await show(linked);
    if (linked) {
      const section = document.getElementById(`c-${linked}`);
      section.focus({ preventScroll: true });
      section.scrollIntoView();
    }
  }

  function addOptions(name, options) {
    for (const [value, text] of options) {
      const option = element("option", { text });
      option.value = value;
      form.elements[name].append(option);
    }
  }

  async function start(loaded) {
    data = loaded;
    subsets = Object.values(data.subsets);
    concepts = data.concepts.map((row, place) => ({ row, place, text: allTexts(row) }));
    for (const concept of concepts)
      for (const id of [...(concept.row.aliases || []), concept.row.id]) byId.set(id, concept);
    const present = Object.entries(data.languages).filter(([code]) => concepts.some(({ row }) => textsOf(row)[code]));
    addOptions("language", present);
    const tasks = [...new Set(subsets.map(({ task }) => task))];
    addOptions("task", tasks.map(task => [task, `test items of ${task}`]));
    addOptions("model", Object.entries(data.models || {}));
    for (const label of form.querySelectorAll("[data-results]")) label.hidden = !tasks.length;
    form.elements.language.parentElement.hidden = !present.length;
    form.addEventListener("input", event => {
      page = 0;
      show();
      write({ typing: event.target.name === "q" });
    });
    form.addEventListener("reset", () =>
      setTimeout(() => {
        page = 0;
        show();
        write();
      }),
    );
    form.addEventListener("submit", event => event.preventDefault());
    empty.querySelector("button").addEventListener("click", () => form.reset());
    window.addEventListener("hashchange", read);
    form.hidden = false;
    await read();
    document.documentElement.dataset.ready = "concepts";
  }

  window.turkicIdiomConcepts = start;
  const inside = document.getElementById("concepts-data");
  if (inside) {
    start(JSON.parse(inside.textContent));
    if (!location.hash) form.elements.q.focus();
  }
})();
