// What the pages share on which rows are looked at one by one (explorer.js, cases.js): a form that
// asks, a table that shows what fits, and a row that can be opened.
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

  const decoded = (column, row) => column.values[column.codes[row]];

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

  // A page's own class has choose(block), ask(), keepAddress(), tellLost(values), tellOrder(), and
  // `keep`, which rows fit.
  class Explorer {
    constructor(root) {
      this.root = root;
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
        this.left = null; // the table is another one now
        this.tellLost([]);
        this.ask();
        this.keepAddress();
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
    }
  }

  return { Explorer, column, decoded, make };
})();
