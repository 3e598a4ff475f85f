// Concepts side by side: search, filters, pages, and a link to each concept. What is chosen stands in the address after
// #. The data stand in the page, or a second script hands them to turkicIdiomConcepts.
(() => {
  "use strict";
  const form = document.getElementById("concept-filters");
  const list = document.getElementById("concept-list");
  const count = document.getElementById("concept-count");
  const empty = document.getElementById("no-concept");
  const pagers = [...document.querySelectorAll(".pager")];
  const fields = ["q", "language", "task", "order"];
  const marks = /[\u0300-\u036f'`\u00b4\u2018\u2019\u201b\u02b9\u02bb\u02bc]/g;
  let data = null;
  let concepts = []; // {row, text, hardness by task}
  let byId = new Map(); // id, or former id -> concept
  let page = 0;
  let isTyping = false; // whether the last change of the address was one of the search

  // Letters that are easily typed: no marks, no apostrophes, ı and ə as i and e
  function fold(text) {
    return text.toLowerCase().normalize("NFD").replace(marks, "").replace(/ı/g, "i").replace(/ə/g, "e");
  }

  function allTexts(row) {
    const texts = [row.id, row.gloss];
    for (const entry of Object.values(row.entries)) {
      texts.push(entry.idiom, ...(entry.variants || []));
      for (const field of Object.keys(data.labels))
        if (entry[field]) texts.push(field === "example" ? entry[field].map(([text]) => text).join("") : entry[field]);
    }
    for (const [, query, answer] of row.items || []) texts.push(query, answer);
    return fold(texts.join("\n"));
  }

  // Share of models, over the languages of a task or of all tasks, that solve a concept; null where nobody tried
  function solvedShare(row, task) {
    let [solved, tried] = [0, 0];
    for (const [subset, , , n] of row.items || []) {
      if (task && data.subsets[subset].task !== task) continue;
      solved += n;
      tried += data.subsets[subset].models;
    }
    return tried ? solved / tried : null;
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

  const solvedWords = task => (task === "Spans" ? "marked exactly by" : "placed first by");

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
    link.setAttribute("aria-label", `Link to ${row.id}`);
    const id = element("code", { text: row.id });
    section.append(element("h2", {}, row.gloss ? `${row.gloss} ` : "", id, " ", link));
    const chosen = form.elements.language.value;
    const codes = Object.keys(data.languages).filter(code => row.entries[code]);
    codes.sort((one, other) => (other === chosen) - (one === chosen));
    section.append(element("div", { className: "languages" }, ...codes.map(code => showEntry(code, row.entries[code]))));
    if (row.items) section.append(showItems(row, row.id === linked));
    return section;
  }

  function chosenConcepts() {
    const words = fold(form.elements.q.value).split(/\s+/).filter(Boolean);
    const [language, task] = ["language", "task"].map(name => form.elements[name].value);
    const hasTask = row => (row.items || []).some(([subset]) => data.subsets[subset].task === task);
    const chosen = concepts.filter(
      ({ row, text }) =>
        words.every(word => text.includes(word)) && (!language || row.entries[language]) && (!task || hasTask(row)),
    );
    if (form.elements.order.value !== "hardest") return chosen;
    const shares = new Map(chosen.map(concept => [concept, solvedShare(concept.row, task) ?? 2])); // the untried last
    return chosen.sort((one, other) => shares.get(one) - shares.get(other) || one.place - other.place);
  }

  function show(linked) {
    const chosen = chosenConcepts();
    const nPages = Math.max(1, Math.ceil(chosen.length / data.per_page));
    const place = linked ? chosen.findIndex(({ row }) => row.id === linked) : -1;
    page = place >= 0 ? Math.floor(place / data.per_page) : Math.min(page, nPages - 1);
    const start = page * data.per_page;
    const shown = chosen.slice(start, start + data.per_page);
    list.replaceChildren(...shown.map(concept => showConcept(concept, linked)));
    const range = nPages > 1 ? `${start + 1}–${start + shown.length} of ` : "";
    count.textContent = `${range}${chosen.length} concept${chosen.length === 1 ? "" : "s"}`;
    empty.hidden = chosen.length > 0;
    for (const pager of pagers) showPager(pager, nPages);
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
    for (const name of fields) if (form.elements[name].value) state.set(name, form.elements[name].value);
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

  function read() {
    isTyping = false;
    const linked = linkedConcept();
    const state = new URLSearchParams(linked ? "" : location.hash.slice(1));
    for (const name of fields) {
      const field = form.elements[name];
      field.value = state.get(name) || "";
      if (field.selectedIndex < 0) field.value = "";
    }
    page = Math.max(0, Math.floor(Number(state.get("page")) || 1) - 1);
    show(linked);
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

  function start(loaded) {
    data = loaded;
    concepts = data.concepts.map((row, place) => ({ row, place, text: allTexts(row) }));
    for (const concept of concepts)
      for (const id of [...(concept.row.aliases || []), concept.row.id]) byId.set(id, concept);
    const present = Object.entries(data.languages).filter(([code]) => concepts.some(({ row }) => row.entries[code]));
    addOptions("language", present);
    const tasks = [...new Set(Object.values(data.subsets).map(({ task }) => task))];
    addOptions("task", tasks.map(task => [task, `test items of ${task}`]));
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
    read();
    document.documentElement.dataset.ready = "concepts";
  }

  window.turkicIdiomConcepts = start;
  const inside = document.getElementById("concepts-data");
  if (inside) {
    start(JSON.parse(inside.textContent));
    if (!location.hash) form.elements.q.focus();
  }
})();
