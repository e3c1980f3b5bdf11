// Finds, sorts and opens the people of people.html. What the data are is said in
// report/sections/people.py. Data become text nodes only, never markup.
//
// An address may ask (`people.html#?set=loans&training=mlp`, values percent-encoded) for
//   set         a data set; the first if it is left out
//   training    a method with its setting, as results tell it: "mlp, iifr_cosine, lambda 1"
//   method      or the first training of a method; the first of the page if both are left out
//   seed        one seed; all if it is left out
//   group       a value of the protected attribute, as the training has them
//   label       0 or 1
//   answer      changes, stays (the decision), beyond, within (tau), wrong, right, positive, negative
//   search      beginnings of words; Chinese anywhere
//   order       difference-desc, difference-asc, p-desc, p-asc, person-asc (as in the data set); or
//               another heading: label-asc, flipped-desc, ...
// or for one person: `people.html#loans/17`, or the number alone. Names that are none are passed
// over, values that are none are told.
"use strict";

(() => {
  const { bdi, column, count, counted, make, short } = Explore;
  const STEPS = 1001;
  const BITS = 6;
  const COLUMNS = { person: 0, label: 1, decision: 2, flipped: 3, difference: 4, p: 5 };
  const parsed = new Map(); // by the id of the block; a block is read when it is first needed

  const share = (thousandths) => (thousandths / (STEPS - 1)).toFixed(3);
  // As tables round what results tell with eight digits: a half goes to the even digit.
  const rounded = (value, digits) => {
    const number = Number(value.toPrecision(8));
    const [up, exact] = [number.toFixed(digits), number.toFixed(60)];
    const half = /^50*$/.test(exact.slice(exact.indexOf(".") + 1 + digits));
    return half && up.at(-1) % 2 ? (number - 10 ** -(digits + 2)).toFixed(digits) : up;
  };
  const percent = (value) => `${rounded(100 * value, 1)}\u00a0%`;
  const { format } = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });

  const ANSWERS = {
    changes: (all, i) => all.changed[i] > 0,
    stays: (all, i) => all.changed[i] === 0,
    beyond: (all, i) => all.beyond[i] > 0,
    within: (all, i) => all.beyond[i] === 0,
    wrong: (all, i) => all.wrong[i] === 1,
    right: (all, i) => all.wrong[i] === 0,
    positive: (all, i) => all.positive[i] === 1,
    negative: (all, i) => all.positive[i] === 0,
  };

  // The people of a data set.
  class People {
    constructor({ features, ...data }) {
      Object.assign(this, data);
      this.known = features.map(({ values, unit, ...more }) => ({
        ...more,
        words: values.map((value) => (typeof value === "number" ? `${format(value)} ${unit}`.trim() : value)),
      }));
      this.place = new Uint8Array(128);
      [...data.digits].forEach((digit, i) => { this.place[digit.charCodeAt(0)] = i; });
      this.base = data.digits.length;
      this.rowOf = new Map(data.id.map((id, row) => [id, row]));
      this.people = this.held.map((bits) => this.heldOut(bits));
      this.answered = new Map(); // what a training says, by its place, read when it is needed
    }

    number(text, at, width) {
      let value = 0;
      for (let i = at * width; i < (at + 1) * width; i++) value = value * this.base + this.place[text.charCodeAt(i)];
      return value;
    }

    heldOut(bits) {
      const found = [];
      for (let row = 0; row < this.id.length; row++) {
        if ((this.place[bits.charCodeAt(Math.floor(row / BITS))] >> (BITS - 1 - (row % BITS))) & 1) found.push(row);
      }
      return Int32Array.from(found);
    }

    groupOf(row, { group }) { return this.number(group, row, 2); }

    // What the group of a person is called.
    groupNamed(row, grouping) { return grouping.values[this.groupOf(row, grouping)]; }

    truthOf(row) { return this.number(this.truth, row, 1); }

    // What is known of a person: name and value, with its unit.
    features(row) {
      return this.known.map(({ name, words, width, codes }) => [name, words[this.number(codes, row, width)]]);
    }

    // The groups of a person: the data set's, and others that methods have of their own.
    groupsOf(row) {
      return this.groupings.flatMap((grouping, i) =>
        (i && !grouping.name ? [] : [[grouping.name ? `${this.attribute}, ${grouping.name}` : this.attribute, this.groupNamed(row, grouping)]]));
    }

    // The other values of the attribute, in the order in which a training tells them.
    others(row, told) {
      const grouping = this.groupings[told.grouping];
      const own = this.groupOf(row, grouping);
      return grouping.values.filter((_, code) => code !== own);
    }

    // What all seeds of a training say, an answer at a time: the person, the seed's place, the
    // own probability, the flips that change the decision and are beyond tau, the furthest one.
    answers(training) {
      if (!this.answered.has(training)) this.answered.set(training, this.read(this.trainings[training]));
      return this.answered.get(training);
    }

    read(told) {
      const size = told.held.reduce((sum, held) => sum + this.people[held].length, 0);
      const all = { size, person: new Int32Array(size), seed: new Uint16Array(size), p: new Uint16Array(size), difference: new Uint16Array(size) };
      for (const name of ["positive", "wrong", "changed", "beyond"]) all[name] = new Uint8Array(size);
      const values = this.groupings[told.grouping].values.length;
      let i = 0;
      told.said.forEach((text, seed) => {
        this.people[told.held[seed]].forEach((row, j) => {
          const own = this.number(text, j * values, 2);
          all.person[i] = row;
          all.seed[i] = seed;
          all.p[i] = own % STEPS;
          all.positive[i] = own >= STEPS ? 1 : 0;
          all.wrong[i] = all.positive[i] === this.truthOf(row) ? 0 : 1;
          for (let k = 1; k < values; k++) {
            const other = this.number(text, j * values + k, 2);
            const flags = Math.floor(other / STEPS);
            all.changed[i] += flags % 2;
            all.beyond[i] += flags >> 1;
            all.difference[i] = Math.max(all.difference[i], Math.abs((other % STEPS) - all.p[i]));
          }
          i += 1;
        });
      });
      return all;
    }

    // What the seeds of a training say of one person, value by value.
    said(told, row) {
      const values = this.groupings[told.grouping].values.length;
      return told.said.flatMap((text, seed) => {
        const at = this.people[told.held[seed]].indexOf(row);
        if (at < 0) return [];
        const numbers = [...Array(values).keys()].map((k) => this.number(text, at * values + k, 2));
        const [own, ...others] = numbers.map((number) => [number % STEPS, Math.floor(number / STEPS)]);
        return [{
          seed: told.seeds[seed],
          p: own[0],
          positive: own[1] > 0,
          flips: others.map(([p, flags]) => ({ p, changes: flags % 2 === 1, beyond: flags > 1 })),
        }];
      });
    }
  }

  function setOf(block) {
    if (!parsed.has(block)) {
      parsed.set(block, new People(JSON.parse(document.getElementById(block).textContent)));
    }
    return parsed.get(block);
  }

  class Persons extends Explore.Explorer {
    constructor(root) {
      super(root, COLUMNS);
      this.told = root.querySelector(".told");
      this.measured = root.querySelector(".measured-here");
      this.fold = root.querySelector(".by-seed");
      this.fold.addEventListener("toggle", () => this.tellSeeds());
      this.draw();
      this.choose(this.blocks[0]);
      this.ask();
      this.begin();
    }

    draw() {
      const names = { person: "Person", label: "Label", decision: "Decision", flipped: "With another value", difference: "Moved by" };
      const heads = Object.keys(COLUMNS).map((name) => make("th", { scope: "col" }, names[name] ?? name));
      const one = (name, value, display) => column(name, value, display, {
        visible: name in names,
        orderSequence: name === "person" || name === "label" ? ["asc", "desc"] : ["desc", "asc"],
        className: { person: "person", label: "few", difference: "few" }[name] ?? "decided",
      });
      const of = (name) => (row) => (this.sums ? this.sums[name][row] : 0);
      const columns = [
        one("person", (row) => row, (row) => this.personCell(row)),
        one("label", (row) => this.set.truthOf(row), (row) => this.headed("Label", String(this.set.truthOf(row)))),
        one("decision", of("p"), (row) => this.decisionCell(row)),
        one("flipped", of("changed"), (row) => this.flippedCell(row)),
        one("difference", of("difference"), (row) => this.headed("Moved by", share(this.sums.difference[row]))),
        one("p", of("p"), () => ""),
      ];
      // equal ones stay as in the data set
      this.drawTable(heads, columns, "People", "person", { orderDescReverse: false });
    }

    // Another data set: its trainings, groups and people; everything is asked anew.
    choose(block) {
      this.block = block;
      const set = (this.set = setOf(block));
      const { asks } = this;
      asks.set.value = set.key;
      this.grouping = null;
      this.fill(asks.training, set.trainings.map((one, i) => [i, one.name]));
      this.root.querySelector(".attribute").replaceChildren("Group: ", bdi(set.attribute));
      for (const name of ["label", "answer", "order"]) asks[name].selectedIndex = 0;
      asks.words.value = "";
      this.keep = new Uint8Array(set.id.length).fill(1);
      this.chooseTraining();
      this.order();
    }

    // Another training: its groups, its seeds, and the numbers of each person. A group that is
    // asked for stays so, if the training has it.
    chooseTraining() {
      const { set, asks } = this;
      this.training = set.trainings[asks.training.value];
      const grouping = set.groupings[this.training.grouping];
      if (grouping !== this.grouping) {
        const place = grouping.values.indexOf(this.grouping?.values[asks.group.value]);
        this.fill(asks.group, [["", "All"], ...grouping.values.map((group, i) => [i, group])]);
        asks.group.value = place < 0 ? "" : String(place);
        this.grouping = grouping;
        this.haystack = null;
      }
      this.all = set.answers(Number(asks.training.value));
      this.fill(asks.seed, [["", `All (${this.training.seeds.length})`], ...this.training.seeds.map((seed, i) => [i, seed])]);
      this.chooseSeed();
    }

    // Each person's sums over the seeds that are asked. DataTables' own `invalidate` would draw
    // all rows.
    chooseSeed() {
      const { set, all, asks } = this;
      this.seed = asks.seed.value === "" ? null : Number(asks.seed.value);
      const sums = (this.sums = {});
      for (const name of ["answers", "positive", "wrong", "changed", "beyond", "p", "difference"]) sums[name] = new Float64Array(set.id.length);
      for (let i = 0; i < all.size; i++) {
        if (this.seed !== null && all.seed[i] !== this.seed) continue;
        const row = all.person[i];
        sums.answers[row] += 1;
        for (const name of ["positive", "wrong", "p"]) sums[name][row] += all[name][i];
        for (const name of ["changed", "beyond"]) sums[name][row] += all[name][i] > 0 ? 1 : 0;
        sums.difference[row] = Math.max(sums.difference[row], all.difference[i]);
      }
      const rows = [];
      for (let row = 0; row < set.id.length; row++) {
        if (!sums.answers[row]) continue;
        sums.p[row] /= sums.answers[row];
        rows.push({ row });
      }
      this.held = rows.length;
      this.table.clear();
      this.table.rows.add(rows);
    }

    // Which people are kept: those of whom an answer fits all that is asked.
    ask() {
      const { asks, set, keep, all } = this;
      const searched = this.searched();
      const group = asks.group.value === "" ? null : Number(asks.group.value);
      const label = asks.label.value === "" ? null : Number(asks.label.value);
      const fits = ANSWERS[asks.answer.value] ?? (() => true);
      const asked = new Uint8Array(set.id.length);
      for (let row = 0; row < keep.length; row++) {
        keep[row] = 0;
        asked[row] = (group === null || set.groupOf(row, this.grouping) === group) && (label === null || set.truthOf(row) === label)
          && searched(row) ? 1 : 0;
      }
      this.seeds = this.training.seeds.map(() => ({ answers: 0, wrong: 0, positive: 0, changed: 0, beyond: 0, changedFlips: 0, beyondFlips: 0 }));
      this.fitting = 0;
      for (let i = 0; i < all.size; i++) {
        const row = all.person[i];
        if (!asked[row] || (this.seed !== null && all.seed[i] !== this.seed)) continue;
        const sums = this.seeds[all.seed[i]];
        sums.answers += 1;
        sums.wrong += all.wrong[i];
        sums.positive += all.positive[i];
        sums.changed += all.changed[i] > 0 ? 1 : 0;
        sums.beyond += all.beyond[i] > 0 ? 1 : 0;
        sums.changedFlips += all.changed[i];
        sums.beyondFlips += all.beyond[i];
        if (!fits(all, i)) continue;
        this.fitting += 1;
        keep[row] = 1;
      }
      this.table.draw();
      this.tell();
      this.tellSeeds();
    }

    hay(row) {
      const { set } = this;
      const known = set.features(row).map(([name, value]) => `${name}: ${value}`);
      return [set.id[row], `${set.attribute}: ${set.groupNamed(row, this.grouping)}`, ...known].join("\n");
    }

    // One sentence that says what is shown, and one with the measures of who is asked for.
    tell() {
      const { asks, set, training, seeds } = this;
      const kept = this.keep.reduce((sum, one) => sum + one, 0);
      const answers = seeds.reduce((sum, one) => sum + one.answers, 0);
      const chosen = (select) => select.selectedOptions[0].textContent;
      const said = [training.name, this.seed === null ? this.seedsTold() : `seed ${chosen(asks.seed)}`];
      if (asks.group.value) said.push(`${set.attribute} ${chosen(asks.group)}`);
      if (asks.label.value) said.push(`label ${asks.label.value}`);
      if (asks.words.value.trim()) said.push(`“${short(asks.words.value.trim())}”`);
      if (asks.answer.value) said.push(chosen(asks.answer));
      this.told.replaceChildren(
        `${count(kept)} of ${counted(this.held, "person", "people")}: `, bdi(said.join("; ")),
        asks.answer.value ? `, in ${count(this.fitting)} of ${counted(answers, "answer")}.` : `, ${counted(answers, "answer")}.`);
      const mean = this.means();
      this.measured.replaceChildren(...(answers ? [
        `Of all ${counted(answers, "answer")}: accuracy ${percent(mean.acc)}, predicted positive ${rounded(mean.positive, 3)}, IFR_b ${percent(mean.ifr_b)}, IFR_p ${percent(mean.ifr_p)}${this.grouping.values.length > 2 ? `, for all values ${percent(mean.ifr_p_all)}` : ""}`,
        seeds.filter((one) => one.answers).length > 1 ? "; means over seeds." : "."] : []));
    }

    seedsTold() {
      const { seeds, runs } = this.training;
      return seeds.length < runs ? `the first ${seeds.length} of ${runs} seeds` : counted(seeds.length, "seed");
    }

    // The shares of a seed; nothing of nobody.
    shares(one) {
      const flips = one.answers * (this.grouping.values.length - 1);
      return {
        acc: 1 - one.wrong / one.answers,
        positive: one.positive / one.answers,
        ifr_b: 1 - one.changedFlips / flips,
        ifr_p: 1 - one.beyondFlips / flips,
        ifr_p_all: 1 - one.beyond / one.answers,
      };
    }

    means() {
      const found = this.seeds.filter((one) => one.answers).map((one) => this.shares(one));
      const mean = (name) => found.reduce((sum, one) => sum + one[name], 0) / found.length;
      return Object.fromEntries(Object.keys(found[0] ?? {}).map((name) => [name, mean(name)]));
    }

    tellSeeds() {
      this.fold.hidden = !this.seeds.some((one) => one.answers);
      if (!this.fold.open || this.fold.hidden) return;
      const several = this.grouping.values.length > 2;
      const with_ = (answers, flips) => (several ? `${count(answers)} (${counted(flips, "flip")})` : count(answers));
      const rows = this.seeds.flatMap((one, i) => {
        if (!one.answers) return [];
        const { acc, ifr_b, ifr_p } = this.shares(one);
        return [[`seed ${this.training.seeds[i]}`, count(one.answers), count(one.positive), count(one.wrong), percent(acc),
          with_(one.changed, one.changedFlips), percent(ifr_b), with_(one.beyond, one.beyondFlips), percent(ifr_p)]];
      });
      this.fold.querySelector("div").replaceChildren(this.drawn("What each seed decides of the people asked for",
        ["Seed", "Answers", "Decided 1", "Wrong", "Accuracy", "Decision changes", "IFR_b", "Beyond tau", "IFR_p"], rows));
    }

    // The column of decisions is sorted by their probability.
    sorted() {
      return super.sorted().replace("decision-", "p-");
    }

    // What is asked, as an address.
    question() {
      const { asks, set, training } = this;
      const asked = new URLSearchParams({ set: set.key, training: training.training });
      if (asks.seed.value) asked.set("seed", training.seeds[asks.seed.value]);
      if (asks.group.value) asked.set("group", this.grouping.values[asks.group.value]);
      for (const name of ["label", "answer"]) if (asks[name].value) asked.set(name, asks[name].value);
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
      if (named("training") || named("method")) {
        const place = set.trainings.findIndex((one) => (named("training") ? one.training === asked.get("training") : one.method === asked.get("method")));
        if (place < 0) lost.push(`the training ${asked.get("training") || asked.get("method")}`);
        else asks.training.value = String(place);
      }
      this.chooseTraining();
      if (named("seed")) {
        const place = this.training.seeds.findIndex((seed) => String(seed) === asked.get("seed"));
        if (place < 0) lost.push(`the seed ${asked.get("seed")}`);
        else {
          asks.seed.value = String(place);
          this.chooseSeed();
        }
      }
      if (named("group")) {
        const place = this.grouping.values.indexOf(asked.get("group"));
        if (place < 0) lost.push(`the group ${asked.get("group")} of ${set.attribute}`);
        else asks.group.value = String(place);
      }
      for (const name of ["label", "answer"]) {
        if (!named(name)) continue;
        if ([...asks[name].options].some((one) => one.value === asked.get(name))) asks[name].value = asked.get(name);
        else lost.push(`the ${name} ${asked.get(name)}`);
      }
      asks.words.value = asked.get("search") ?? "";
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
        else if (target === asks.training) this.chooseTraining();
        else if (target === asks.seed) this.chooseSeed();
        else if (target === asks.order) this.order();
      });
    }

    address(row) {
      return `#${encodeURIComponent(this.set.key)}/${this.set.id[row]}`;
    }

    personCell(row) {
      const { set } = this;
      const known = set.features(row).flatMap(([name, value], i) => [i ? " · " : "", bdi(`${name}: ${value}`)]);
      return make("div", {},
        make("a", { href: this.address(row) }, `Person ${set.id[row]}`),
        make("span", { class: "name" }, `${set.attribute}: `, bdi(set.groupNamed(row, this.grouping))),
        make("span", { class: "small" }, ...known));
    }

    // How many of a person's answers, with a word for one and for several.
    ofAnswers(row, number) {
      const all = this.sums.answers[row];
      return all === 1 ? "" : number === all ? `, all ${all} seeds` : `, ${number} of ${all} seeds`;
    }

    decisionCell(row) {
      const { sums } = this;
      const positive = sums.positive[row];
      const most = 2 * positive > sums.answers[row] ? 1 : 0;
      const votes = most ? positive : sums.answers[row] - positive;
      const wrong = sums.wrong[row];
      return this.headed("Decision", make("b", {}, String(most)), this.ofAnswers(row, votes),
        make("span", { class: "small" }, `probability ${share(sums.p[row])}`, ...(wrong ? ["; ", make("b", { class: "bad" }, "wrong"), this.ofAnswers(row, wrong)] : [])));
    }

    flippedCell(row) {
      const { changed, beyond } = this.sums;
      return this.headed("With another value",
        changed[row] ? make("span", {}, make("b", { class: "bad" }, "changes"), this.ofAnswers(row, changed[row])) : "stays",
        beyond[row] ? make("span", { class: "small" }, "beyond tau", this.ofAnswers(row, beyond[row])) : null);
    }

    // One person with everything that is known of them.
    open(row) {
      const { set } = this;
      const known = [...set.groupsOf(row), ["Label", `${set.truthOf(row)}${set.label ? `: ${set.truthOf(row) ? "" : "not "}${set.label}` : ""}`], ...set.features(row)];
      this.show(
        make("h3", {}, bdi(set.title), ` · person ${set.id[row]}`),
        make("dl", { class: "pairs" }, ...known.flatMap(([name, value]) => [make("dt", {}, bdi(name)), make("dd", {}, bdi(value))])),
        ...this.decisions(row));
    }

    // What each training decides, by seed: as the person is, and with each other value.
    decisions(row) {
      const { set } = this;
      const found = set.trainings.map((told) => [told, set.said(told, row)]).filter(([, said]) => said.length);
      const seeds = [...new Set(found.flatMap(([, said]) => said.map(({ seed }) => seed)))].sort((a, b) => a - b);
      const cell = (one, others) => one && make("span", {},
        make("b", { class: Number(one.positive) === set.truthOf(row) ? "" : "bad" }, one.positive ? "1" : "0"), ` ${share(one.p)}`,
        ...one.flips.map(({ p, changes, beyond }, i) => make("span", { class: "name" },
          bdi(others[i]), `: ${share(p)}`,
          changes ? make("b", { class: "bad" }, " changes") : null,
          beyond ? make("span", { class: "aside" }, " beyond tau") : null)));
      const rows = found.map(([told, said]) => {
        const others = set.others(row, told);
        return [told.name, ...seeds.map((seed) => cell(said.find((one) => one.seed === seed), others) ?? "–")];
      });
      return [
        make("h4", {}, "What each method decides, and the probability of the label 1; below, with another value"),
        this.drawn("Decisions by seed", ["Method", ...seeds.map((seed) => `Seed ${seed}`)], rows),
      ];
    }
  }

  const root = document.querySelector(".explorer");
  if (!root) return;
  const people = new Persons(root);

  // Key and number of a person, or a number alone.
  Explore.follow(people, "person", ([first, second]) => {
    const number = second ?? first;
    if (!/^\d+$/.test(number)) return null;
    const blocks = second === undefined ? people.blocks : people.blocks.filter((block) => setOf(block).key === first);
    const block = blocks.find((one) => setOf(one).rowOf.has(Number(number)));
    return block && [block, setOf(block).rowOf.get(Number(number))];
  });
})();
