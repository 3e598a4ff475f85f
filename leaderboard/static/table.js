// Search, filters and sorting of the one board of a page; what is chosen stands in the address after #.
(() => {
  "use strict";
  const table = document.querySelector("table.board");
  if (!table) return;
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  const marks = /[\u0300-\u036f'\u02bb\u02bc]/g;
  const fold = text => text.toLowerCase().normalize("NFD").replace(marks, "").replace(/ı/g, "i");
  const rows = [...body.rows].map((element, place) => ({
    element,
    place,
    text: fold(element.cells[1].textContent),
    values: [...element.cells].map(cell => (cell.dataset.v === undefined ? null : Number(cell.dataset.v))),
  }));
  const isText = headers.map((_, column) => rows.every(row => row.values[column] === null));
  const names = rows.map(row => row.element.cells[1].textContent.toLowerCase());
  const start = { sort: "rank", order: "ascending" };
  let sorting = { ...start };

  const first = column => headers[column].dataset.first || "descending";
  const columnOf = key => headers.findIndex(header => header.dataset.key === key);

  function compare(column, sign) {
    if (!isText[column])
      return (a, b) => {
        const [x, y] = [a.values[column], b.values[column]];
        if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
        return sign * (x - y) || a.place - b.place;
      };
    const text = row => (column === 1 ? names[row.place] : row.element.cells[column].textContent);
    return (a, b) => sign * text(a).localeCompare(text(b), "en") || a.place - b.place;
  }

  function sort() {
    const column = columnOf(sorting.sort);
    const sign = sorting.order === "ascending" ? 1 : -1;
    headers.forEach((header, index) => {
      if (index === column) header.setAttribute("aria-sort", sorting.order);
      else header.removeAttribute("aria-sort");
    });
    table.classList.toggle("grouped", sorting.sort === start.sort);
    body.append(...[...rows].sort(compare(column, sign)).map(row => row.element));
  }

  function filter() {
    const words = fold(form.elements.q.value).split(/\s+/).filter(Boolean);
    const chosen = ["type", "size", "regime"].map(name => [name, form.elements[name].value]).filter(([, value]) => value);
    const language = form.elements.language.value;
    let shown = 0;
    for (const row of rows) {
      const fits =
        words.every(word => row.text.includes(word)) &&
        chosen.every(([name, value]) => row.element.dataset[name] === value) &&
        (!language || row.element.dataset.languages.split(" ").includes(language));
      row.element.hidden = !fits;
      shown += fits;
    }
    headers.forEach((header, column) => {
      const hidden = Boolean(language) && "language" in header.dataset && header.dataset.language !== language;
      if (header.hidden === hidden) return;
      for (const row of table.rows) row.cells[column].hidden = hidden;
    });
    count.textContent = `${shown} of ${rows.length} shown`;
  }

  function write() {
    const state = new URLSearchParams();
    for (const name of ["q", "type", "size", "regime", "language"])
      if (form.elements[name].value) state.set(name, form.elements[name].value);
    if (sorting.sort !== start.sort || sorting.order !== start.order)
      for (const name of ["sort", "order"]) state.set(name, sorting[name]);
    const hash = `#${state}`;
    if (hash !== (location.hash || "#")) history.replaceState(null, "", hash);
  }

  function read() {
    const state = new URLSearchParams(location.hash.slice(1));
    form.elements.q.value = state.get("q") || "";
    for (const name of ["type", "size", "regime", "language"]) {
      const select = form.elements[name];
      select.value = state.get(name) || "";
      if (select.selectedIndex < 0) select.value = "";
    }
    const order = state.get("order") === "descending" ? "descending" : "ascending";
    sorting = columnOf(state.get("sort") || "") < 0 ? { ...start } : { sort: state.get("sort"), order };
    sort();
    filter();
  }

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
  form.addEventListener("input", () => {
    filter();
    write();
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
  window.addEventListener("hashchange", read);
  read();
  form.hidden = false;
  document.documentElement.dataset.ready = "table";
})();
