// What the pages can do beside being read. Without it every table and figure is there as well.
"use strict";

(() => {
  // Tables of class `sortable`: sorted by a click or a key on a heading; longer ones can be
  // filtered and have pages. Tables that a page draws itself take the same defaults.
  const LONG = 25;
  const PRINTED = 2000; // longer tables are printed as they stand, a page of them
  const tables = [];

  function part(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

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

  // A cell over several columns has hidden ones behind it, so that each row has a cell a column;
  // in none of them it has a value.
  function fillRow(row) {
    for (const cell of [...row.cells].filter(({ colSpan }) => colSpan > 1)) {
      cell.dataset.order = "";
      for (let i = 1; i < cell.colSpan; i++) cell.after(part("td", { hidden: "", "data-order": "" }));
    }
  }

  // What rows sort by in a column: the keys of their cells if all have one, else the words of all
  // if some have, else nothing.
  function chosenKeys(keys, words) {
    const known = keys.filter((key) => key !== null).length;
    return known === keys.length ? keys : known ? words() : null;
  }

  function readRows(html) {
    const made = part("template", {});
    made.innerHTML = html;
    const rows = [...made.content.children];
    if (html.includes(" colspan=")) rows.forEach(fillRow);
    return rows;
  }

  // Many rows stand behind their table as text (macros.html, `kept_rows`). A row is read when it is
  // shown; what rows sort by is read while the page is idle, or at the first sorting.
  // What DataTables has to know of them.
  const CHUNK = 500;
  const idle = window.requestIdleCallback ?? setTimeout;
  function keptRows(text) {
    const data = text.split("</tr>").slice(0, -1).map((row) => ({ html: `${row.trimStart()}</tr>` }));
    const columns = []; // of each the keys and the words of its cells; `order`: what it sorts by
    let next = 0;
    const read = (end) => {
      for (; next < Math.min(end, data.length); next += CHUNK) {
        for (const row of readRows(data.slice(next, next + CHUNK).map(({ html }) => html).join(""))) {
          [...row.cells].forEach((cell, i) => {
            const column = (columns[i] ??= { keys: [], words: [] });
            column.keys.push(sortKey(cell));
            column.words.push(cell.textContent.trim());
          });
        }
      }
    };
    const readAhead = () => {
      read(next + CHUNK);
      if (next < data.length) idle(readAhead);
    };
    idle(readAhead);
    const order = ({ keys, words }) => {
      const found = chosenKeys(keys, () => words) ?? words;
      const plain = found.map((key) => String(key).replaceAll(/,(?=\d{3})/g, ""));
      const numbers = plain.every((key) => Number.isFinite(Number(key))); // "" is one, too
      return found.map((key, i) => (!numbers ? key.toLowerCase() : key === "" ? -Infinity : Number(plain[i])));
    };
    const readers = {
      sort: (_, row, i) => {
        read(data.length);
        return (columns[i].order ??= order(columns[i]))[row];
      },
      // with and without its accents, as DataTables has the words of other tables
      filter: (html, _, column) => (column ? "" : DataTable.util.diacritics(html.replaceAll(/<\/t[dh]>/g, " ").replaceAll(/<[^>]*>/g, ""), true)),
    };
    return {
      data,
      render: (_, type, { html }, { row, col }) => readers[type]?.(html, row, col) ?? "",
      createdRow: (shown, { html }) => {
        const [row] = readRows(html);
        for (const { name, value } of row.attributes) shown.setAttribute(name, value);
        shown.replaceChildren(...row.childNodes);
      },
    };
  }

  function makeSortable(table) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    if (table.tBodies.length !== 1 || rows.length < 2) return;
    const text = table.parentElement.querySelector(":scope > script.rows");
    const kept = text && keptRows(text.textContent);
    text?.remove();
    if (!kept && table.querySelector("tbody [colspan]")) rows.forEach(fillRow);
    const width = kept ? 0 : rows[0].cells.length;
    for (let i = 0; i < width; i++) {
      const cells = rows.map((row) => row.cells[i]);
      chosenKeys(cells.map(sortKey), () => cells.map((cell) => cell.textContent.trim()))
        ?.forEach((key, j) => { cells[j].dataset.order = key; });
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
      ...(kept ? { data: kept.data, createdRow: kept.createdRow } : {}),
      columnDefs: [
        { targets: ["unsorted"], orderable: false },
        ...(kept ? [{ targets: "_all", data: null, type: "kept", render: kept.render }] : []),
      ],
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
      const rows = table.rows({ order: "applied", search: "none" });
      const holds = ({ html }) => html?.includes(` id="${id}"`);
      const found = rows.data().toArray().findIndex(holds);
      const named = (node) => node?.id === id || node?.querySelector(`#${CSS.escape(id)}`);
      const row = found < 0 ? rows.nodes().toArray().findIndex(named) : found;
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
      orderClasses: false,
      pageLength: LONG,
      layout: { topStart: "search", topEnd: null, bottomStart: "info", bottomEnd: "paging" },
      initComplete: ({ table, tableWrapper }) => {
        const name = table.caption.textContent.trim();
        tableWrapper.querySelectorAll("nav").forEach((nav) => nav.setAttribute("aria-label", `Pages of ${name}`));
        tableWrapper.querySelectorAll(".dt-input").forEach((field) => field.setAttribute("aria-label", `Filter: ${name}`));
      },
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
    const either = (a, b) => (typeof a === "string" ? compare(a, b) : a < b ? -1 : Number(a > b));
    DataTable.type("kept", "order", { asc: either, desc: (a, b) => either(b, a) });
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

  // Numbers: a click on a cell of class `number`, in a table with a list of downloads behind it,
  // opens a card that says what the number is, which files it stands in, and what is behind it.
  // For the keyboard each table has one button, which the arrow keys move from number to number.
  // What is behind a number is an address, put together from `data-items` of the table (the
  // address), the headings, the row and the cell (more of its query); macros.html tells more. A
  // row may name in `data-files` those files of the list that it was made from; blank: none.
  const card = document.createElement("div");
  card.className = "card";
  card.popover = "auto";
  card.tabIndex = -1;
  card.setAttribute("role", "dialog");
  let current = null; // the cell that the card is about

  function downloadsOf(table) {
    const box = table.closest(".scroll-outer") ?? table.closest(".scroll") ?? table;
    const next = box.nextElementSibling;
    return next?.matches("ul.downloads, details.files") ? next.querySelector("ul.downloads") ?? next : table.closest("figure")?.querySelector("ul.downloads") ?? null;
  }

  const isNumber = (cell) => cell.matches("td.number") && /\d/.test(cell.textContent);
  const numbersOf = (row) => [...row.cells].filter(isNumber);
  const rowsOf = (table) => [...table.tBodies, ...(table.tFoot ? [table.tFoot] : [])].flatMap((part) => [...part.rows]);

  // The text of a cell without its drawing, with a space where an element begins.
  function textOf(cell) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walk.nextNode()) {
      if (!walk.currentNode.parentElement.closest("svg, .ask")) texts.push(walk.currentNode.data);
    }
    return texts.join(" ").replace(/\s+/g, " ").replace(/ (?=[,;])/g, "").trim();
  }

  // The headings over a cell, the widest first.
  function headsOf(table, cell) {
    let column = 0;
    for (let one = cell.previousElementSibling; one; one = one.previousElementSibling) column += one.hidden ? 0 : one.colSpan;
    const taken = [];
    [...(table.tHead?.rows ?? [])].forEach((row, y) => {
      let x = 0;
      for (const head of row.cells) {
        while (taken[y]?.[x]) x++;
        for (let dy = 0; dy < head.rowSpan; dy++) {
          for (let dx = 0; dx < head.colSpan; dx++) (taken[y + dy] ??= [])[x + dx] = head;
        }
        x += head.colSpan;
      }
    });
    return [...new Set(taken.map((row) => row[column]).filter(Boolean))];
  }

  // The names of a row: its cells before the first number; where it begins with its
  // number, those behind that.
  function namesOf(row) {
    const drawn = (cell) => cell.matches("td.number");
    const cells = [...row.cells];
    const named = cells.slice(Math.max(cells.findIndex((cell) => !drawn(cell)), 0));
    const end = named.findIndex(drawn);
    return named.slice(0, end < 0 ? 1 : end).map(textOf).filter(Boolean);
  }

  function itemsOf(table, heads, cell) {
    const { items } = cell.dataset;
    if (/^0(?!\s*%|[.,\d])/.test(textOf(cell))) return null; // none, whatever its share
    if (items === "-" || cell.parentElement.dataset.items === "-" || (items === undefined && heads.at(-1)?.dataset.items === undefined)) return null;
    const parts = [table, ...heads, cell.parentElement, cell].map((node) => node.dataset.items).filter(Boolean);
    const [page, query] = (parts.filter((part) => part.includes("#")).pop() ?? "").split("#?");
    if (!page) return null;
    const asks = new URLSearchParams(query);
    for (const part of parts) {
      if (!part.includes("#")) for (const [name, value] of new URLSearchParams(part)) asks.set(name, value);
    }
    return `${page}#?${asks}`;
  }

  function openCard(cell) {
    const table = cell.closest("table");
    const heads = headsOf(table, cell);
    const value = cell.innerText.replace(/\s+/g, " ").trim();
    const lines = [
      ["Row", namesOf(cell.parentElement)],
      ["Column", heads.map(textOf).filter(Boolean)],
      ["Table", [textOf(table.caption)]],
    ].filter(([, texts]) => texts.length);
    const items = itemsOf(table, heads, cell);
    const named = table.dataset.called ?? "items";
    const behind = cell.dataset.link ?? ("none" in cell.dataset ? `None of these ${named}` : `The ${named} behind it`);
    const files = downloadsOf(table).cloneNode(true);
    const own = cell.parentElement.dataset.files?.split(" "); // the row's, where it names some or none
    if (own) files.replaceChildren(...[...files.children].filter((line) => own.includes(line.querySelector("bdi")?.textContent)));
    const stands = ["No result of this run stands behind it.", "It stands in this result, or is made from it:"][files.children.length]
      ?? "It stands in these results, or is made from them:";
    const close = part("button", { type: "button", class: "close" }, "Close");
    close.addEventListener("click", () => card.hidePopover());
    card.setAttribute("aria-label", `About ${value}`);
    card.replaceChildren(
      part("p", { class: "card-value" }, value),
      part("dl", { class: "pairs" }, ...lines.flatMap(([name, texts]) => [
        part("dt", {}, name),
        part("dd", {}, ...texts.flatMap((text, i) => [i ? ", " : "", part("bdi", {}, text)]))])),
      ...(items ? [part("p", {}, part("a", { href: items }, behind))] : []),
      part("p", { class: "small" }, stands),
      ...(files.children.length ? [files] : []),
      close,
    );
    current = cell;
    settle(table, cell);
    buttons.get(table).focus({ preventScroll: true }); // which gets the focus back
    card.showPopover();
    const at = cell.getBoundingClientRect();
    const room = document.documentElement;
    const left = Math.min(at.right + 6, room.clientWidth - card.offsetWidth - 8);
    const below = at.right + 6 + card.offsetWidth + 8 > room.clientWidth; // or it would lie over the number
    card.style.left = `${scrollX + Math.max(left, 8)}px`;
    const high = below ? at.bottom + 4 : Math.min(at.top, innerHeight - card.offsetHeight - 8);
    const above = below && high + card.offsetHeight > innerHeight && at.top > card.offsetHeight + 4;
    card.style.top = `${scrollY + (above ? at.top - card.offsetHeight - 4 : Math.max(high, 8))}px`;
    card.focus({ preventScroll: true });
  }

  // The table's button, in this cell or, if it is nowhere to be seen, in the first number.
  const buttons = new WeakMap();
  function settle(table, cell) {
    let button = buttons.get(table);
    if (!cell && button && table.contains(button)) return;
    for (const row of cell ? [] : rowsOf(table)) if ((cell = numbersOf(row)[0])) break;
    if (!cell) return;
    if (!button) {
      button = part("button", { type: "button", class: "ask", "aria-haspopup": "dialog" });
      button.addEventListener("keydown", moveOn);
      buttons.set(table, button);
    }
    button.setAttribute("aria-label", `${textOf(cell)}: where it comes from`);
    cell.append(button);
  }

  function moveOn(event) {
    const button = event.currentTarget;
    const cell = button.closest("td");
    const table = cell.closest("table");
    const numbers = numbersOf(cell.parentElement);
    const rows = rowsOf(table).filter((row) => numbersOf(row).length);
    const across = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    let next = null;
    if (across) next = numbers[numbers.indexOf(cell) + across];
    else if (down) {
      const row = rows[rows.indexOf(cell.parentElement) + down];
      const there = row && row.cells[cell.cellIndex];
      next = there && isNumber(there) ? there : row && numbersOf(row)[0];
    } else return;
    event.preventDefault();
    if (!next) return;
    settle(table, next);
    button.focus();
  }

  // A link to what is folded unfolds it.
  function unfold() {
    const target = document.querySelector(":target");
    let one = target?.querySelector(":scope > .fold") ?? target?.closest("details");
    if (!one || one.open) return;
    for (; one; one = one.parentElement.closest("details")) one.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();

  const withFiles = [...document.querySelectorAll("main table")].filter((table) => downloadsOf(table) && rowsOf(table).some((row) => numbersOf(row).length));
  if (withFiles.length) {
    document.body.append(card);
    for (const table of withFiles) {
      table.classList.add("has-cards");
      settle(table);
    }
    for (const table of tables) table.on("draw", () => downloadsOf(table.table().node()) && settle(table.table().node()));
    let closed = null; // the cell whose card the click has closed
    addEventListener("pointerdown", () => { closed = card.matches(":popover-open") ? current : null; }, { capture: true });
    document.addEventListener("click", (event) => {
      const cell = event.target.closest("table.has-cards td.number");
      const button = event.target.closest(".ask");
      if (!cell || !isNumber(cell) || (!button && event.target.closest("a, button, input, label, summary, svg"))) return;
      if (cell === closed || !getSelection().isCollapsed) return;
      openCard(cell);
    });
  }
})();
