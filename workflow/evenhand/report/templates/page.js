// What the pages can do beside being read. Without it every table and figure is there as well.
"use strict";

(() => {
  // Tables of class `sortable`: sorted by a click or a key on a heading; longer ones can be
  // filtered and have pages. Tables that a page draws itself take the same defaults.
  const LONG = 25;
  const PRINTED = 2000; // longer tables are printed as they stand, a page of them
  const tables = [];

  // What a cell sorts by: data-order if it has one, else the first number in a cell of class
  // `number`, which may have an interval or a word beside it.
  function sortKey(cell) {
    if (cell.hasAttribute("data-order")) return cell.getAttribute("data-order");
    if (!cell.classList.contains("number")) return null;
    const text = words(cell, ".aside, .spread").replaceAll("−", "-").replace(/(\d),(?=\d{3})/g, "$1");
    const found = text.match(/^[<>+●\s]*(-?\d+(\.\d+)?(e-?\d+)?)/i);
    if (found) return String(text.startsWith("<") ? found[1] / 2 : Number(found[1]));
    return /^[–—-]?$/.test(text) ? "" : null;
  }

  // The text of an element without that of some parts.
  function words(node, without) {
    if (node.firstElementChild && node.querySelector(without)) {
      node = node.cloneNode(true);
      node.querySelectorAll(without).forEach((part) => part.remove());
    }
    return node.textContent.trim();
  }

  // A cell over several columns has hidden ones behind it, so that each row has a cell a column.
  function fillRow(row) {
    for (const cell of [...row.cells]) {
      for (let i = 1; i < cell.colSpan; i++) {
        cell.after(Object.assign(document.createElement("td"), { hidden: true }));
      }
    }
  }

  function makeSortable(table) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (table.tBodies.length !== 1 || rows.length < 2) return;
    if (table.querySelector("tbody [colspan]")) rows.forEach(fillRow);
    const width = rows[0].cells.length;
    for (let i = 0; i < width; i++) {
      const keys = rows.map((row) => sortKey(row.cells[i]));
      const known = keys.filter((key) => key !== null).length;
      if (known === rows.length) rows.forEach((row, j) => { row.cells[i].dataset.order = keys[j]; });
      else if (known) rows.forEach((row) => { row.cells[i].dataset.order = row.cells[i].textContent.trim(); });
    }
    // a heading over several columns sorts by none of them
    table.tHead.querySelectorAll("[scope=colgroup]").forEach((head) => { head.dataset.dtOrder = "disable"; });
    // its button is called like the heading, signs of markup in it included
    const heads = [...table.tHead.querySelectorAll("th")];
    heads.forEach((head) => head.setAttribute("aria-label", head.textContent.trim()));
    const long = rows.length > LONG;
    table.tBodies[0].hidden = true; // or all rows are laid out, of which a page is shown
    const made = new DataTable(table, {
      paging: long,
      searching: long,
      info: long,
      ...(long ? {} : { layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null } }),
      columnDefs: [{ targets: ["plot", "drawing", "unsorted"], orderable: false }],
    });
    heads.forEach((head) => head.removeAttribute("aria-label"));
    table.tBodies[0].hidden = false;
    // the filter and the pages stay where they are while the table scrolls
    const box = table.closest(".scroll");
    const inner = made.table().container().querySelector(".dt-layout-table");
    if (box && inner) {
      for (const name of ["role", "aria-label", "tabindex"]) {
        if (box.hasAttribute(name)) inner.setAttribute(name, box.getAttribute(name));
        box.removeAttribute(name);
      }
      box.classList.replace("scroll", "scroll-outer");
      inner.classList.add("scroll");
    }
    tables.push(made);
  }

  // A link to a row that lies on another page of its table turns to that page.
  function turnToTarget() {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch { /* a lone % is itself */ }
    if (!id || document.getElementById(id)) return;
    for (const table of tables) {
      const nodes = table.rows({ order: "applied", search: "none" }).nodes().toArray();
      const row = nodes.findIndex((node) => node.id === id || node.querySelector(`#${CSS.escape(id)}`));
      if (row < 0) continue;
      table.search("").page(Math.floor(row / table.page.len())).draw("page");
      document.getElementById(id)?.scrollIntoView();
      return;
    }
  }

  if (window.DataTable) {
    Object.assign(DataTable.defaults, {
      autoWidth: false,
      order: [],
      pageLength: LONG,
      layout: { topStart: "search", topEnd: null, bottomStart: "info", bottomEnd: "paging" },
    });
    Object.assign(DataTable.defaults.language, {
      search: "Filter:",
      info: "Rows _START_ to _END_ of _TOTAL_",
      infoEmpty: "No rows",
      infoFiltered: "(filtered from _MAX_)",
      zeroRecords: "No row holds these words.",
    });
    // Words in other letters than English ones: as DataTables orders them, but with one collator
    // for all of them, which is ten times as fast with 20,000 rows.
    const { compare } = new Intl.Collator(navigator.languages[0], { numeric: true, ignorePunctuation: true });
    const pre = (value) => DataTable.util.stripHtml(String(value ?? "")).toLowerCase();
    for (const name of ["string-utf8", "html-utf8"]) {
      DataTable.type(name, "order", { pre, asc: compare, desc: (a, b) => compare(b, a) });
    }
    document.querySelectorAll("table.sortable").forEach(makeSortable);
    turnToTarget();
    addEventListener("hashchange", turnToTarget);
    const lengths = new Map();
    addEventListener("beforeprint", () => {
      for (const table of tables) {
        if (table.rows().count() > PRINTED || table.page.len() < 0) continue;
        lengths.set(table, table.page.len());
        table.page.len(-1).draw();
      }
    });
    addEventListener("afterprint", () => {
      lengths.forEach((length, table) => table.page.len(length).draw());
      lengths.clear();
    });
  }

  // Figures: the value of a mark (its <title>) beside it, for a mouse, a finger, and the arrow
  // keys while the figure has the focus.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  let shown = null;

  function show(mark) {
    if (shown === mark) return;
    shown?.classList.remove("shown");
    shown = mark;
    tip.hidden = !mark;
    if (!mark) return;
    mark.classList.add("shown");
    tip.textContent = mark.dataset.tip;
    place();
  }

  function place() {
    if (!shown) return;
    const at = shown.getBoundingClientRect();
    const middle = Math.min(Math.max(at.left, 0), innerWidth) / 2 + Math.min(Math.max(at.right, 0), innerWidth) / 2;
    const left = Math.min(Math.max(middle - tip.offsetWidth / 2, 4), innerWidth - tip.offsetWidth - 4);
    const above = at.top - tip.offsetHeight - 6;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${above > 0 ? above : at.bottom + 6}px`;
  }

  const titles = document.querySelectorAll("svg.figure title");
  if (titles.length) {
    document.body.append(tip);
    for (const title of titles) {
      title.parentNode.dataset.tip = title.textContent;
      title.remove(); // or the browser shows it a second time
    }
    const markAt = (event) => event.target.closest?.("svg.figure [data-tip]") ?? null;
    // A mouse that rests while keys move the page takes nothing from them.
    let mouse = "";
    let rested = null; // where it was when a key was pressed
    addEventListener("pointermove", (event) => { mouse = `${event.screenX} ${event.screenY}`; }, { passive: true });
    addEventListener("pointerover", (event) => {
      if (event.pointerType !== "mouse" || tip.contains(event.target)) return;
      const here = `${event.screenX} ${event.screenY}`;
      if (rested === "") rested = here;
      if (rested === here) return;
      rested = null;
      show(markAt(event));
    });
    addEventListener("pointerdown", (event) => show(markAt(event)));
    addEventListener("scroll", place, { passive: true, capture: true });
    for (const svg of document.querySelectorAll("figure svg.figure:not(.sample)")) {
      const marks = [...svg.querySelectorAll("[data-tip]")];
      if (!marks.length) continue;
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("blur", () => show(null));
      svg.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") show(null);
        if (!step) return;
        event.preventDefault();
        rested = mouse;
        const i = marks.indexOf(shown);
        show(marks[i < 0 ? (step > 0 ? 0 : marks.length - 1) : (i + step + marks.length) % marks.length]);
      });
    }
    addEventListener("keydown", (event) => event.key === "Escape" && show(null));
  }

  // The drawing of a figure as a file of its own: the styles that the page gives it become its
  // own, and its legend stands below it.
  const STYLES = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
    "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "vector-effect",
  ];
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = 16;

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function standalone(svg) {
    const copy = svg.cloneNode(true);
    const copies = [copy, ...copy.querySelectorAll("*")];
    [svg, ...svg.querySelectorAll("*")].forEach((original, i) => {
      const style = getComputedStyle(original);
      for (const name of STYLES) copies[i].setAttribute(name, style.getPropertyValue(name));
      copies[i].removeAttribute("tabindex");
      copies[i].removeAttribute("class");
      const { tip: words } = copies[i].dataset;
      delete copies[i].dataset.tip;
      if (words !== undefined) copies[i].prepend(element("title", {}, words));
    });
    copy.setAttribute("overflow", "visible");
    return copy;
  }

  function picture(figure) {
    const body = getComputedStyle(document.body);
    const inner = [];
    let [width, y] = [0, MARGIN];
    const words = (text, x, size) => {
      inner.push(element("text", { x, y: y + size, "font-size": size, "font-family": body.fontFamily, fill: body.color }, text));
    };
    for (const svg of figure.querySelectorAll("svg.figure:not(.sample)")) {
      const { width: w, height: h } = svg.getBoundingClientRect();
      const copy = standalone(svg);
      for (const [key, value] of Object.entries({ x: MARGIN, y, width: w, height: h })) copy.setAttribute(key, value);
      inner.push(copy);
      width = Math.max(width, w);
      y += h + 8;
    }
    for (const line of figure.querySelectorAll(".legend li")) {
      const sample = line.querySelector("svg");
      if (sample) {
        const copy = standalone(sample);
        copy.setAttribute("x", MARGIN);
        copy.setAttribute("y", y + 4);
        inner.push(copy);
      }
      words(line.textContent.trim(), MARGIN + 40, 12);
      y += 18;
    }
    const [w, h] = [Math.ceil(width + 2 * MARGIN), Math.ceil(y + MARGIN)];
    const root = element("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}` });
    const label = figure.querySelector("svg.figure:not(.sample)").getAttribute("aria-label");
    if (label) root.append(element("title", {}, label));
    root.append(element("rect", { width: w, height: h, fill: body.backgroundColor }), ...inner);
    return new XMLSerializer().serializeToString(root);
  }

  [...document.querySelectorAll("figure")].forEach((figure, i) => {
    if (!figure.querySelector("svg.figure:not(.sample)")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "SVG";
    const name = figure.querySelector("figcaption")?.textContent.trim() ?? "";
    button.setAttribute("aria-label", `Save this figure as SVG: ${name}`);
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([picture(figure)], { type: "image/svg+xml" }));
      const page = location.pathname.split("/").pop().replace(/\.html$/, "") || "page";
      link.download = `${figure.id || `${page}-figure-${i + 1}`}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    figure.append(button);
  });
})();
