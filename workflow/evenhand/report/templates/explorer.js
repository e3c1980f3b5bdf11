// Finds, sorts and opens the rows of sentences.html. What the data are is said in
// report/sections/explorer.py. Data become text nodes only, never markup.
"use strict";

(() => {
  const PAGE = 25;
  const WAIT = 120; // milliseconds after a key before the search begins
  const COLUMNS = { text: 0, value: 1, beside: 2, difference: 3, size: 4, gap: 5 };
  const parsed = new Map(); // by the id of the block; a block is read when it is first needed

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== "" && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const decoded = (column, row) => column.values[column.codes[row]];

  function collectionOf(block) {
    if (!parsed.has(block)) {
      const found = JSON.parse(document.getElementById(block).textContent);
      for (const measure of found.measures) {
        measure.reasons = new Map();
        for (const [reason, rows] of Object.entries(measure.why)) {
          for (const row of rows) measure.reasons.set(row, reason);
        }
        measure.unknown = new Set(measure.unknown);
      }
      parsed.set(block, found);
    }
    return parsed.get(block);
  }

  function signed(value, digits) {
    const text = (Math.abs(value) / 10 ** digits).toFixed(digits);
    return value > 0 ? `+${text}` : value < 0 ? `−${text}` : text;
  }

  // The counterpart of a row: the same pieces with other words at the marks, or pieces of its own.
  function otherPieces(collection, row) {
    if (collection.other) return collection.other[row];
    const word = decoded(collection.swap, row);
    return collection.text[row].map((piece, i) => (i % 2 ? word : piece));
  }

  function sentence(collection, row, side) {
    const pieces = side ? otherPieces(collection, row) : collection.text[row];
    const kind = decoded(collection.mark, row)[side];
    const nodes = pieces.map((text, i) => (i % 2 ? make("mark", { class: kind }, text) : text));
    return make("bdi", { class: side ? "sentence other" : "sentence", lang: collection.lang }, ...nodes);
  }

  function address(collection, row) {
    return `#${collection.key}/${encodeURIComponent(collection.id[row])}`;
  }

  function place(collection, row) {
    const at = collection.position[row];
    return at === null ? null : `${collection.position_name} ${at}`;
  }

  // A number with its bar; the bar says nothing that the number does not.
  function number(collection, value, digits, reach) {
    const { plus, minus } = collection.words;
    const bar = make("span", { class: "lean-bar", "aria-hidden": "true" });
    const share = Math.min(Math.abs(value) / reach, 1) * 50;
    const part = make("span", { class: value < 0 ? minus : plus });
    part.style.left = `${value < 0 ? 50 - share : 50}%`;
    part.style.width = `${share}%`;
    bar.append(part);
    return make("span", { class: "lean" }, make("span", { class: "number" }, signed(value, digits)), bar);
  }

  function measured(collection, measure, row) {
    const value = measure.values[row];
    const said = make("span", {});
    if (value !== null) said.append(number(collection, value, measure.digits, measure.reach));
    else said.append(make("span", { class: "small" }, `No number: ${measure.reasons.get(row) ?? "not known"}`));
    if (measure.unknown.has(row)) {
      said.append(make("span", { class: "small warning unknown" }, "holds signs unknown to the model"));
    }
    return said;
  }

  // Rows without a number stand last, whichever way the others are sorted.
  DataTable.type("lean", {
    order: {
      asc: (a, b) => (a === null ? (b === null ? 0 : 1) : b === null ? -1 : a - b),
      desc: (a, b) => (a === null ? (b === null ? 0 : 1) : b === null ? -1 : b - a),
    },
  });

  class Explorer {
    constructor(root) {
      this.root = root;
      this.blocks = root.dataset.blocks.split(" ");
      this.form = root.querySelector("form");
      this.asks = this.form.elements;
      this.article = root.querySelector("article");
      this.unfound = root.querySelector(".unfound");
      this.drawTable();
      this.choose(this.blocks[0]);
      this.form.hidden = false;
      root.querySelector(".without-script").remove();
      this.listen();
    }

    drawTable() {
      const element = this.root.querySelector("table");
      element.tHead.remove();
      element.tBodies[0].remove();
      const heads = Object.keys(COLUMNS).map((name) =>
        make("th", { scope: "col", class: name === "text" ? "" : "number" }, name));
      element.append(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}));
      // on a phone rows are drawn as blocks, which would take their roles away
      element.setAttribute("role", "table");
      element.tBodies[0].setAttribute("role", "rowgroup");
      const column = (name, value, display) => ({
        data: null,
        name,
        type: "lean",
        searchable: false,
        visible: name === "text" || name === "value",
        orderSequence: name === "text" ? ["asc", "desc"] : ["desc", "asc"],
        className: name === "text" ? "" : "measured",
        render: (_, type, { row }) => (type === "display" ? display(row) : value(row)),
      });
      this.table = new DataTable(element, {
        data: [],
        columns: [
          column("text", (row) => row, (row) => this.cell(row)),
          column("value", (row) => this.value(row), (row) => this.measureCell(this.measure, row)),
          column("beside", (row) => this.besideValue(row), (row) => this.measureCell(this.beside, row)),
          column("difference", (row) => this.difference(row), (row) => this.differenceCell(row)),
          column("size", (row) => size(this.value(row)), () => ""),
          column("gap", (row) => size(this.difference(row)), () => ""),
        ],
        createdRow: (tr, _, __, cells) => {
          tr.setAttribute("role", "row");
          for (const cell of cells) cell.setAttribute("role", "cell");
        },
        autoWidth: false,
        deferRender: true,
        searching: true,
        pageLength: PAGE,
        order: [],
        layout: { topStart: "info", topEnd: "paging", bottomStart: null, bottomEnd: "paging" },
        language: {
          info: "Rows _START_ to _END_ of _TOTAL_",
          infoEmpty: "No rows",
          infoFiltered: "(of _MAX_)",
          zeroRecords: "No row fits what was asked.",
        },
      });
      this.table.search.fixed("asked", (_, { row }) => this.keep[row] === 1);
      this.table.on("order", () => this.tellOrder());
    }

    // Another collection: its models, kinds and rows.
    choose(block) {
      this.block = block;
      const collection = (this.collection = collectionOf(block));
      this.asks.collection.value = collection.key;
      this.haystack = null;
      this.fill(this.asks.measure, collection.measures.map((one, i) => [i, one.name]));
      this.asks.measure.closest("label").hidden = !collection.measures.length;
      this.asks.lean.closest("label").hidden = !collection.measures.length;
      this.root.querySelector(".swapped-name").textContent = collection.words.other.toLowerCase();
      this.asks.swapped.checked = Boolean(collection.other);
      this.showOther();
      this.asks.words.value = "";
      const meaning = this.root.querySelector(".meaning");
      meaning.textContent = `${collection.words.value}: ${collection.words.meaning}.`;
      meaning.hidden = !collection.measures.length;
      const [one, other] = collection.mark.values[0] ?? [];
      const key = this.root.querySelector(".key");
      key.replaceChildren(
        make("span", {}, make("mark", { class: one }, collection.words.text)),
        make("span", {}, make("mark", { class: other }, collection.words.other)));
      key.hidden = !collection.other;
      this.fillFilters();
      this.keep = new Uint8Array(collection.id.length).fill(1);
      this.rows = collection.id.map((_, row) => ({ row }));
      this.chooseMeasure();
      this.table.order([COLUMNS[collection.measures.length ? "size" : "text"], collection.measures.length ? "desc" : "asc"]).draw();
      this.tellOrder();
    }

    showOther() {
      this.root.classList.toggle("without-other", !this.asks.swapped.checked);
    }

    fill(select, options) {
      select.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
    }

    fillFilters() {
      const { facts } = this.collection;
      const labels = facts.flatMap((fact, i) => {
        const known = fact.values.map((value, code) => [code, value]).filter(([, value]) => value !== null);
        if (!fact.filter || known.length + fact.values.includes(null) < 2) return [];
        const counts = new Uint32Array(fact.values.length);
        for (const code of fact.codes) counts[code] += 1;
        const select = make("select", { name: `fact-${i}`, "data-fact": i });
        this.fill(select, [["", "All"], ...known.map(([code, value]) => [code, `${value} (${counts[code]})`])]);
        if (fact.lang) for (const option of [...select.options].slice(1)) option.lang = fact.lang;
        return [make("label", {}, `${fact.name} `, select)];
      });
      this.root.querySelector(".filters").replaceChildren(...labels);
    }

    // Another model: what stands beside it, the ways to lean and to order, the headings.
    chooseMeasure() {
      const { measures, words, threshold } = this.collection;
      this.measure = measures[this.asks.measure.value] ?? null;
      const before = this.asks.beside.value;
      const others = measures
        .map((one, i) => [i, one])
        .filter(([, one]) => this.measure && one !== this.measure && one.method === this.measure.method);
      this.fill(this.asks.beside, [["", "Nothing"], ...others.map(([i, one]) => [i, one.model])]);
      this.asks.beside.value = others.some(([i]) => String(i) === before) ? before : "";
      this.asks.beside.closest("label").hidden = !others.length;
      this.beside = measures[this.asks.beside.value || -1] ?? null;
      const lean = this.asks.lean.value;
      const beyond = threshold ? ` (beyond ${threshold})` : "";
      this.fill(this.asks.lean, [
        ["", "All"], ["plus", words.leans_plus + beyond], ["minus", words.leans_minus + beyond],
        ["between", threshold ? "between" : "neither"], ["none", "no number"], ["unknown", "holds unknown signs"],
      ]);
      this.asks.lean.value = lean;
      if (this.asks.lean.selectedIndex < 0) this.asks.lean.value = "";
      const orders = [["text-asc", "As in the source"]];
      if (this.measure) {
        orders.unshift(
          ["size-desc", "Furthest from zero first"],
          ["value-desc", `${upper(words.leans_plus)} most`],
          ["value-asc", `${upper(words.leans_minus)} most`]);
      }
      if (this.beside) orders.unshift(["gap-desc", "Models differ most first"]);
      this.fill(this.asks.order, [...orders, ["", "By a heading"]]);
      const heads = {
        text: words.text,
        value: this.measure ? `${words.value}, ${this.measure.name}` : words.value,
        beside: this.beside ? `${words.value}, ${this.beside.name}` : "",
        difference: "Difference of the two",
      };
      for (const [name, text] of Object.entries(heads)) {
        const head = this.table.column(COLUMNS[name]).header();
        (head.querySelector(".dt-column-title") ?? head).replaceChildren(make("bdi", {}, text));
        this.table.settings()[0].columns[COLUMNS[name]].ariaTitle = text; // of the button that sorts
      }
      this.table.column(COLUMNS.value).visible(Boolean(this.measure), false);
      this.table.column(COLUMNS.beside).visible(Boolean(this.beside), false);
      this.table.column(COLUMNS.difference).visible(Boolean(this.beside), false);
      if (!this.beside && this.table.order().some(([at]) => [COLUMNS.beside, COLUMNS.difference, COLUMNS.gap].includes(at))) {
        this.table.order([COLUMNS.size, "desc"]);
      }
      this.renew();
    }

    value(row) { return this.measure ? this.measure.values[row] : null; }

    besideValue(row) { return this.beside ? this.beside.values[row] : null; }

    difference(row) {
      const [a, b] = [this.value(row), this.besideValue(row)];
      return a === null || b === null ? null : a - b;
    }

    // The rows anew: DataTables' own `invalidate` would draw all 20,000 of them.
    renew() {
      this.table.clear();
      this.table.rows.add(this.rows);
    }

    ask() {
      const { asks, collection, keep } = this;
      const words = asks.words.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !this.haystack) this.haystack = collection.id.map((_, row) => haystack(collection, row));
      const chosen = [...this.root.querySelectorAll("select[data-fact]")]
        .filter((select) => select.value !== "")
        .map((select) => [collection.facts[select.dataset.fact].codes, Number(select.value)]);
      const limit = this.measure ? collection.threshold * 10 ** this.measure.digits : 0;
      const leans = {
        plus: (value) => value !== null && value > limit,
        minus: (value) => value !== null && value < -limit,
        between: (value) => value !== null && Math.abs(value) <= limit,
        none: (value) => value === null,
        unknown: (_, row) => this.measure.unknown.has(row),
      };
      const lean = this.measure ? leans[asks.lean.value] : undefined;
      for (let row = 0; row < keep.length; row++) {
        keep[row] = words.every((word) => this.haystack[row].includes(word)) &&
          chosen.every(([codes, code]) => codes[row] === code) &&
          (!lean || lean(this.value(row), row));
      }
      this.table.draw();
    }

    tellOrder() {
      const [first] = this.table.order();
      const names = Object.keys(COLUMNS);
      const told = first ? `${names[first[0]]}-${first[1]}` : "";
      this.asks.order.value = [...this.asks.order.options].some((one) => one.value === told) ? told : "";
    }

    listen() {
      const { form, asks } = this;
      let waiting = 0;
      asks.words.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => this.ask(), WAIT);
      });
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        clearTimeout(waiting);
        this.ask();
      });
      form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.choose(this.block);
      });
      form.addEventListener("change", ({ target }) => {
        if (target === asks.collection) this.choose(this.blocks[asks.collection.selectedIndex]);
        else if (target === asks.measure || target === asks.beside) {
          this.chooseMeasure();
          if (target === asks.beside && this.beside) this.table.order([COLUMNS.gap, "desc"]);
          this.ask();
          this.tellOrder();
        } else if (target === asks.order) {
          const [name, way] = target.value.split("-");
          if (way) this.table.order([COLUMNS[name], way]).draw();
        } else if (target === asks.swapped) this.showOther();
        else if (target !== asks.words) this.ask();
      });
    }

    cell(row) {
      const { collection } = this;
      const source = place(collection, row);
      const small = [make("a", { href: address(collection, row) }, make("bdi", {}, collection.id[row]))];
      for (const fact of collection.facts) {
        const value = decoded(fact, row);
        if (value !== null) small.push(" · ", make("bdi", { lang: fact.lang, title: fact.name }, value));
      }
      if (source) small.push(`, ${source}`);
      return make("div", {},
        sentence(collection, row, 0),
        sentence(collection, row, 1),
        make("span", { class: "small" }, ...small));
    }

    // On a phone the headings are gone, and each number has its own.
    measureCell(measure, row) {
      if (!measure) return make("span", {});
      const label = make("span", { class: "small heading", "aria-hidden": "true" }, make("bdi", {}, measure.name));
      return make("div", {}, label, measured(this.collection, measure, row));
    }

    differenceCell(row) {
      const value = this.difference(row);
      const label = make("span", { class: "small heading", "aria-hidden": "true" }, "Difference");
      return make("div", {}, label, value === null
        ? make("span", { class: "small" }, "–")
        : number(this.collection, value, this.measure.digits, this.measure.reach));
    }

    // One row with everything that is known of it.
    open(row) {
      const { collection, article } = this;
      const { words } = collection;
      const facts = collection.facts
        .map((fact) => [fact.name, decoded(fact, row), fact.lang])
        .filter(([, value]) => value !== null);
      const source = place(collection, row);
      if (source) facts.push(["Place", source, ""]);
      const close = make("button", { type: "button", class: "close" }, "Close");
      close.addEventListener("click", () => {
        article.hidden = true;
        location.hash = this.root.parentElement.id;
      });
      const lines = collection.measures.map((measure) => make("tr", {},
        make("th", { scope: "row" }, make("bdi", {}, measure.model)),
        measure.method ? make("td", {}, measure.method) : null,
        make("td", { class: "measured" }, measured(collection, measure, row))));
      const methods = collection.measures.some((measure) => measure.method);
      article.replaceChildren(
        make("h3", {}, make("bdi", {}, collection.title), " · ", make("bdi", {}, collection.id[row])),
        make("p", {}, make("span", { class: "small label" }, words.text), sentence(collection, row, 0)),
        make("p", {}, make("span", { class: "small label" }, words.other), sentence(collection, row, 1)),
        make("dl", { class: "pairs" }, ...facts.flatMap(([name, value, lang]) => [
          make("dt", {}, name), make("dd", {}, make("bdi", { lang }, value))])),
        lines.length
          ? make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Its numbers" },
              make("table", {},
                make("caption", {}, make("span", {}, `${words.value} by model`)),
                make("thead", {}, make("tr", {},
                  make("th", { scope: "col" }, "Model"),
                  methods ? make("th", { scope: "col" }, "Method") : null,
                  make("th", { scope: "col" }, words.value))),
                make("tbody", {}, ...lines)))
          : make("p", { class: "absent" }, "No model has a number for it."),
        close);
      article.hidden = false;
      this.unfound.hidden = true;
      article.focus({ preventScroll: true });
      article.scrollIntoView({ block: "start", behavior: "instant" });
    }
  }

  const size = (value) => (value === null ? null : Math.abs(value));

  function haystack(collection, row) {
    const facts = collection.facts.map((fact) => decoded(fact, row) ?? "");
    return [collection.text[row].join(""), otherPieces(collection, row).join(""), collection.id[row], ...facts]
      .join("\n").toLowerCase();
  }

  const explorers = [...document.querySelectorAll(".explorer")].map((root) => new Explorer(root));

  // An address: key and id of a row, or an id alone.
  function openAddressed() {
    let asked;
    try {
      asked = location.hash.slice(1).split("/").map(decodeURIComponent);
    } catch {
      return;
    }
    const id = asked.pop();
    const key = asked.join("/");
    if (!id || (!key && document.getElementById(id))) return;
    for (const explorer of explorers) {
      for (const block of explorer.blocks) {
        const collection = collectionOf(block);
        const row = key && key !== collection.key ? -1 : collection.id.indexOf(id);
        if (row < 0) continue;
        if (explorer.block !== block) explorer.choose(block);
        explorer.open(row);
        return;
      }
    }
    const told = explorers[0]?.unfound;
    if (!told) return;
    told.replaceChildren("No row of these results has the address ", make("bdi", {}, [...asked, id].join("/")), ".");
    told.hidden = false;
  }

  addEventListener("hashchange", openAddressed);
  openAddressed();
})();
