// Finds, sorts and opens the cases of cases.html. What the data are is said in
// report/sections/cases.py. Data become text nodes only, never markup.
//
// An address may ask (`cases.html#?set=ecthr&split=test`, values percent-encoded) for
//   set         a data set; the first if it is left out
//   split       test, dev, train, or blank for all; the first of the page if it is left out
//   classifier, objective, trained
//               a training; `trained` is the attribute whose groups it used, or blank. Left out
//               beside an objective: an attribute that the address asks a group of, if it can be
//   ATTRIBUTE   a group of this attribute: defendant_gender=female; the unknown one by its name
//   label       a label, or none
//   which       has (the default), given, found, missed, wrongly: what of this label; by most seeds
//   answer      known (the label), right, wrong, differ (seeds), unlabelled
//   search      beginnings of words; Chinese anywhere
//   order       loss-desc, loss-asc, differ-desc, case-asc (as in the data set), date-desc, date-asc;
//               or another heading: right-asc, right-desc
// or for one case: `cases.html#ecthr/001-1`, or its id alone. Names that are none are passed over,
// values that are none are told.
"use strict";

(() => {
  const { bdi, column, count, counted, decoded, make, short } = Explore;
  const COLUMNS = { case: 0, labels: 1, answer: 2, right: 3, loss: 4, differ: 5, date: 6 };
  const MEASURED = ["answer", "right", "loss"];
  const WHICH = {
    has: (gold) => gold,
    given: (_, given) => given,
    found: (gold, given) => gold && given,
    missed: (gold, given) => gold && !given,
    wrongly: (gold, given) => !gold && given,
  };
  const parsed = new Map(); // by the id of the block; a block is read when it is first needed

  const nats = (value) => (value === null ? "–" : (value / 1000).toFixed(3));

  // What a training says of a case and a class: the seeds that give it, and its probability.
  class Training {
    constructor(told, digits, classes) {
      Object.assign(this, told);
      this.place = new Uint8Array(128);
      [...digits].forEach((digit, i) => { this.place[digit.charCodeAt(0)] = i; });
      this.base = digits.length;
      this.classes = classes;
    }

    said(row, label) {
      const at = 2 * (row * this.classes + label);
      return this.place[this.text.charCodeAt(at)] * this.base + this.place[this.text.charCodeAt(at + 1)];
    }

    votes(row, label) { return Math.floor(this.said(row, label) / this.steps); }

    probability(row, label) { return (this.said(row, label) % this.steps) / (this.steps - 1); }

    gives(row, label) { return 2 * this.votes(row, label) > this.seeds; }

    isRight(row) { return 2 * this.right[row] > this.seeds; }

    knows(row) { return this.right[row] !== null; }

    // Pairs of seeds that differ, over all classes.
    differ(row) {
      if (!this.knows(row)) return null;
      let pairs = 0;
      for (let label = 0; label < this.classes; label++) {
        const votes = this.votes(row, label);
        pairs += votes * (this.seeds - votes);
      }
      return pairs;
    }
  }

  function setOf(block) {
    if (!parsed.has(block)) {
      const found = JSON.parse(document.getElementById(block).textContent);
      found.trainings = found.trainings.map(({ said, ...told }) =>
        new Training({ text: said, ...told }, found.digits, found.labels.length));
      parsed.set(block, found);
    }
    return parsed.get(block);
  }

  class Cases extends Explore.Explorer {
    constructor(root) {
      super(root, COLUMNS);
      this.told = root.querySelector(".told");
      this.draw();
      this.choose(this.blocks[0]);
      this.ask();
      this.begin();
    }

    draw() {
      const names = { case: "Case", labels: "Labels", answer: "Answer", right: "Seeds right", loss: "Loss" };
      const heads = Object.keys(COLUMNS).map((name) => make("th", { scope: "col" }, names[name] ?? name));
      const one = (name, value, display, orderable = true) => column(name, value, display, {
        visible: name in names,
        orderable,
        orderSequence: name === "case" || name === "right" ? ["asc", "desc"] : ["desc", "asc"],
        className: name === "case" ? "case" : name === "right" || name === "loss" ? "few" : "",
      });
      const nothing = () => "";
      const columns = [
        one("case", (row) => row, (row) => this.caseCell(row)),
        one("labels", (row) => row, (row) => this.labelsCell(row), false),
        one("answer", (row) => row, (row) => this.answerCell(row), false),
        one("right", (row) => this.right(row), (row) => this.rightCell(row)),
        one("loss", (row) => this.loss(row), (row) => this.headed("Loss", nats(this.loss(row)))),
        one("differ", (row) => this.training?.differ(row) ?? null, nothing),
        one("date", (row) => this.set.date[row], nothing),
      ];
      // equal ones stay as in the data set
      this.drawTable(heads, columns, "Cases", "case", { orderDescReverse: false });
    }

    // Another data set: its splits, trainings, attributes and labels; everything is asked anew.
    choose(block) {
      this.block = block;
      const set = (this.set = setOf(block));
      const { asks } = this;
      asks.set.value = set.key;
      this.haystack = null;
      this.fill(asks.split, [...set.splits.map((split) => [split, split]), ["", "All"]]);
      asks.split.value = set.split.values[0]; // the first with a case
      this.fill(asks.training, set.trainings.map((one, i) => [i, one.name]));
      this.fill(asks.label, [["", "Any"], ...set.labels.map((label, i) => [i, label])]);
      const none = !set.trainings.length;
      asks.training.closest("label").hidden = none;
      for (const option of asks.answer.options) option.hidden = none && ["right", "wrong", "differ"].includes(option.value);
      asks.label.closest("label").hidden = set.gold.values.every((gold) => gold === null);
      for (const option of asks.which.options) option.hidden = none && option.value !== "has";
      for (const option of asks.order.options) option.hidden = none && /^(loss|differ)/.test(option.value);
      for (const name of ["which", "answer"]) asks[name].selectedIndex = 0;
      asks.words.value = "";
      this.attributes = set.attributes.filter((one) => one.groups.length);
      this.root.querySelector(".filters").replaceChildren(...this.attributes.map((one, i) =>
        make("label", {}, bdi(one.title), " ", make("select", { name: `attribute-${i}`, "data-attribute": one.name }))));
      this.fillGroups();
      this.keep = new Uint8Array(set.id.length).fill(1);
      this.rows = set.id.map((_, row) => ({ row }));
      this.chooseTraining();
      this.table.order(none ? [COLUMNS.case, "asc"] : [COLUMNS.loss, "desc"]);
    }

    // The groups, with how many cases of the split each has.
    fillGroups() {
      const { set, asks } = this;
      const split = set.split.values.indexOf(asks.split.value);
      this.attributes.forEach((one, i) => {
        const counts = new Map();
        one.value.codes.forEach((code, row) => {
          if (asks.split.value && set.split.codes[row] !== split) return;
          const group = one.value.values[code];
          counts.set(group, (counts.get(group) ?? 0) + 1);
        });
        const select = asks[`attribute-${i}`];
        const before = select.value;
        this.fill(select, [["", "All"], ...one.groups.map((group) => [group, `${group} (${count(counts.get(group) ?? 0)})`])]);
        select.value = before;
      });
    }

    // Another training: its numbers are drawn and sorted anew. DataTables' own `invalidate` would
    // draw all rows.
    chooseTraining() {
      this.training = this.set.trainings[this.asks.training.value] ?? null;
      for (const name of MEASURED) this.table.column(COLUMNS[name]).visible(Boolean(this.training), false);
      this.table.clear();
      this.table.rows.add(this.rows);
    }

    sortable(name) {
      return super.sortable(name) && (this.training !== null || ![...MEASURED, "differ"].includes(name));
    }

    right(row) { return this.training ? this.training.right[row] : null; }

    loss(row) { return this.training ? this.training.loss[row] : null; }

    gold(row) { return decoded(this.set.gold, row); }

    // Which cases are kept: those that fit all that is asked.
    ask() {
      const { asks, set, keep, training } = this;
      const searched = this.searched();
      const split = asks.split.value && set.split.values.indexOf(asks.split.value);
      const groups = this.attributes
        .map(({ value }, i) => [value.codes, asks[`attribute-${i}`].value, value.values])
        .filter(([, group]) => group)
        .map(([codes, group, values]) => [codes, values.indexOf(group)]);
      const label = asks.label.value === "" ? null : Number(asks.label.value);
      asks.which.closest("label").hidden = label === null;
      const which = WHICH[asks.which.value];
      const answers = {
        known: (row) => this.gold(row) !== null,
        right: (row) => training.knows(row) && training.isRight(row),
        wrong: (row) => training.knows(row) && !training.isRight(row),
        differ: (row) => training.differ(row) > 0,
        unlabelled: (row) => this.gold(row) === null,
      };
      const answer = answers[asks.answer.value];
      const labelled = (row) => {
        const gold = this.gold(row);
        return gold !== null && which(gold.includes(label), training?.gives(row, label) ?? false);
      };
      for (let row = 0; row < keep.length; row++) {
        keep[row] =
          (split === "" || set.split.codes[row] === split) &&
          groups.every(([codes, code]) => codes[row] === code) &&
          (label === null || labelled(row)) &&
          (!answer || answer(row)) &&
          searched(row);
      }
      this.table.draw();
      this.tell();
    }

    hay(row) {
      const { set } = this;
      const numbers = decoded(set.numbers, row).map(([, number]) => number);
      return [set.id[row], set.title_of[row] ?? "", ...numbers, set.text[row]].join("\n");
    }

    // One sentence that says what is shown.
    tell() {
      const { asks, set, keep, training } = this;
      let [kept, known, right] = [0, 0, 0];
      for (let row = 0; row < keep.length; row++) {
        if (!keep[row]) continue;
        kept += 1;
        if (!training?.knows(row)) continue;
        known += 1;
        right += training.isRight(row);
      }
      const chosen = (select) => select.selectedOptions[0].textContent;
      const said = [asks.split.value || "all splits"];
      this.attributes.forEach(({ title }, i) => {
        const { value } = asks[`attribute-${i}`];
        if (value) said.push(`${title} ${value}`);
      });
      if (asks.label.value) said.push(`label ${chosen(asks.label)}: ${chosen(asks.which)}`);
      if (asks.answer.value) said.push(chosen(asks.answer));
      if (asks.words.value.trim()) said.push(`“${short(asks.words.value.trim())}”`);
      const sentence = [`${count(kept)} of ${counted(keep.length, "case")}: `, bdi(said.join("; ")), "."];
      if (training && known) {
        const whole = known === kept ? "" : ` of ${count(known)} with a known label`;
        sentence.push(` Answered exactly right by most seeds: ${count(right)}${whole} (`, bdi(training.name), `, ${counted(training.seeds, "seed")}).`);
      }
      this.told.replaceChildren(...sentence);
    }

    // What is asked, as an address.
    question() {
      const { asks, set, training } = this;
      const asked = new URLSearchParams({ set: set.key, split: asks.split.value });
      if (training) {
        for (const [name, key] of [["classifier", "classifier"], ["objective", "objective"], ["trained", "trained_for"]]) {
          asked.set(name, training[key]);
        }
      }
      this.attributes.forEach(({ name }, i) => {
        const { value } = asks[`attribute-${i}`];
        if (value) asked.set(name, value);
      });
      if (asks.label.value) {
        asked.set("label", set.labels[asks.label.value]);
        asked.set("which", asks.which.value);
      }
      if (asks.answer.value) asked.set("answer", asks.answer.value);
      if (asks.words.value.trim()) asked.set("search", asks.words.value.trim());
      asked.set("order", this.sorted());
      return `#?${asked}`;
    }

    // What an address asks for; what it names and the page does not have is told.
    answerTo(asked) {
      const lost = [];
      const { asks } = this;
      const named = (name) => asked.has(name) && asked.get(name);
      const key = named("set");
      const block = this.blocks.find((one) => setOf(one).key === key);
      if (key && !block) lost.push(`the data set ${key}`);
      this.choose(block ?? this.blocks[0]);
      const { set } = this;
      const select = (element, value, words) => {
        if ([...element.options].some((one) => one.value === value && !one.hidden)) element.value = value;
        else lost.push(words);
      };
      if (asked.has("split")) select(asks.split, asked.get("split"), `the split ${asked.get("split")}`);
      this.fillGroups();
      this.attributes.forEach(({ name, title }, i) => {
        if (named(name)) select(asks[`attribute-${i}`], asked.get(name), `the group ${asked.get(name)} of ${title}`);
      });
      if (named("classifier") || named("objective")) {
        const fits = set.trainings.filter((one) =>
          ["classifier", "objective"].every((one_of) => !named(one_of) || one[one_of] === asked.get(one_of)));
        const training = asked.has("trained")
          ? fits.find((one) => one.trained_for === asked.get("trained"))
          : (named("objective") && fits.find((one) => asked.has(one.trained_for))) || fits[0];
        const words = ["classifier", "objective", "trained"].map(named).filter(Boolean).join(", ");
        if (training) asks.training.value = set.trainings.indexOf(training);
        else lost.push(`the training ${words}`);
      }
      if (named("label")) {
        const place = set.labels.indexOf(asked.get("label"));
        select(asks.label, String(place), `the label ${asked.get("label")}`);
      }
      for (const name of ["which", "answer"]) {
        if (named(name)) select(asks[name], asked.get(name), `the answer ${asked.get(name)}`);
      }
      asks.words.value = asked.get("search") ?? "";
      this.chooseTraining();
      if (named("order") && !this.orderBy(asked.get("order"))) lost.push(`the order ${asked.get("order")}`);
      this.ask();
      this.tellOrder();
      this.left = null;
      this.tellLost(lost);
      this.root.closest("section").scrollIntoView({ block: "start", behavior: "instant" });
    }

    listen() {
      const { asks } = this;
      super.listen((target) => {
        if (target === asks.set) this.choose(this.blocks[asks.set.selectedIndex]);
        else if (target === asks.split) this.fillGroups();
        else if (target === asks.training) this.chooseTraining();
        else if (target === asks.order) this.order();
      });
    }

    address(row) {
      return `#${this.set.key}/${encodeURIComponent(this.set.id[row])}`;
    }

    caseCell(row) {
      const { set } = this;
      const numbers = decoded(set.numbers, row).map(([name, number]) => `${name} ${short(number, 40)}`);
      const known = [decoded(set.split, row), set.date[row], ...numbers].filter(Boolean);
      const groups = this.attributes.flatMap((one, i) => [i ? " · " : "", `${one.title}: `, bdi(decoded(one.value, row))]);
      const begins = set.text[row] ? make("span", { class: "name" }, bdi(short(set.text[row], 100), decoded(set.language, row))) : null;
      return make("div", {},
        make("a", { href: this.address(row) }, bdi(set.id[row])),
        set.title_of[row] ? make("span", { class: "name" }, bdi(set.title_of[row])) : begins,
        make("span", { class: "small" }, bdi(known.join(" · "))),
        make("span", { class: "small" }, ...groups));
    }

    labelNames(row) {
      const gold = this.gold(row);
      return gold === null ? "not known" : gold.map((label) => this.set.labels[label]).join(", ");
    }

    labelsCell(row) {
      return this.headed("Labels", bdi(this.labelNames(row)));
    }

    // Each label that a seed gives, and each true one that none does.
    answerCell(row) {
      const { set, training } = this;
      if (!training?.knows(row)) return make("span", { class: "small" }, training ? "not asked" : "");
      const gold = this.gold(row);
      const said = set.labels
        .map((name, label) => ({ name, label, votes: training.votes(row, label), applies: gold.includes(label) }))
        .filter(({ votes, applies }) => votes || applies)
        .sort((a, b) => b.votes - a.votes);
      const none = (label) => set.several && label === set.labels.length - 1;
      return this.headed("Answer", make("ul", { class: "answers" }, ...said.map(({ name, label, votes, applies }) => {
        const given = 2 * votes > training.seeds;
        const words = applies ? (given ? "right" : "missed") : "wrong";
        const share = none(label) ? "" : `, ${percent(training.probability(row, label))}`;
        return make("li", { class: applies === given ? (applies ? "good" : "") : "bad" }, make("b", {}, /^[\d<>=]/.test(name) ? "label " : "", bdi(name)), ` ${words} `,
          make("span", { class: "aside" }, `${votes} of ${training.seeds}${share}`));
      })));
    }

    rightCell(row) {
      const right = this.right(row);
      return this.headed("Seeds right", right === null ? "–" : `${right} of ${this.training.seeds}`);
    }

    // One case with everything that is known of it.
    open(row) {
      const { set } = this;
      const language = decoded(set.language, row) ?? "";
      const twin = decoded(set.duplicate_of, row);
      const known = [
        ["Date", set.date[row]],
        ...decoded(set.numbers, row),
        ["Split", decoded(set.split, row)],
        ["Labels", this.labelNames(row)],
        ["Source", `${decoded(set.source, row)}, record ${set.position[row]}`],
        ["Nearly the same as", twin],
      ].filter(([, value]) => value);
      this.show(
        make("h3", {}, bdi(set.title), " · ", bdi(set.id[row])),
        ...(set.title_of[row] ? [make("p", { class: "name" }, bdi(set.title_of[row]))] : []),
        make("dl", { class: "pairs" }, ...known.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, bdi(value))])),
        ...(set.text[row] ? [
          make("h4", {}, "How the facts begin"),
          make("div", { lang: language }, ...set.text[row].split("\n").map((one) => make("p", { dir: "auto" }, one)))] : []),
        make("h4", {}, "What is known of the parties, and from which words"),
        this.drawn("Attributes", ["Attribute", "Group", "Rule", "Words"], set.attributes.map((one) => [
          one.title,
          bdi(decoded(one.value, row) ?? "not known"),
          decoded(one.rule, row) ?? "–",
          this.evidence(decoded(one.evidence, row), language),
        ])),
        ...this.answers(row));
    }

    evidence(pieces, lang) {
      if (!pieces.length) return "–";
      return make("ul", { class: "plain" }, ...pieces.map(([place, words]) =>
        make("li", {}, bdi(words, lang), " ", make("span", { class: "aside" }, place))));
    }

    // What each training says of each label.
    answers(row) {
      const { set } = this;
      const asked = set.trainings.filter((one) => one.knows(row));
      if (!asked.length) {
        return [make("p", { class: "absent" }, set.trainings.length ? "No training was asked: its label is not known." : "No classifier was trained on this data set.")];
      }
      const gold = this.gold(row);
      const several = (label) => set.several && label === set.labels.length - 1;
      const heads = set.labels.map((name, label) => gold.includes(label)
        ? make("span", {}, make("b", {}, bdi(name)), make("span", { class: "aside" }, " applies")) : bdi(name));
      const rows = asked.map((training) => [
        training.name,
        ...set.labels.map((_, label) => {
          const votes = training.votes(row, label);
          const share = several(label) ? null : percent(training.probability(row, label));
          const given = `${votes} of ${training.seeds}`;
          return make("span", { class: training.gives(row, label) ? "given" : "" },
            share ?? given, share ? make("span", { class: "aside" }, ` ${given}`) : null);
        }),
        `${training.right[row]} of ${training.seeds}`,
        nats(training.loss[row]),
      ]);
      return [
        make("h4", {}, "What each training says"),
        this.drawn("Probability of each label, and the seeds that give it", ["Training", ...heads, "Seeds right", "Loss"], rows),
      ];
    }
  }

  function percent(share) {
    const text = (100 * share).toFixed(share > 0.1 && share < 0.9 ? 0 : 1);
    return `${text}\u00a0%`;
  }

  const root = document.querySelector(".explorer");
  if (!root) return;
  const cases = new Cases(root);

  // Key and id of a case, or an id alone; an id may hold a slash.
  Explore.follow(cases, "case", (asked) => {
    const [first, ...rest] = asked;
    const named = cases.blocks.filter((block) => setOf(block).key === first && rest.length);
    const ways = [...named.map((block) => [block, rest.join("/")]), ...cases.blocks.map((block) => [block, asked.join("/")])];
    return ways.map(([block, id]) => [block, setOf(block).id.indexOf(id)]).find(([, row]) => row >= 0);
  });
})();
