// Finds, filters, sorts and opens the items of an explorer page: sentences, pairs, cases, test
// individuals. The data form is documented in report/explorer.py. Data become text nodes only,
// never markup.
//
// An address may ask (`cases.html#?set=ecthr&split=test`, values percent-encoded) for
//   set         a data set; the first one if it is left out
//   the keys of a model's `asks`: model, method; classifier, objective, trained; training, seed ...
//   beside      the name of another model
//   a filter by its name: keyword, split, group, lean, answer ...; blank: items without a value
//   search      beginnings of words; Chinese anywhere
//   order       a column and a direction, such as loss-desc; size: distance from zero; gap: distance
//               from the other model
// or for one item: `cases.html#ecthr/001-1`, or its id alone. Unknown names are passed over, and
// unknown values are listed.
"use strict";

(() => {
  const ROWS = 25; // of a page of the table
  const WAIT = 120; // milliseconds after a key before the search begins
  const MOST = 80; // characters of a question that are repeated

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== "" && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const bdi = (text, lang = "") => make("bdi", { lang }, text);
  const count = (number) => number.toLocaleString("en");
  const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
  const short = (text) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);
  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const missing = (value) => value === undefined || value === null || Number.isNaN(value);

  // Halves go to the even digit of what eight digits leave, as in the tables of results.
  function rounded(value, digits) {
    const number = Number(value.toPrecision(8));
    const [up, exact] = [number.toFixed(digits), number.toFixed(60)];
    const half = /^50*$/.test(exact.slice(exact.indexOf(".") + 1 + digits));
    return half && up.at(-1) % 2 ? (number - 10 ** -(digits + 2)).toFixed(digits) : up;
  }

  // Whether a text has a word that begins so; without spaces between words, as in Chinese, it may
  // be anywhere.
  const LETTER = /(?!\p{Ideographic})[\p{L}\p{M}\p{N}]/u;
  function begins(word) {
    if (!LETTER.test(word[0])) return (text) => text.includes(word);
    return (text) => {
      let at = text.indexOf(word);
      while (at > 0 && LETTER.test(text[at - 1])) at = text.indexOf(word, at + 1);
      return at >= 0;
    };
  }

  // The texts of a column for an item (or an answer), as readers see them.
  const { format } = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
  const values = (column, at) => column.values[column.codes[at]];
  const worded = (column, value) =>
    (typeof value === "number" ? `${format(value)} ${column.unit ?? ""}`.trim() : column.words.get(value) ?? value);
  const texts = (column, at) => values(column, at).map((value) => worded(column, value));

  // The answers of a model to an item, by their places.
  function answersOf({ row: rows }, item) {
    if (!rows) return [item];
    const found = [];
    for (let at = rows.indexOf(item); at >= 0; at = rows.indexOf(item, at + 1)) found.push(at);
    return found;
  }

  // The data of a set, read when they are first needed.
  const read = new Map();
  function load(block) {
    if (!read.has(block)) read.set(block, unpack(block.textContent));
    return read.get(block);
  }

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const set = await new Response(stream).json();
    set.place = new Map(set.id.map((id, row) => [id, row]));
    for (const model of set.models) {
      model.row = set.rows[model.row];
      const { measures: [first], cells, classes } = model;
      set.measures.forEach(({ furthest }, k) => {
        if (furthest) model.measures[k] = first.map((value, i) => Math.max(...classes.map((_, j) => (cells[i * classes.length + j] === null ? 0 : Math.abs(cells[i * classes.length + j] - value)))));
      });
    }
    for (const column of [...set.columns, ...set.models.flatMap((model) => model.columns)]) {
      column.words = new Map(column.options);
    }
    return set;
  }

  // A small table whose rows begin with their heading.
  function smallTable(label, heads, rows) {
    return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
      make("table", {},
        make("caption", {}, make("span", {}, label)),
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, bdi(head))))),
        make("tbody", {}, ...rows.map(([head, ...cells]) => make("tr", {},
          make("th", { scope: "row" }, bdi(head)), ...cells.map((cell) => make("td", {}, cell)))))));
  }

  class Explorer {
    constructor(root) {
      this.root = root;
      this.blocks = [...document.querySelectorAll("script[data-key]")];
      this.form = root.querySelector("form");
      this.asks = this.form.elements;
      this.article = root.querySelector("article");
      this.unfound = root.querySelector(".unfound");
      this.fold = root.querySelector(".by-part");
      this.row = null; // the address of the open item
      this.left = null; // where it was opened from: an address, and how far down the page
      this.turn = 0; // of the address that is followed: data may arrive late
    }

    async start() {
      this.root.setAttribute("aria-busy", "true");
      this.choose(await load(this.blocks[0]));
      this.ask();
      this.form.hidden = false;
      this.root.querySelector(".without-script").remove();
      this.listen();
      await this.follow();
      this.root.removeAttribute("aria-busy");
    }

    // Another set: all choices are reset.
    choose(set) {
      this.set = set;
      const { asks, root } = this;
      asks.set.value = set.key;
      asks.words.value = "";
      this.haystack = null;
      this.filters = [];
      this.fill(asks.model, set.models.map((one, i) => [i, one.name]));
      asks.model.closest("label").hidden = !set.models.length;
      asks.both.closest("label").hidden = !set.other;
      asks.both.checked = Boolean(set.both);
      root.querySelector(".other-name").textContent = set.other ? set.other.toLowerCase() : "";
      root.querySelector(".meaning").textContent = set.meaning;
      this.showBoth();
      asks.beside.value = "";
      this.sort = null;
      this.chooseModel();
    }

    showBoth() {
      this.root.classList.toggle("without-other", !this.asks.both.checked);
    }

    // Another model: its own filters, the models beside it, and the orders and columns.
    chooseModel() {
      const { set, asks } = this;
      this.model = set.models[asks.model.value] ?? null;
      const others = set.models.map((one, i) => [i, one]).filter(([, one]) => one !== this.model && one.group === this.model.group);
      const before = asks.beside.value;
      this.fill(asks.beside, [["", "Nothing"], ...others.map(([i, one]) => [i, one.name])]);
      asks.beside.value = others.some(([i]) => String(i) === before) ? before : "";
      asks.beside.closest("label").hidden = !others.length;
      this.fillFilters();
      this.chooseBeside();
    }

    chooseBeside() {
      const { set, asks } = this;
      this.beside = set.models[asks.beside.value || -1] ?? null;
      const orders = set.orders.filter(([order]) => this.sortable(order));
      if (this.beside) orders.unshift(["gap-desc", "Models differ most first"]);
      this.fill(asks.order, [...orders, ["", "By a heading"]]);
      if (!this.sortable(this.sort)) this.sort = orders[0][0];
      this.drawTable();
    }

    // A list for each column that can be filtered by, of the items and of the model's answers: "="
    // and a value, or "-" for those without one.
    fillFilters() {
      const { set, model } = this;
      const before = new Map(this.filters.map(({ column, select }) => [column.ask, select.value]));
      const own = set.columns.filter(({ filter }) => filter).map((one) => set.columns[model?.instead?.[one.ask]] ?? one);
      this.filters = [...own, ...(model?.columns ?? []).filter(({ filter }) => filter)].map((column) => {
        const options = column.options ?? [...new Set(column.values.flat())].map((value) => [value, value]);
        const without = column.values.some((some) => !some.length);
        const all = [...options.map(([value, words]) => [`=${value}`, words]), ...(without ? [["-", column.none ?? "none"]] : [])];
        const select = make("select", { name: column.ask });
        this.fill(select, [["", "All"], ...all], column.lang);
        const label = make("label", {}, bdi(column.title), " ", select);
        label.hidden = all.length < 2;
        select.value = before.get(column.ask) ?? (column.default ? `=${column.default}` : "");
        if (select.selectedIndex < 0) select.value = "";
        return { column, select, label, all, answers: !own.includes(column) };
      });
      this.root.querySelector(".filters").replaceChildren(...this.filters.map(({ label }) => label));
    }

    fill(select, options, lang = "") {
      select.replaceChildren(...options.map(([value, words]) => {
        const option = new Option(words, value);
        if (lang && value) option.lang = lang;
        return option;
      }));
    }

    // Of a column, which of its values fit what is chosen; null: all of them.
    fits(column, chosen) {
      if (!chosen) return null;
      return column.values.map((some) => (chosen === "-" ? !some.length : some.some((value) => `=${value}` === chosen)));
    }

    // What a model answers to each item, over the answers within the chosen scope (a seed):
    // how many there are, how many fit, and the measures.
    sums(model) {
      const { set } = this;
      const tests = this.filters.filter(({ answers }) => answers).flatMap(({ column: { ask }, select }) => {
        const column = model.columns.find((one) => one.ask === ask);
        return column && select.value ? [{ column, fits: this.fits(column, select.value) }] : [];
      });
      const test = (some) => (i) => some.every(({ column, fits }) => fits[column.codes[i]]);
      const inScope = test(tests.filter(({ column }) => column.scope));
      const fits = test(tests.filter(({ column }) => !column.scope));
      const size = (model.row ?? set.id).length;
      const scope = [];
      const held = new Uint16Array(set.id.length);
      const hits = new Uint16Array(set.id.length);
      const measures = set.measures.map(() => new Float64Array(set.id.length).fill(NaN));
      for (let i = 0; i < size; i++) {
        if (!inScope(i)) continue;
        const item = model.row ? model.row[i] : i;
        scope.push(i);
        held[item] += 1;
        if (fits(i)) hits[item] += 1;
        for (let k = 0; k < measures.length; k++) {
          const [value, sum] = [model.measures[k][i], measures[k][item]];
          if (value === null) continue;
          measures[k][item] = Number.isNaN(sum) ? value : set.measures[k].over === "max" ? Math.max(sum, value) : sum + value;
        }
      }
      set.measures.forEach(({ over }, k) => {
        if (model.row && over !== "max") measures[k] = measures[k].map((sum, item) => sum / held[item]);
      });
      return { scope, held, hits, measures, filtered: tests.some(({ column }) => !column.scope), inScope };
    }

    // Which items are kept: those that fit all filters of items, and one of whose
    // answers fits all filters of answers. Each filter counts the items that all others keep.
    ask() {
      const { set, model, filters } = this;
      const of = (this.of = model && this.sums(model));
      this.ofBeside = this.beside && this.sums(this.beside);
      const searched = this.searched();
      const own = filters.filter(({ answers }) => !answers).map(({ column, select, all }) => ({
        column, select, all, fits: this.fits(column, select.value), counts: column.values.map(() => 0),
      }));
      this.kept = [];
      const matches = new Uint8Array(set.id.length); // whether it fits the filters of items
      let total = 0;
      for (let item = 0; item < set.id.length; item++) {
        if (set.answered && !of.held[item]) continue;
        total += 1;
        if (!searched(item)) continue;
        const failed = own.filter(({ column, fits }) => fits && !fits[column.codes[item]]);
        matches[item] = failed.length ? 0 : 1;
        if (failed.length > 1 || (of?.filtered && !of.hits[item])) continue;
        if (!failed.length) this.kept.push(item);
        for (const { column, counts } of failed.length ? failed : own) counts[column.codes[item]] += 1;
      }
      for (const { column, select, all, counts } of own) {
        all.forEach(([value, words], i) => {
          const fits = this.fits(column, value);
          select.options[i + 1].textContent = `${words} (${count(counts.reduce((sum, n, code) => sum + (fits[code] ? n : 0), 0))})`;
        });
      }
      this.total = total;
      this.sorted = null;
      this.table.draw();
      this.tell(matches);
    }

    // Whether an item has all words that are searched for.
    searched() {
      const { set } = this;
      const words = this.asks.words.value.toLowerCase().split(/\s+/).filter(Boolean).map(begins);
      if (words.length) this.haystack ??= set.id.map((_, item) => this.hay(item).toLowerCase());
      return (item) => words.every((found) => found(this.haystack[item]));
    }

    hay(item) {
      const { set, model } = this;
      const sides = set.text ? [0, 1].map((side) => this.pieces(item, side).join("")) : [];
      const known = set.columns.map((column) => set.columns[model?.instead?.[column.ask]] ?? column)
        .map((column) => `${column.title}: ${texts(column, item).join("; ")}`);
      return [set.id[item], ...sides, ...known].join("\n");
    }

    // One sentence with the question and how many items fit it, and one with the measures of all
    // answers to these items.
    tell(matches) {
      const { set, model, of, filters, asks } = this;
      const criteria = model ? [model.over ? `${model.name} (${model.over})` : model.name] : [];
      for (const { column, select, all } of filters) {
        if (select.value) criteria.push(`${column.title}: ${all[select.selectedIndex - 1][1]}`);
      }
      if (asks.words.value.trim()) criteria.push(`“${short(asks.words.value.trim())}”`);
      const answers = set.answered ? of.scope.filter((i) => matches[model.row[i]]) : [];
      let fitting = "";
      if (set.answered) {
        const kept = this.kept.reduce((sum, item) => sum + of.hits[item], 0);
        fitting = of.filtered ? `, in ${count(kept)} of ${counted(answers.length, "answer")}` : `, ${counted(answers.length, "answer")}`;
      }
      this.root.querySelector(".matched").replaceChildren(
        `${count(this.kept.length)} of ${counted(this.total, ...set.noun)}: `, bdi(criteria.join("; ") || "all"), `${fitting}.`);
      this.tellShares(answers);
    }

    // The shares of each part (a seed), and their means over parts.
    tellShares(answers) {
      const { set, model } = this;
      const parts = new Map();
      const column = model?.columns.find(({ scope }) => scope);
      for (const i of set.shares.length ? answers : []) {
        const name = values(column, i)[0];
        if (!parts.has(name)) parts.set(name, { answers: 0, sums: set.shares.map(() => 0) });
        const part = parts.get(name);
        part.answers += 1;
        set.shares.forEach((_, k) => { part.sums[k] += model.shares[k][i]; });
      }
      const shown = ({ percent, digits }, value) => (percent ? `${rounded(100 * value, digits)}\u00a0%` : rounded(value, digits));
      const shares = (part, k) => part.sums[k] / part.answers;
      const means = set.shares.map((share, k) => [...parts.values()].reduce((sum, part) => sum + shares(part, k), 0) / parts.size);
      this.root.querySelector(".measured-here").textContent = parts.size
        ? `Of all ${counted(answers.length, "answer")}: ${set.shares.map((share, k) => `${share.title} ${shown(share, means[k])}`).join(", ")}${parts.size > 1 ? `; means over ${column.title.toLowerCase()}s.` : "."}`
        : "";
      this.fold.hidden = !parts.size;
      if (parts.size) {
        this.fold.querySelector("summary").textContent = `By ${column.title.toLowerCase()}`;
        this.fold.querySelector("div").replaceChildren(smallTable(`Measures by ${column.title.toLowerCase()}`,
          [column.title, "Answers", ...set.shares.map(({ title }) => upper(title))],
          [...parts].map(([name, part]) => [name, count(part.answers), ...set.shares.map((share, k) => shown(share, shares(part, k)))])));
      }
    }

    // What items are sorted by, or null if that is not there.
    key(name) {
      const { set, model, beside } = this;
      const first = (item) => this.of.measures[0][item];
      const other = (item) => this.ofBeside.measures[0][item];
      const measure = model ? set.measures.findIndex((one) => one.name === name) : -1;
      const column = set.columns.find(({ ask }) => ask === name);
      if (name === set.item) return (item) => item;
      if (measure >= 0) return (item) => this.of.measures[measure][item];
      if (name === "size" && model) return (item) => Math.abs(first(item));
      if (name === "beside" && beside) return other;
      if (name === "difference" && beside) return (item) => first(item) - other(item);
      if (name === "gap" && beside) return (item) => Math.abs(first(item) - other(item));
      return column ? (item) => values(column, item)[0] : null;
    }

    sortable(order) {
      const [, name, way] = /^(.*)-(asc|desc)$/.exec(order ?? "") ?? [];
      return Boolean(way && this.key(name));
    }

    // The kept items in their order; those without a value are last, whichever way the others go.
    inOrder() {
      const [, name, way] = /^(.*)-(asc|desc)$/.exec(this.sort);
      const key = this.key(name);
      const sign = way === "asc" ? 1 : -1;
      const keyed = this.kept.map((item) => [key(item), item]);
      keyed.sort(([a, i], [b, j]) => {
        if (missing(a) || missing(b)) return missing(a) - missing(b) || i - j;
        return sign * (a < b ? -1 : a > b ? 1 : 0) || i - j;
      });
      return keyed.map(([, item]) => item);
    }

    drawTable() {
      const { set, model, beside } = this;
      this.columns = [{ name: set.item, title: set.heading, cell: (item) => this.itemCell(item) }];
      set.measures.forEach((measure, k) => {
        if (!model || !measure.title) return;
        const titled = (one) => (k ? measure.title : `${measure.title}, ${one.name}`);
        this.columns.push({ name: measure.name, title: titled(model), cell: (item) => this.measureCell(k, model, this.of, item) });
        if (k || !beside) return;
        this.columns.push({ name: "beside", title: titled(beside), cell: (item) => this.measureCell(0, beside, this.ofBeside, item) });
        this.columns.push({ name: "difference", title: "Difference of the two", cell: (item) => this.measured(measure, model, this.key("difference")(item)) });
      });
      this.table?.destroy();
      // on a phone rows are drawn as blocks, which would take their roles away
      const element = make("table", { role: "table" }, make("caption", {}, set.title),
        make("thead", {}, make("tr", {}, ...this.columns.map(({ title }) => make("th", { scope: "col", "aria-label": title.trim() }, bdi(title))))),
        make("tbody", { role: "rowgroup" }));
      this.root.querySelector(".grid").replaceChildren(element);
      this.sorted = []; // until the first query
      this.table = new DataTable(element, {
        serverSide: true, // the rows of a page are made when they are shown
        ajax: (request, done) => done(this.page(request)),
        columns: this.columns.map(({ name, cell, title }, at) => ({
          data: null, name, orderSequence: at ? ["desc", "asc"] : ["asc", "desc"], className: at ? "measured" : "item",
          render: (_, type, { item }) => (type === "display" ? (at ? this.headed(title, cell(item)) : cell(item)) : item),
        })),
        createdRow: (tr, _, __, cells) => {
          tr.setAttribute("role", "row");
          for (const cell of cells) cell.setAttribute("role", "cell");
        },
        autoWidth: false,
        searching: false,
        orderMulti: false,
        pageLength: ROWS,
        order: this.orderOf(this.sort),
        layout: { topStart: "info", topEnd: "paging", bottomStart: null, bottomEnd: "paging" },
        language: {
          info: `${upper(set.noun[1])} _START_ to _END_ of _TOTAL_`,
          infoEmpty: `No ${set.noun[1]}`,
          infoFiltered: "(of _MAX_)",
          zeroRecords: `No ${set.noun[0]} fits the question.`,
          emptyTable: `No ${set.noun[0]} fits the question.`,
        },
      });
    }

    // The heading that an order is that of, as DataTables names it; none for an order of its own.
    orderOf(order) {
      const at = this.columns.findIndex(({ name }) => order === `${name}-asc` || order === `${name}-desc`);
      return at < 0 ? [] : [[at, order.slice(this.columns[at].name.length + 1)]];
    }

    // A page of the table, as DataTables asks for it; a heading may have sorted it anew.
    page({ draw, start, length, order: [by] }) {
      const sort = by ? `${this.columns[by.column].name}-${by.dir}` : this.sort;
      if (sort !== this.sort) {
        this.sort = sort;
        this.sorted = null;
        this.tellOrder();
        this.keepChange();
      }
      this.sorted ??= this.inOrder();
      const data = this.sorted.slice(start, start + length).map((item) => ({ item }));
      return { draw, data, recordsTotal: this.total ?? 0, recordsFiltered: this.sorted.length };
    }

    sortBy(order) {
      this.sort = order;
      this.sorted = null;
      this.table.order(this.orderOf(order));
    }

    tellOrder() {
      const { order } = this.asks;
      order.value = [...order.options].some(({ value }) => value === this.sort) ? this.sort : "";
    }

    // On a phone the headings are gone, and each cell has its own.
    headed(heading, ...content) {
      return make("div", {}, make("span", { class: "small heading", "aria-hidden": "true" }, bdi(heading)), ...content);
    }

    // A text of an item, or its counterpart: unmarked pieces, and marked ones in pairs.
    pieces(item, side) {
      return this.set.text[item].map((piece) => (typeof piece === "string" ? piece : piece[side]));
    }

    sentence(item, side) {
      const { set } = this;
      const mark = set.mark && values(set.mark, item)[side];
      const nodes = this.pieces(item, side).map((text, i) => (i % 2 && text ? make("mark", { class: mark }, text) : text));
      return make("bdi", { class: side ? "sentence other" : "sentence", lang: this.language(item) }, ...nodes);
    }

    language(item) {
      const { language } = this.set;
      return typeof language === "string" ? language : values(language, item)[0] ?? "";
    }

    // The texts of a column, each in its language.
    worded(column, item) {
      const lang = column.lang === true ? this.language(item) : column.lang;
      return texts(column, item).map((text) => bdi(text, lang));
    }

    itemCell(item) {
      const { set, model } = this;
      const link = make("a", { href: this.address(item) }, set.prefix, bdi(set.id[item]));
      const cell = make("div", {}, ...(set.text ? [this.sentence(item, 0), this.sentence(item, 1)] : [link]));
      for (const column of set.columns.filter(({ place }) => place === "head")) {
        const [text] = texts(column, item);
        if (text) cell.append(make("span", { class: "name" }, bdi(short(text), column.lang === true ? this.language(item) : column.lang)));
      }
      const line = set.columns.filter(({ place }) => place === "line").map((one) => set.columns[model?.instead?.[one.ask]] ?? one)
        .flatMap((column) => this.worded(column, item).map((text) => [bdi(`${column.title}: `), text]));
      if (set.text) line.unshift([link]);
      cell.append(make("span", { class: "small" }, ...line.flatMap((one, i) => [i ? " · " : "", ...one])));
      return cell;
    }

    address(item) {
      const { set } = this;
      return `#${set.key.split("/").map(encodeURIComponent).join("/")}/${encodeURIComponent(set.id[item])}`;
    }

    // A number, and a bar that repeats it.
    measured(measure, model, value) {
      if (missing(value)) return make("span", {}, "–");
      const size = (measure.sign ? Math.abs(value) : value).toFixed(measure.digits);
      const text = measure.sign ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${size}` : size;
      if (!measure.bar) return make("span", {}, measure.seeds ? `${text} of ${model.seeds}` : text);
      const bar = make("span", { class: "lean-bar", "aria-hidden": "true" });
      const share = Math.min(Math.abs(value) / model.reach, 1) * 50;
      const part = make("span", { class: measure.bar[value < 0 ? 1 : 0] });
      part.style.left = `${value < 0 ? 50 - share : 50}%`;
      part.style.width = `${share}%`;
      bar.append(part);
      return make("span", { class: "lean" }, make("span", { class: "number" }, text), bar);
    }

    // A measure of an item; with the first one stands what else the model answers.
    measureCell(k, model, of, item) {
      const value = this.measured(this.set.measures[k], model, of.measures[k][item]);
      if (k) return value;
      return make("div", {}, value, ...this.notes(model, answersOf(model, item).filter(of.inScope)));
    }

    // What the answers of a model have in common beside their measures, and how many of them have it.
    notes(model, answers) {
      const found = [];
      for (const column of model.columns.filter(({ badges }) => badges)) {
        const tally = new Map();
        for (const value of answers.flatMap((i) => values(column, i))) tally.set(value, (tally.get(value) ?? 0) + 1);
        const shown = column.badges === true ? [...tally.keys()] : Object.keys(column.badges).filter((value) => tally.has(value));
        for (const value of shown) {
          const n = tally.get(value);
          const words = column.badges === true ? [`${column.title}: `, bdi(worded(column, value))] : [worded(column, value)];
          const often = answers.length === 1 ? "" : n === answers.length ? `, all ${n}` : `, ${n} of ${answers.length}`;
          found.push(make("span", { class: `small ${column.tone ?? column.badges[value] ?? ""}` }, ...words, often));
        }
      }
      return found;
    }

    // One item with everything that is known of it.
    open(item) {
      const { set } = this;
      const sides = set.text ? [set.heading, set.other].filter(Boolean).map((name, side) =>
        make("p", {}, make("span", { class: "small label" }, name), this.sentence(item, side))) : [];
      const known = set.columns.filter(({ place }) => place !== "text").flatMap((column) => {
        const some = this.worded(column, item);
        return some.length ? [make("dt", {}, bdi(column.title)), make("dd", {}, ...some.flatMap((one, i) => (i ? [make("br", {}), one] : [one])))] : [];
      });
      const long = set.columns.filter(({ place, codes }) => place === "text").flatMap((column) => texts(column, item).flatMap((text) => [
        make("h4", {}, bdi(column.title)),
        make("div", { lang: this.language(item) }, ...text.split("\n").map((one) => make("p", { dir: "auto" }, one)))]));
      this.article.replaceChildren(
        make("h3", {}, bdi(set.title), ` · ${set.prefix}`, bdi(set.id[item])),
        ...sides, make("dl", { class: "pairs" }, ...known), ...long, this.answers(item), this.closeButton());
      this.article.hidden = false;
      this.unfound.hidden = true;
      this.article.focus({ preventScroll: true });
      this.article.scrollIntoView({ block: "start", behavior: "instant" });
    }

    // What each model answers to an item: a row an answer.
    answers(item) {
      const { set } = this;
      const classes = [...new Set(set.models.flatMap((model) => model.classes ?? []))];
      const scope = set.models[0]?.columns.find((column) => column.scope);
      const measures = set.measures.map((measure, k) => [measure, k]).filter(([{ title }]) => title);
      const rows = set.models.flatMap((model) => answersOf(model, item).map((i) => [
        model.name,
        ...(scope ? texts(model.columns.find((column) => column.scope), i) : []),
        ...measures.map(([measure, k]) => this.measured(measure, model, model.measures[k][i])),
        ...classes.map((name) => {
          const at = model.classes.indexOf(name);
          if (at < 0) return "–";
          const place = i * model.classes.length + at;
          return make("span", {}, model.cells[place] === null ? "" : `${model.cells[place]}`, make("span", { class: "small" }, model.cell_notes.values[model.cell_notes.codes[place]].join(", ")));
        }),
        make("span", {}, ...this.notes(model, [i])),
      ]));
      if (!rows.length) return make("p", { class: "absent" }, `No model has an answer to this ${set.noun[0]}.`);
      return smallTable(set.answers, ["Model", ...(scope ? [scope.title] : []), ...measures.map(([{ title }]) => title), ...classes, "Notes"], rows);
    }

    // A choice by hand has changed the table; the address names the choice.
    keepChange() {
      this.left = null;
      this.keepAddress();
    }

    // The address of the current choice; it can be kept and sent.
    keepAddress() {
      history.replaceState(null, "", this.question());
    }

    question() {
      const { asks, set, model, beside } = this;
      const query = new URLSearchParams({ set: set.key, ...model?.asks });
      if (beside) query.set("beside", beside.name);
      for (const { column, select } of this.filters) {
        if (select.value || column.default) query.set(column.ask, select.value.slice(1));
      }
      if (asks.words.value.trim()) query.set("search", asks.words.value.trim());
      query.set("order", this.sort);
      return `#?${query}`;
    }

    // What an address asks for; what it names and the page does not have is listed.
    async answerTo(query, turn) {
      const lost = [];
      const { asks } = this;
      const key = query.get("set");
      const block = this.blocks.find((one) => one.dataset.key === key);
      if (key && !block) lost.push(`set ${key}`);
      const set = await load(block ?? this.blocks[0]);
      if (turn !== this.turn) return;
      this.choose(set);
      const names = Object.keys(set.models[0]?.asks ?? {}).filter((name) => query.has(name));
      if (["model", "method", ...names].some((name) => query.get(name))) {
        const all = [...new Set([...names, ...["model", "method"].filter((name) => query.get(name))])];
        const fits = set.models.filter((one) => all.every((name) => one.asks[name] === query.get(name)));
        // an objective that was trained for an attribute: the one that a filter asks for
        const model = (query.has("objective") && fits.find((one) => query.has(one.asks.trained))) || fits[0];
        if (model) asks.model.value = String(set.models.indexOf(model));
        else lost.push(`model ${all.map((name) => query.get(name)).filter(Boolean).join(", ")}`);
      }
      this.chooseModel();
      if (query.get("beside")) {
        const at = [...asks.beside.options].findIndex(({ text, value }) => value && text === query.get("beside"));
        if (at < 0) lost.push(`model ${query.get("beside")}`);
        else asks.beside.selectedIndex = at;
        this.chooseBeside();
      }
      for (const { column, select } of this.filters) {
        if (!query.has(column.ask)) continue;
        const value = query.get(column.ask);
        const before = select.value;
        select.value = value ? `=${value}` : column.default ? "" : "-";
        if (select.selectedIndex >= 0) continue;
        select.value = before;
        lost.push(`${column.title} ${value || "none"}`);
      }
      asks.words.value = query.get("search") ?? "";
      const order = query.get("order");
      if (order && this.sortable(order)) this.sortBy(order);
      else if (order) lost.push(`order ${order}`);
      this.ask();
      this.tellOrder();
      this.article.hidden = true;
      this.left = null;
      this.tellLost(lost);
      this.form.scrollIntoView({ block: "start", behavior: "instant" });
    }

    tellLost(lost) {
      this.unfound.hidden = !lost.length;
      this.unfound.replaceChildren(...(lost.length ? ["This page does not have: ", bdi(lost.map(short).join("; ")), "."] : []));
    }

    // Whatever the page's address is, now and later: a question, or an item by the key of its set
    // and its id, or by its id alone.
    async follow(event) {
      const turn = (this.turn += 1);
      if (this.returned()) return;
      const hash = location.hash.slice(1);
      if (hash.startsWith("?")) {
        await this.answerTo(new URLSearchParams(hash.slice(1)), turn);
        return;
      }
      let target;
      try {
        target = decodeURIComponent(hash);
      } catch {
        return;
      }
      if (target && document.getElementById(target)) return;
      const keyed = this.blocks.filter(({ dataset: { key } }) => target.startsWith(`${key}/`)).map((block) => [block, target.slice(block.dataset.key.length + 1)]);
      for (const [block, id] of target ? [...keyed, ...this.blocks.map((one) => [one, target])] : []) {
        const set = await load(block);
        if (turn !== this.turn) return;
        if (!set.place.has(id)) continue;
        const same = this.set === set;
        this.remember(same && event?.oldURL);
        if (!same) {
          this.choose(set);
          this.ask();
        }
        this.open(set.place.get(id));
        return;
      }
      this.article.hidden = true;
      this.tellLost(target ? [target] : []);
    }

    // An item is about to be opened by this address; the table stays as it is behind it.
    remember(before) {
      this.row = location.hash;
      if (this.article.hidden) this.left = before ? { hash: new URL(before).hash, y: scrollY } : null;
    }

    // Whether the address is again the one that the open item was opened from.
    returned() {
      if (this.article.hidden || this.left?.hash !== location.hash) return false;
      this.shut();
      return true;
    }

    // The open item is closed, and the page is where it was before.
    shut() {
      const { article, left, root, row } = this;
      article.hidden = true;
      this.left = null;
      if (left) scrollTo({ top: left.y, behavior: "instant" });
      const link = root.querySelector(`tbody a[href="${CSS.escape(row)}"]`);
      (link ?? this.asks.words).focus({ preventScroll: Boolean(left) });
    }

    closeButton() {
      const close = make("button", { type: "button", class: "close" }, "Close");
      close.addEventListener("click", () => {
        const { left } = this;
        this.shut();
        if (left) history.replaceState(null, "", left.hash || "#");
        else this.keepAddress();
      });
      return close;
    }

    listen() {
      const { form, asks } = this;
      let waiting = 0;
      const anew = () => {
        clearTimeout(waiting);
        this.tellLost([]);
        this.ask();
        this.keepChange();
      };
      asks.words.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(anew, WAIT);
      });
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        anew();
      });
      form.addEventListener("reset", (event) => {
        event.preventDefault();
        this.choose(this.set);
        anew();
        this.tellOrder();
      });
      form.addEventListener("change", async ({ target }) => {
        if (target === asks.words) return;
        if (target === asks.both) {
          this.showBoth();
          return;
        }
        if (target === asks.set) {
          const turn = (this.turn += 1);
          const set = await load(this.blocks[asks.set.selectedIndex]);
          if (turn !== this.turn) return;
          this.choose(set);
        } else if (target === asks.model) {
          this.haystack = null;
          this.chooseModel();
        } else if (target === asks.beside) {
          if (asks.beside.value) this.sort = "gap-desc";
          this.chooseBeside();
        } else if (target === asks.order && asks.order.value) this.sortBy(asks.order.value);
        anew();
        this.tellOrder();
      });
      addEventListener("hashchange", (event) => this.follow(event));
      // From here on it is known where each item was opened; the browser, which would go to its own
      // places, and later, does so only on the way from another page.
      this.root.addEventListener("click", ({ target }) => {
        if (target.closest("tbody a")) history.scrollRestoration = "manual";
      });
      addEventListener("pagehide", () => { history.scrollRestoration = "auto"; });
    }
  }

  const root = document.querySelector(".explorer");
  if (root) new Explorer(root).start();
})();
