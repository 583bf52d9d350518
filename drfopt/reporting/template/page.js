"use strict";
(() => {
  const root = document.documentElement;

  // ---- theme: the system's until somebody says otherwise ----
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to the ${dark() ? "light" : "dark"} theme`); };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  system.addEventListener("change", name);
  name();

  // ---- the numbers as a file ----
  const save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([document.getElementById("document").textContent], { type: "application/json" }));
    link.download = "report.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });

  // ---- tables: sorted by a heading, filtered by a word, turned by pages ----
  const PAGED = 30, FILTERED = 9, PHONE = 520, TABLET = 1000;
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  for (const box of document.querySelectorAll(".tabled")) {
    const body = box.querySelector("tbody");
    const rows = [...body.rows];
    const heads = [...box.querySelector("thead").rows].at(-1).cells;
    // On a narrow screen a row is a card, where closer columns would be cut off still: every cell says what it is.
    const above = [...box.querySelectorAll("thead tr:first-child:not(:last-child) th")].flatMap((head) => Array(head.colSpan).fill(head.textContent.trim()));
    const words_of = [...heads].map((head, column) => [above[column], head.textContent.trim()].filter(Boolean).join(": "));
    for (const row of rows) [...row.cells].forEach((cell, column) => { if (column) cell.dataset.label = words_of[column]; });
    const scroll = box.querySelector(".scroll");
    [...heads].forEach((head, column) => { if (above[column]) head.dataset.above = above[column]; });
    // On a wide one the last columns are folded away that closer ones leave no room for, until somebody asks for them.
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    scroll.before(more);
    let folded = heads.length, all = false;
    const fold = (from) => {
      if (from === folded) return;
      folded = from;
      for (const cells of [heads, ...rows.map((row) => row.cells)]) [...cells].forEach((cell, column) => cell.classList.toggle("fold", column >= from));
      let first = 0;
      for (const head of box.querySelectorAll("thead tr:first-child:not(:last-child) th")) {
        head.classList.toggle("fold", first >= from);
        first += head.colSpan;
      }
    };
    const fit = () => {
      box.classList.remove("close", "stacked");
      fold(heads.length);
      const cut = () => scroll.scrollWidth > scroll.clientWidth + 1;
      if (cut()) box.classList.add("close");
      const stacked = innerWidth <= PHONE || (innerWidth <= TABLET && cut()), wide = !stacked && cut();
      if (stacked) box.classList.replace("close", "stacked") || box.classList.add("stacked");
      if (wide && !all) {
        scroll.scrollLeft = 0;
        const room = scroll.getBoundingClientRect().left + scroll.clientWidth + 1;
        fold(Math.max(2, [...heads].findIndex((head) => head.getBoundingClientRect().right > room)));
        while (folded > 2 && cut()) fold(folded - 1);
      }
      more.hidden = !wide;
      const left = heads.length - folded;
      more.textContent = all ? "Fewer columns" : `${left} more column${left === 1 ? "" : "s"}: ${words_of.slice(folded).join(", ")}`;
      more.setAttribute("aria-expanded", all);
    };
    more.addEventListener("click", () => {
      all = !all;
      fit();
    });
    addEventListener("resize", fit);
    fit();
    if (rows.length < 2) continue;
    const tools = box.querySelector(".tools"), pager = box.querySelector(".pager");
    const input = tools.querySelector("input"), select = tools.querySelector("select");
    const status = pager.querySelector("p"), [back, next] = pager.querySelectorAll("button");
    const words = rows.map((row) => row.textContent.toLowerCase());
    const place = new Map(rows.map((row, index) => [row, index]));
    const paged = rows.length > PAGED;
    let order = rows, matching = rows, page = 0;

    // A full value stands in the title where the cell shows less of it.
    const value = (row, column) => {
      const cell = row.cells[column];
      if (!cell.classList.contains("n")) return cell.textContent;
      const number = Number(cell.title || cell.textContent.replace(/[^0-9.eE+-]/g, "") || NaN);
      return number;
    };

    const show = () => {
      const size = paged ? Number(select.value) || matching.length : rows.length;
      const last = Math.max(0, Math.ceil(matching.length / Math.max(size, 1)) - 1);
      page = Math.min(page, last);
      const shown = matching.slice(page * size, (page + 1) * size);
      body.replaceChildren(...shown);
      const unit = box.dataset.unit, all = rows.length.toLocaleString("en");
      const range = shown.length ? `${(page * size + 1).toLocaleString("en")}–${(page * size + shown.length).toLocaleString("en")}` : "none";
      const found = matching.length === rows.length ? "" : `${matching.length.toLocaleString("en")} found, `;
      status.textContent = `${found}${range} of ${found ? matching.length.toLocaleString("en") + " (" + all + " in all)" : all + " " + unit}`;
      back.hidden = next.hidden = last === 0;
      back.disabled = page === 0;
      next.disabled = page === last;
      fit();
    };

    const filter = () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      matching = order.filter((row) => wanted.every((word) => words[place.get(row)].includes(word)));
      page = 0;
      show();
    };

    const sort = (column) => {
      const head = heads[column];
      // Numbers first from the largest, names from A.
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      const way = head.getAttribute("aria-sort") === first ? other : first;
      for (const cell of heads) cell.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      const keys = rows.map((row) => value(row, column));
      order = rows.slice().sort((a, b) => {
        const [x, y] = [keys[place.get(a)], keys[place.get(b)]];
        if (typeof x === "string") return sign * collator.compare(x, y) || place.get(a) - place.get(b);
        // Who has no value stands last, whichever way.
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || place.get(a) - place.get(b);
        return sign * (x - y) || place.get(a) - place.get(b);
      });
      filter();
    };

    [...heads].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });
    tools.hidden = rows.length < FILTERED;
    pager.hidden = rows.length < FILTERED;
    tools.querySelector(".size").hidden = !paged;
    input.addEventListener("input", filter);
    select.addEventListener("change", () => { page = 0; show(); });
    back.addEventListener("click", () => { page -= 1; show(); if (back.disabled) next.focus(); });
    next.addEventListener("click", () => { page += 1; show(); if (next.disabled) back.focus(); });
    show();
  }

  // ---- drawings: the library is unpacked first; names only ever stand in their data ----
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };

  const draw = async () => {
    const script = document.createElement("script");
    script.textContent = await unpack(document.getElementById("library").textContent);
    document.head.append(script);
    const { config, figures } = JSON.parse(document.getElementById("drawings").textContent);
    const drawing = Object.entries(figures).map(async ([name, specs]) => {
      const figure = document.getElementById(name);
      const places = figure.querySelectorAll(".drawing");
      const drawn = await Promise.all(specs.map((spec, place) => vegaEmbed(places[place], spec, {
        mode: "vega-lite", renderer: "svg", ast: true, actions: false, config, defaultStyle: false,
        tooltip: { disableDefaultStyle: true }, loader: { load: () => Promise.reject(new Error("no network")) },
      })));
      const buttons = [...figure.querySelectorAll(".legend li")].map((entry) => {
        const button = document.createElement("button");
        button.type = "button";
        button.title = "Show this, and what else is chosen";
        button.setAttribute("aria-pressed", "false");
        button.append(...entry.childNodes);
        entry.append(button);
        return button;
      });
      buttons.forEach((button) => button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") === "false");
        const chosen = buttons.flatMap((one, key) => (one.getAttribute("aria-pressed") === "true" ? [key] : []));
        for (const { view } of drawn) view.signal("chosen", chosen).runAsync();
      }));
    });
    await Promise.all(drawing);
  };

  draw().finally(() => { root.dataset.ready = "yes"; });
})();
