// Finds, sorts and opens the rows of sentences.html. What the data are is said in
// report/sections/explorer.py. Data become text nodes only, never markup.
//
// An address may ask (`sentences.html#?set=slguset&model=bert`, values percent-encoded) for
//   set         slguset, slguset_published or stereotypes/{set}; the first if it is left out
//   model       the model whose numbers are shown, and for pairs the method: aul, cps, ...
//   method
//   beside      another model of the same method
//   lean        plus, minus, between (beyond the threshold or not), above, below (zero), scored
//               (has a number), none (has none), unknown (holds signs unknown to the model)
//   pair, keyword, kind, direction, not scored, doubts
//               a filter by its name in lower case; blank: the rows that have none of it
//   search      beginnings of words; Chinese anywhere
//   order       size-desc, value-desc, value-asc, text-asc (as in the source); with `beside`
//               gap-desc; or another heading: beside-asc, difference-desc, ...
// or for one row: `sentences.html#slguset/0123abcd`, or its id alone. Names that are none are
// passed over, values that are none are told. What is asked by hand stands in the address, too.
"use strict";

(() => {
  const { bdi, column, decoded, make } = Explore;
  const BETWEEN = "; "; // the items of a fact that may have several
  const COLUMNS = { text: 0, value: 1, beside: 2, difference: 3, size: 4, gap: 5 };
  const parsed = new Map(); // by the id of the block; a block is read when it is first needed

  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

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
      for (const fact of found.facts) {
        fact.items = fact.values.map((value) => (value === null ? [] : fact.several ? value.split(BETWEEN) : [value]));
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

  class Rows extends Explore.Explorer {
    constructor(root) {
      super(root, COLUMNS);
      this.draw();
      this.choose(this.blocks[0]);
      this.begin();
    }

    draw() {
      const heads = Object.keys(COLUMNS).map((name) =>
        make("th", { scope: "col", class: name === "text" ? "" : "number" }, name));
      const one = (name, value, display) => column(name, value, display, {
        visible: name === "text" || name === "value",
        orderSequence: name === "text" ? ["asc", "desc"] : ["desc", "asc"],
        className: name === "text" ? "" : "measured",
      });
      const columns = [
        one("text", (row) => row, (row) => this.cell(row)),
        one("value", (row) => this.value(row), (row) => this.measureCell(this.measure, row)),
        one("beside", (row) => this.besideValue(row), (row) => this.measureCell(this.beside, row)),
        one("difference", (row) => this.difference(row), (row) => this.differenceCell(row)),
        one("size", (row) => size(this.value(row)), () => ""),
        one("gap", (row) => size(this.difference(row)), () => ""),
      ];
      this.drawTable(heads, columns, "Rows", "row");
    }

    // Another collection: its models, kinds and rows.
    choose(block) {
      this.block = block;
      const collection = (this.collection = collectionOf(block));
      this.asks.collection.value = collection.key;
      this.asks.lean.value = "";
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

    // A list for each fact that differs: "=" and an item of it, or "-" for the rows without one.
    fillFilters() {
      const { facts } = this.collection;
      const labels = facts.flatMap((fact, i) => {
        const counts = new Map();
        let without = 0;
        for (const code of fact.codes) {
          for (const item of fact.items[code]) counts.set(item, (counts.get(item) ?? 0) + 1);
          if (!fact.items[code].length) without += 1;
        }
        if (!fact.filter || counts.size + (without > 0) < 2) return [];
        const select = make("select", { name: `fact-${i}`, "data-fact": i, "data-name": fact.name.toLowerCase() });
        const items = [...counts].map(([item, n]) => [`=${item}`, `${item} (${n})`]);
        this.fill(select, [["", "All"], ...items, ...(without ? [["-", `none (${without})`]] : [])]);
        if (fact.lang) for (const option of [...select.options].slice(1)) option.lang = fact.lang;
        return [make("label", {}, `${fact.name} `, select)];
      });
      this.root.querySelector(".filters").replaceChildren(...labels);
    }

    filters() {
      return [...this.root.querySelectorAll("select[data-fact]")];
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
        ["between", threshold ? "between" : "neither"],
        ...(threshold ? [["above", `${words.leans_plus} at all`], ["below", `${words.leans_minus} at all`]] : []),
        ["scored", "has a number"], ["none", "no number"], ["unknown", "holds unknown signs"],
      ]);
      this.asks.lean.value = lean;
      if (this.asks.lean.selectedIndex < 0) this.asks.lean.value = "";
      const orders = [["text-asc", "As in the data set"]];
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
        (head.querySelector(".dt-column-title") ?? head).replaceChildren(bdi(text));
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

    sortable(name) {
      if (name === "text") return true;
      return Boolean(["beside", "difference", "gap"].includes(name) ? this.beside : this.measure);
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
      const searched = this.searched();
      const chosen = this.filters().filter(({ value }) => value).map(({ value, dataset }) => {
        const { codes, items } = collection.facts[dataset.fact];
        return [codes, items.map((some) => (value === "-" ? !some.length : some.includes(value.slice(1))))];
      });
      const limit = this.measure ? collection.threshold * 10 ** this.measure.digits : 0;
      const leans = {
        plus: (value) => value !== null && value > limit,
        minus: (value) => value !== null && value < -limit,
        between: (value) => value !== null && Math.abs(value) <= limit,
        above: (value) => value !== null && value > 0,
        below: (value) => value !== null && value < 0,
        scored: (value) => value !== null,
        none: (value) => value === null,
        unknown: (_, row) => this.measure.unknown.has(row),
      };
      const lean = this.measure ? leans[asks.lean.value] : undefined;
      for (let row = 0; row < keep.length; row++) {
        keep[row] = searched(row) &&
          chosen.every(([codes, fits]) => fits[codes[row]]) &&
          (!lean || lean(this.value(row), row));
      }
      this.table.draw();
    }

    hay(row) {
      const { collection } = this;
      const facts = collection.facts.map((fact) => decoded(fact, row) ?? "");
      return [collection.text[row].join(""), otherPieces(collection, row).join(""), collection.id[row], ...facts].join("\n");
    }

    // What is asked, as an address.
    question() {
      const { asks, collection, measure, beside } = this;
      const asked = new URLSearchParams(Object.entries({
        set: collection.key,
        model: measure?.model,
        method: measure?.scored_by,
        beside: beside?.model,
        lean: measure && asks.lean.value,
        search: asks.words.value.trim(),
        order: this.sorted(),
      }).filter(([, value]) => value));
      for (const { dataset, value } of this.filters()) if (value) asked.set(dataset.name, value.slice(1));
      return `#?${asked}`;
    }

    // What an address asks for; what it names and the page does not have is told.
    answerTo(block, asked) {
      const lost = [];
      const { asks } = this;
      const named = (name) => asked.get(name) || null;
      const select = (element, value, what) => {
        if ([...element.options].some((option) => option.value === value)) element.value = value;
        else lost.push(`the ${what}`);
      };
      this.choose(block);
      const { collection } = this;
      if (named("model") || named("method")) {
        const fits = (one, name, key) => !named(name) || one[key] === named(name);
        const i = collection.measures.findIndex((one) => fits(one, "model", "model") && fits(one, "method", "scored_by"));
        select(asks.measure, String(i), `model ${["model", "method"].map(named).filter(Boolean).join(", ")}`);
        this.chooseMeasure();
      }
      if (named("beside")) {
        const i = collection.measures.findIndex((one) => one.model === named("beside") && one.method === this.measure?.method);
        select(asks.beside, String(i), `model ${named("beside")}`);
        this.chooseMeasure();
      }
      const same = { above: "plus", below: "minus" };
      if (named("lean")) select(asks.lean, (!collection.threshold && same[named("lean")]) || named("lean"), `lean ${named("lean")}`);
      for (const fact of collection.facts) {
        const name = fact.name.toLowerCase();
        if (!fact.filter || !asked.has(name)) continue;
        const value = asked.get(name);
        const filter = this.filters().find(({ dataset }) => dataset.name === name);
        if (filter) select(filter, value ? `=${value}` : "-", `${name} ${value || "none"}`);
        else if (fact.items.some((some) => (value ? !some.includes(value) : some.length))) lost.push(`the ${name} ${value || "none"}`);
      }
      asks.words.value = named("search") ?? "";
      if (named("order") && !this.orderBy(named("order"))) lost.push(`the order ${named("order")}`);
      this.ask();
      this.tellOrder();
      this.article.hidden = true;
      this.left = null;
      this.tellLost(lost);
      this.form.scrollIntoView({ block: "start", behavior: "instant" });
    }

    listen() {
      const { asks } = this;
      super.listen((target) => {
        if (target === asks.swapped) {
          this.showOther();
          return false;
        }
        if (target === asks.collection) this.choose(this.blocks[asks.collection.selectedIndex]);
        else if (target === asks.measure || target === asks.beside) {
          this.chooseMeasure();
          if (target === asks.beside && this.beside) this.table.order([COLUMNS.gap, "desc"]);
        } else if (target === asks.order) this.order();
        return true;
      });
    }

    cell(row) {
      const { collection } = this;
      const source = place(collection, row);
      const small = [make("a", { href: address(collection, row) }, bdi(collection.id[row]))];
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

    measureCell(measure, row) {
      if (!measure) return make("span", {});
      return this.headed(bdi(measure.name), measured(this.collection, measure, row));
    }

    differenceCell(row) {
      const value = this.difference(row);
      return this.headed("Difference", value === null
        ? make("span", { class: "small" }, "–")
        : number(this.collection, value, this.measure.digits, this.measure.reach));
    }

    // One row with everything that is known of it.
    open(row) {
      const { collection } = this;
      const { words } = collection;
      const facts = collection.facts
        .map((fact) => [fact.name, decoded(fact, row), fact.lang])
        .filter(([, value]) => value !== null);
      const source = place(collection, row);
      if (source) facts.push(["Place", source, ""]);
      const lines = collection.measures.map((measure) => make("tr", {},
        make("th", { scope: "row" }, bdi(measure.model)),
        measure.method ? make("td", {}, measure.method) : null,
        make("td", { class: "measured" }, measured(collection, measure, row))));
      const methods = collection.measures.some((measure) => measure.method);
      this.show(
        make("h3", {}, bdi(collection.title), " · ", bdi(collection.id[row])),
        make("p", {}, make("span", { class: "small label" }, words.text), sentence(collection, row, 0)),
        make("p", {}, make("span", { class: "small label" }, words.other), sentence(collection, row, 1)),
        make("dl", { class: "pairs" }, ...facts.flatMap(([name, value, lang]) => [
          make("dt", {}, name), make("dd", {}, bdi(value, lang))])),
        lines.length
          ? make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Its numbers" },
              make("table", {},
                make("caption", {}, make("span", {}, `${words.value} by model`)),
                make("thead", {}, make("tr", {},
                  make("th", { scope: "col" }, "Model"),
                  methods ? make("th", { scope: "col" }, "Method") : null,
                  make("th", { scope: "col" }, words.value))),
                make("tbody", {}, ...lines)))
          : make("p", { class: "absent" }, "No model has a number for it."));
    }
  }

  const size = (value) => (value === null ? null : Math.abs(value));

  const explorers = [...document.querySelectorAll(".explorer")].map((root) => new Rows(root));

  function tellNoRow(words) {
    const told = explorers[0]?.unfound;
    if (!told) return;
    told.replaceChildren("No row of these results has the address ", bdi(words), ".");
    told.hidden = false;
  }

  // A question, see above.
  function answer(query) {
    const asked = new URLSearchParams(query);
    const key = asked.get("set");
    for (const explorer of explorers) {
      const block = explorer.blocks.find((one) => !key || collectionOf(one).key === key);
      if (!block) continue;
      explorer.answerTo(block, asked);
      return;
    }
    tellNoRow(key ?? query);
  }

  // An address: a question, or key and id of a row, or an id alone. None: the rows as they stand.
  function openAddressed(event) {
    if (explorers.some((explorer) => explorer.returned())) return;
    if (location.hash.startsWith("#?")) {
      answer(location.hash.slice(2));
      return;
    }
    let asked;
    try {
      asked = location.hash.slice(1).split("/").map(decodeURIComponent);
    } catch {
      return;
    }
    const id = asked.pop();
    const key = asked.join("/");
    if (!id) explorers.forEach(({ article }) => { article.hidden = true; });
    if (!id || (!key && document.getElementById(id))) return;
    for (const explorer of explorers) {
      for (const block of explorer.blocks) {
        const collection = collectionOf(block);
        const row = key && key !== collection.key ? -1 : collection.id.indexOf(id);
        if (row < 0) continue;
        const same = explorer.block === block;
        explorer.remember(same && event?.oldURL);
        if (!same) explorer.choose(block);
        explorer.open(row);
        return;
      }
    }
    tellNoRow([...asked, id].join("/"));
  }

  addEventListener("hashchange", openAddressed);
  openAddressed();
})();
