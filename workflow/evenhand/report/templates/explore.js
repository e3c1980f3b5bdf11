// What the pages share on which rows are looked at one by one (explorer.js, cases.js, people.js): a
// form that asks, a table that shows what fits, and a row that can be opened.
"use strict";

const Explore = (() => {
  const PAGE = 25;
  const WAIT = 120; // milliseconds after a key before the search begins

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== "" && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const MOST = 80; // characters of what was asked that are told

  const bdi = (text, lang = "") => make("bdi", { lang }, text);
  const count = (number) => number.toLocaleString("en");
  const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
  const short = (text, most = MOST) => (text.length > most ? `${text.slice(0, most)}…` : text);
  const decoded = (column, row) => column.values[column.codes[row]];

  // Whether a text has a word that begins so; where no spaces part words, as in Chinese, it may
  // stand anywhere.
  const LETTER = /(?!\p{Ideographic})[\p{L}\p{M}\p{N}]/u;
  function begins(word) {
    if (!LETTER.test(word[0])) return (text) => text.includes(word);
    return (text) => {
      let at = text.indexOf(word);
      while (at > 0 && LETTER.test(text[at - 1])) at = text.indexOf(word, at + 1);
      return at >= 0;
    };
  }

  // Rows without a number stand last, whichever way the others are sorted.
  const compare = (sign) => (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (a < b ? -1 : a > b ? 1 : 0);
  };
  DataTable.type("known", { order: { asc: compare(1), desc: compare(-1) } });

  // A column: what a row is sorted by, and what is shown of it.
  const column = (name, value, display, more) => ({
    data: null,
    name,
    type: "known",
    searchable: false,
    render: (_, type, { row }) => (type === "display" ? display(row) : value(row)),
    ...more,
  });

  // A page's own class has choose(block), ask(), question(), hay(row), which is the text that is
  // searched, and `keep`, which rows fit; `places` are its columns by name, in their order.
  class Explorer {
    constructor(root, places) {
      this.root = root;
      this.places = places;
      this.blocks = root.dataset.blocks.split(" ");
      this.form = root.querySelector("form");
      this.asks = this.form.elements;
      this.article = root.querySelector("article");
      this.unfound = root.querySelector(".unfound");
      this.row = null; // the address of the row that is open
      this.left = null; // where it was opened from: an address, and how far down the page
    }

    // What works without a script makes room.
    begin() {
      this.form.hidden = false;
      this.root.querySelector(".without-script").remove();
      this.listen();
    }

    drawTable(heads, columns, rows, one, more = {}) {
      const element = this.root.querySelector("table");
      element.tHead.remove();
      element.tBodies[0].remove();
      element.append(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}));
      // on a phone rows are drawn as blocks, which would take their roles away
      element.setAttribute("role", "table");
      element.tBodies[0].setAttribute("role", "rowgroup");
      this.table = new DataTable(element, {
        data: [],
        columns,
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
          info: `${rows} _START_ to _END_ of _TOTAL_`,
          infoEmpty: `No ${rows.toLowerCase()}`,
          infoFiltered: "(of _MAX_)",
          zeroRecords: `No ${one} fits what was asked.`,
        },
        ...more,
      });
      this.table.search.fixed("asked", (_, { row }) => this.keep[row] === 1);
      this.table.on("order", () => this.tellOrder());
      for (const kind of ["click", "keypress"]) {
        element.tHead.addEventListener(kind, () => {
          const before = this.sorted();
          setTimeout(() => this.sorted() !== before && this.tellAsked());
        }, { capture: true });
      }
    }

    // What was asked by hand has made it another table, and the address says which.
    tellAsked() {
      this.left = null;
      this.keepAddress();
    }

    // How the rows are sorted, as the form and addresses name it.
    sorted() {
      const [first] = this.table.order();
      return first ? `${Object.keys(this.places)[first[0]]}-${first[1]}` : "";
    }

    tellOrder() {
      const { order } = this.asks;
      const told = this.sorted();
      order.value = [...order.options].some((one) => one.value === told) ? told : "";
    }

    // The rows are sorted as the form asks.
    order() {
      this.orderBy(this.asks.order.value);
    }

    // The rows are sorted as an address or the form asks, such as loss-desc, if they can be.
    orderBy(told) {
      const [name, way] = told.split("-");
      const can = ["asc", "desc"].includes(way) && told === `${name}-${way}` && Object.hasOwn(this.places, name) && this.sortable(name);
      if (can) this.table.order([this.places[name], way]);
      return can;
    }

    // Whether this column can be sorted by as the page stands.
    sortable(name) {
      return this.table.column(this.places[name]).orderable();
    }

    // Whether a row has all words that are searched for; `haystack` is made anew when it is null.
    searched() {
      const words = this.asks.words.value.toLowerCase().split(/\s+/).filter(Boolean).map(begins);
      if (words.length) this.haystack ??= Array.from(this.keep, (_, row) => this.hay(row).toLowerCase());
      return (row) => words.every((found) => found(this.haystack[row]));
    }

    // The address as it is asked by now; it can be kept and sent.
    keepAddress() {
      history.replaceState(null, "", this.question());
    }

    // What was asked for and the page does not have.
    tellLost(lost) {
      this.unfound.hidden = !lost.length;
      this.unfound.replaceChildren(...(lost.length ? ["This page does not have ", bdi(lost.map((one) => short(one)).join(", ")), "."] : []));
    }

    // On a phone the headings are gone, and each cell has its own.
    headed(heading, ...content) {
      return make("div", {}, make("span", { class: "small heading", "aria-hidden": "true" }, heading), ...content);
    }

    // A small table of rows that begin with their heading.
    drawn(label, heads, rows) {
      return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
        make("table", {},
          make("caption", {}, make("span", {}, label)),
          make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
          make("tbody", {}, ...rows.map(([head, ...cells]) => make("tr", {},
            make("th", { scope: "row" }, bdi(head)), ...cells.map((cell) => make("td", {}, cell)))))));
    }

    // A row is open, with all that is said of it.
    show(...content) {
      const { article } = this;
      article.replaceChildren(...content, this.closeButton());
      article.hidden = false;
      this.unfound.hidden = true;
      article.focus({ preventScroll: true });
      article.scrollIntoView({ block: "start", behavior: "instant" });
    }

    // A row is about to be opened by this address; the table stays as it is behind it.
    remember(before) {
      this.row = location.hash;
      if (this.article.hidden) this.left = before ? { hash: new URL(before).hash, y: scrollY } : null;
    }

    // Whether the address is again the one that the open row was opened from.
    returned() {
      if (this.article.hidden || this.left?.hash !== location.hash) return false;
      this.shut();
      return true;
    }

    // The open row is closed, and the page is where it was before.
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

    fill(select, options) {
      select.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
    }

    // changed(target): what a choice does before the rows are asked for anew; false: they are not.
    listen(changed) {
      const { form, asks } = this;
      let waiting = 0;
      const anew = () => {
        clearTimeout(waiting);
        this.tellLost([]);
        this.ask();
        this.tellAsked();
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
        this.choose(this.block);
        anew();
      });
      form.addEventListener("change", ({ target }) => {
        if (target === asks.words || changed(target) === false) return;
        anew();
        this.tellOrder();
      });
      // From here on it is known where each row was opened; the browser, which would go to its own
      // places, and later, does so only on the way from another page.
      this.root.addEventListener("click", ({ target }) => {
        if (target.closest("tbody a")) history.scrollRestoration = "manual";
      });
      addEventListener("pagehide", () => { history.scrollRestoration = "auto"; });
    }
  }

  // Whatever the page's address is, now and later: a question (it begins with "?"), or words whose
  // block and row `find` tells, and which are called `what` if it tells none.
  function follow(explorer, what, find) {
    const go = (event) => {
      if (explorer.returned()) return;
      const hash = location.hash.slice(1);
      if (hash.startsWith("?")) {
        explorer.article.hidden = true;
        explorer.answerTo(new URLSearchParams(hash.slice(1)));
        return;
      }
      let asked;
      try {
        asked = hash.split("/").map(decodeURIComponent);
      } catch {
        return;
      }
      if (asked.length === 1 && asked[0] && document.getElementById(asked[0])) return;
      const [block, row] = (hash && find(asked)) || [];
      if (row === undefined) {
        explorer.article.hidden = true;
        explorer.tellLost(hash ? [`the ${what} ${asked.join("/")}`] : []);
        return;
      }
      const same = explorer.block === block;
      explorer.remember(same && event?.oldURL);
      if (!same) {
        explorer.choose(block);
        explorer.ask();
      }
      explorer.open(row);
    };
    addEventListener("hashchange", go);
    go();
  }

  return { Explorer, bdi, column, count, counted, decoded, follow, make, short };
})();
