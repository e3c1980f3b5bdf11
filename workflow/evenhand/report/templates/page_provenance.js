// The page of provenance: finds files, and draws the details of the chosen one.
// All text from the data goes into text nodes.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("provenance").textContent);
  const MOST = 12; // names shown of a long list before it is unfolded
  const NAMED = 2; // files named of a step of the way back
  const OPEN = 40; // folds with hits are opened up to so many files
  const [ID, PATH, SHA, LINK, HOLDS, BYTES, ROWS, COLUMNS, RUN] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [STAGE, CODE, PARAMETERS, PACKAGES, COUNTS, INPUTS] = [0, 1, 2, 3, 4, 5];
  const { nodes, runs } = data;
  const stageOf = (node) => (node.length > RUN && node[RUN] !== null ? data.stages[runs[node[RUN]][STAGE]] : null);
  const ruleOf = (node) => stageOf(node)?.[0].split(".").pop() ?? "";
  const numbers = new Map(nodes.map((node, number) => [node[ID], number]));

  // What was made of each file or source: the files whose run read it.
  const uses = new Map();
  const outputs = runs.map(() => []);
  nodes.forEach((node, number) => {
    if (node.length > RUN && node[RUN] !== null) outputs[node[RUN]].push(number);
  });
  runs.forEach((run, number) => {
    for (const read of new Set(run[INPUTS].flatMap(([, inputs]) => inputs))) {
      if (!uses.has(read)) uses.set(read, []);
      uses.get(read).push(...outputs[number]);
    }
  });

  function element(name, text, properties = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, properties);
  }
  const code = (text) => element("code", text);
  // Texts from data with commas between: each keeps its direction of writing to itself.
  const listed = (texts) => texts.flatMap((text, i) => [i ? ", " : "", element("bdi", text)]);
  const count = (value) => value.toLocaleString("en");
  function link(number) {
    const node = nodes[number];
    const made = element("a", undefined, { href: `#${encodeURIComponent(node[ID])}` });
    made.append(code(node[PATH]));
    return made;
  }

  // A list whose rest is shown on request.
  function listOf(items, draw, name = "ul") {
    const list = element(name, undefined, { className: "plain" });
    const add = (some) => list.append(...some.map((item) => {
      const entry = element("li");
      entry.append(draw(item));
      return entry;
    }));
    add(items.slice(0, MOST));
    if (items.length > MOST) {
      const entry = element("li");
      const more = element("button", `Show ${count(items.length - MOST)} more`, { type: "button" });
      more.addEventListener("click", () => {
        entry.remove();
        add(items.slice(MOST));
        list.children[MOST].querySelector("a")?.focus();
      });
      entry.append(more);
      list.append(entry);
    }
    return list;
  }

  // The way back: what lies above a file, by rule, each rule after all that were made of it.
  function wayBack(start) {
    const depth = new Map([[start, 0]]);
    const order = [];
    const state = new Map();
    const waiting = [start];
    while (waiting.length) { // upstream first, without recursion
      const number = waiting[waiting.length - 1];
      if (state.has(number)) {
        waiting.pop();
        if (state.get(number) === 1) order.push(number);
        state.set(number, 2);
        continue;
      }
      state.set(number, 1);
      waiting.push(...readBy(number).filter((read) => !state.has(read)));
    }
    for (const number of order.reverse()) {
      for (const read of readBy(number)) {
        depth.set(read, Math.max(depth.get(read) ?? 0, depth.get(number) + 1));
      }
    }
    const steps = new Map();
    const sources = [];
    for (const number of order) {
      if (number >= data.files || nodes[number][RUN] === null) sources.push(number);
      else {
        const rule = ruleOf(nodes[number]);
        const step = steps.get(rule) ?? { rule, depth: 0, files: [], stage: stageOf(nodes[number]) };
        step.depth = Math.max(step.depth, depth.get(number));
        step.files.push(number);
        steps.set(rule, step);
      }
    }
    const byPath = (a, b) => (nodes[a][PATH] < nodes[b][PATH] ? -1 : 1);
    const byDepth = (a, b) => a.depth - b.depth || (a.rule < b.rule ? -1 : 1);
    return { steps: [...steps.values()].sort(byDepth), sources: sources.sort(byPath) };
  }
  function readBy(number) {
    const node = nodes[number];
    if (node.length <= RUN || node[RUN] === null) return [];
    return runs[node[RUN]][INPUTS].flatMap(([, inputs]) => inputs);
  }

  function pairs() {
    const list = element("dl", undefined, { className: "pairs" });
    const add = (name, ...values) => {
      const value = element("dd");
      value.append(...values);
      list.append(element("dt", name), value);
    };
    return { list, add };
  }

  function details(number) {
    const node = nodes[number];
    const { list, add } = pairs();
    if (data.holds[node[HOLDS]]) add("Holds", data.holds[node[HOLDS]]);
    if (node[LINK]) {
      const open = element("a", undefined, { href: node[LINK] });
      open.append(code(node[PATH]));
      add("Open", open);
    }
    add("SHA-256", code(node[SHA]));
    if (node[BYTES] !== null) add("Size", `${count(node[BYTES])} bytes`);
    if (node[ROWS] !== null) add("Rows", count(node[ROWS]));
    const columns = data.columns[node[COLUMNS]];
    if (columns) add("Columns", ...listed(columns));
    if (node[RUN] === null) {
      add("Made by", "no record says what made it as it is now");
    } else {
      const run = runs[node[RUN]];
      const [module, id] = data.stages[run[STAGE]];
      const stage = element("a", undefined, { href: `#${encodeURIComponent(id)}` });
      stage.append(code(module));
      add("Made by", "rule ", code(module.split(".").pop()), ", module ", stage);
      add("Code", code(data.codes[run[CODE]]));
      const parameters = data.parameters[run[PARAMETERS]];
      for (const [title, chosen] of [["Configuration", true], ["Arguments", false]]) {
        const some = parameters.filter(([, , configured]) => configured === chosen);
        if (some.length) add(title, listOf(some, ([name, value]) => code(`${name} = ${value}`)));
      }
      const packages = data.packages[run[PACKAGES]];
      if (packages.length) add("Packages", ...listed(packages.map((one) => one.join(" "))));
      const counts = run[COUNTS];
      if (counts.length) add("Counts", ...listed(counts.map(([name, n]) => `${name.replaceAll("_", " ")} ${count(n)}`)));
      for (const [argument, inputs] of run[INPUTS]) add(`From ${argument}`, listOf(inputs, source));
      if (!run[INPUTS].length) add("Made from", "no file");
    }
    const users = uses.get(number) ?? [];
    add("Used by", users.length ? listOf(users, link) : "no other file here");
    if (node[RUN] !== null) {
      const { steps, sources } = wayBack(number);
      const way = element("ol", undefined, { className: "plain way" });
      for (const step of steps) {
        const entry = element("li");
        const stage = element("a", undefined, { href: `#${encodeURIComponent(step.stage[1])}` });
        stage.append(code(step.rule));
        entry.append(stage, " made ");
        const named = step.files.length > NAMED + 1 ? NAMED : step.files.length;
        step.files.slice(0, named).forEach((file, i) => entry.append(i ? ", " : "", link(file)));
        if (named < step.files.length) entry.append(` and ${count(step.files.length - named)} more`);
        way.append(entry);
      }
      if (sources.length) {
        const entry = element("li", `from ${count(sources.length)} ${sources.length === 1 ? "source" : "sources"} at the start:`);
        entry.append(listOf(sources, source));
        way.append(entry);
      }
      add("The way back", way);
    }
    const box = element("div", undefined, { className: "details", id: "details" });
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", node[PATH]);
    box.append(list);
    return box;
  }
  function source(number) {
    const whole = element("span");
    const sum = element("code", nodes[number][SHA].slice(0, 12), { title: nodes[number][SHA] });
    const aside = element("span", " ", { className: "aside" });
    aside.append(sum);
    whole.append(link(number), aside);
    return whole;
  }

  function show() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* a percent sign of its own */ }
    const target = document.getElementById(id);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const number = numbers.get(id);
    if (number !== undefined && number < data.files) {
      if (target.hidden) find("");
      document.getElementById("details")?.remove();
      document.querySelector("#kinds a[aria-expanded]")?.removeAttribute("aria-expanded");
      target.append(details(number));
      target.querySelector("a").setAttribute("aria-expanded", "true");
    }
    target.scrollIntoView({ behavior: "instant" });
  }

  // A second click on the file closes it.
  document.getElementById("kinds").addEventListener("click", (event) => {
    const chosen = event.target.closest("li > a[aria-expanded]");
    if (!chosen || !chosen.parentElement.id) return;
    event.preventDefault();
    document.getElementById("details")?.remove();
    chosen.removeAttribute("aria-expanded");
    history.replaceState(null, "", location.pathname + location.search);
  });

  const words = document.getElementById("words");
  const texts = nodes.slice(0, data.files).map((node) =>
    [node[PATH], data.holds[node[HOLDS]] ?? "", ruleOf(node), stageOf(node)?.[0] ?? "", node[SHA]].join("\n").toLowerCase());
  const items = nodes.slice(0, data.files).map((node) => document.getElementById(node[ID]));
  const folds = [...document.querySelectorAll("#kinds section, #kinds details, #kinds ul.alone")].map((fold) => ({
    fold,
    members: [...fold.querySelectorAll("li[id]")].map((item) => numbers.get(item.id)),
  }));
  function find(text) {
    if (words.value !== text) words.value = text;
    const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = texts.map((one) => terms.every((word) => one.includes(word)));
    const n = hits.filter(Boolean).length;
    items.forEach((item, number) => { item.hidden = !hits[number]; });
    for (const { fold, members } of folds) {
      const some = members.some((number) => hits[number]);
      fold.hidden = !some;
      if (fold.tagName === "DETAILS" && terms.length) fold.open = some && n <= OPEN;
    }
    document.getElementById("found").textContent = terms.length
      ? `${count(n)} of ${count(data.files)} ${data.files === 1 ? "file" : "files"}` : "";
  }
  document.getElementById("search").hidden = false;
  document.getElementById("how").hidden = false;
  words.addEventListener("input", () => find(words.value));
  if (words.value) find(words.value);

  addEventListener("hashchange", show);
  show();
})();
