// Draws the figures: an element of class `chart` holds a Vega-Lite specification (figures.py),
// which Vega draws as SVG, as wide as its place. Its colours are the page's own, `var(--name)`,
// and so follow light, dark and print by themselves. On paper and in a file it has one width,
// whatever the screen.
"use strict";

(() => {
  const PAPER = 720; // pixels between the margins of a sheet, as in the style sheet
  const charts = [...document.querySelectorAll(".chart")];
  if (!globalThis.vega) {
    for (const chart of charts) chart.textContent = "The drawing needs the file vega.js beside this page.";
    return;
  }
  const drawn = new WeakMap(); // view and width by chart
  const { fontFamily } = getComputedStyle(document.body);

  // What all figures have in common.
  function theme(width, longest) {
    const columns = Math.max(Math.floor((width - 50) / (7 * longest + 36)), 1);
    return {
      background: null,
      padding: { left: 2, right: 2, top: 6, bottom: 2 },
      autosize: { type: "fit-x", contains: "padding" },
      font: fontFamily,
      view: { stroke: null },
      text: { fontSize: 13, fill: "var(--ink)" },
      rule: { stroke: "var(--soft)" },
      axis: {
        domainColor: "var(--line)", tickColor: "var(--line)", gridColor: "var(--faint)", labelColor: "var(--soft)", titleColor: "var(--soft)",
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400, titlePadding: 6, tickSize: 4, labelOverlap: true, titleLimit: width,
      },
      legend: {
        orient: "bottom", columns, labelLimit: (width - 50) / columns - 30, labelFontSize: 12, labelColor: "var(--ink)",
        symbolSize: 70, symbolOpacity: 1, offset: 8, columnPadding: 12, rowPadding: 3,
      },
      title: { anchor: "start", color: "var(--ink)", fontSize: 13, fontWeight: 400, offset: 12 },
    };
  }

  const specOf = (chart) => JSON.parse(chart.querySelector("script").textContent);

  // Names above the marks (figures.py: rows) get more lines where they are too long for one.
  function wrapped(spec, width) {
    const label = spec.layer?.find((layer) => layer.mark.lineBreak);
    if (!label) return spec;
    const rows = spec.data.values.filter((row) => "row" in row);
    const space = width - 7 * Math.max(...rows.map((row) => row.text?.length ?? 0)) - 12;
    const fitting = new RegExp(`(.{1,${Math.max(Math.floor(space / 7.3), 1)}}|[^ ]+)( +|$)`, "g");
    const joined = (name) => name.replace(/\([^)]{1,12}\)/g, (short) => short.replaceAll(" ", "\u00a0"));
    const lines = rows.map((row) => joined(row.name).match(fitting) ?? [row.name]);
    const more = Math.max(...lines.map((of) => of.length)) - 1;
    rows.forEach((row, i) => { row.name = [...Array(more + 1 - lines[i].length).fill(""), ...lines[i]].join("\n"); });
    label.mark.yOffset -= 16 * more;
    return { ...spec, height: spec.height + 20 * more * rows.length };
  }

  function view(chart, width, more) {
    const spec = { ...wrapped(specOf(chart), width), width, ...more };
    const made = vega.parse(vegaLite.compile(spec, { config: theme(width, spec.usermeta.longest) }).spec, null, { ast: true });
    return new vega.View(made, { expr: vega.expressionInterpreter, renderer: "svg" });
  }

  function draw(chart, width = chart.clientWidth) {
    if (!width || drawn.get(chart)?.width === width) return;
    drawn.get(chart)?.view.finalize();
    chart.querySelector("div")?.remove();
    const place = document.createElement("div");
    place.setAttribute("aria-hidden", "true"); // the chart has a label of its own
    chart.append(place);
    chart.tabIndex = 0;
    drawn.set(chart, { width, view: view(chart, width).initialize(place).run() });
  }

  // What is near is drawn first, the rest whenever the page has nothing else to do; all that no
  // longer fits its place is drawn again. Those in closed details have a width as well.
  const waiting = new Set();
  function work() {
    const far = new Map([...waiting].map((chart) => [chart, Math.abs(chart.getBoundingClientRect().top - innerHeight / 2)]));
    const start = performance.now();
    for (const chart of [...waiting].sort((a, b) => far.get(a) - far.get(b))) {
      waiting.delete(chart);
      draw(chart);
      if (performance.now() - start > 50) break;
    }
    if (waiting.size) setTimeout(work);
  }
  function drawAll() {
    if (!waiting.size) setTimeout(work);
    charts.forEach((chart) => waiting.add(chart));
  }
  new ResizeObserver(drawAll).observe(document.body);

  // On paper each is as wide as its place there, which the screen says nothing of.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("on-paper");
    const widths = charts.map((chart) => chart.clientWidth);
    document.documentElement.classList.remove("on-paper");
    charts.forEach((chart, i) => draw(chart, widths[i]));
  });
  addEventListener("afterprint", drawAll);

  // The value of a mark beside it, for a mouse, a finger, and the arrow keys while the figure has
  // the focus.
  const MARKS = ".role-mark [aria-label]";
  const THIN = ":is(.mark-line, .mark-symbol) > [aria-label]"; // lines and points
  const REACH = 16; // pixels from a thin mark
  const STEP = 4; // pixels between two points that are looked at of a line
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);
  let shown = null;
  let spot = null; // where a line is pointed at

  function show(mark, { clientX, clientY } = {}) {
    spot = mark?.closest(".mark-line") && clientX !== undefined ? new DOMRect(clientX, clientY) : null;
    if (shown === mark) {
      if (spot) place();
      return;
    }
    shown?.classList.remove("shown");
    shown = mark;
    tip.hidden = !mark;
    if (!mark) return;
    mark.classList.add("shown");
    tip.textContent = mark.getAttribute("aria-label");
    place();
  }

  function place() {
    if (!shown) return;
    const at = spot ?? shown.getBoundingClientRect();
    const middle = Math.min(Math.max(at.left, 0), innerWidth) / 2 + Math.min(Math.max(at.right, 0), innerWidth) / 2;
    const left = Math.min(Math.max(middle - tip.offsetWidth / 2, 4), innerWidth - tip.offsetWidth - 4);
    const above = at.top - tip.offsetHeight - 6;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${above > 0 ? above : at.bottom + 6}px`;
  }

  // The points of a thin mark, in its own coordinates.
  const traces = new WeakMap();
  function traceOf(mark) {
    if (!traces.has(mark)) {
      const line = mark.closest(".mark-line");
      const steps = line ? Math.ceil(mark.getTotalLength() / STEP) : 0;
      traces.set(mark, line ? Array.from({ length: steps + 1 }, (_, i) => mark.getPointAtLength(i * STEP)) : [{ x: 0, y: 0 }]);
    }
    return traces.get(mark);
  }

  // The mark that is pointed at, or else the nearest thin one within reach.
  function markAt({ target, clientX, clientY }) {
    const under = target.closest?.(`.chart ${MARKS}`);
    if (under) return under;
    let [nearest, least] = [null, REACH];
    for (const mark of target.closest?.(".chart")?.querySelectorAll(THIN) ?? []) {
      const { a, d, e, f } = mark.getScreenCTM();
      for (const { x, y } of traceOf(mark)) {
        const far = Math.hypot(a * x + e - clientX, d * y + f - clientY);
        if (far < least) [nearest, least] = [mark, far];
      }
    }
    return nearest;
  }

  // A mouse that rests while keys move the page takes nothing from them.
  let mouse = "";
  let rested = null; // where it was when a key was pressed
  function follow(event) {
    if (event.pointerType !== "mouse" || tip.contains(event.target)) return;
    const here = `${event.screenX} ${event.screenY}`;
    if (rested === "") rested = here;
    if (rested === here) return;
    rested = null;
    show(markAt(event), event);
  }
  addEventListener("pointerover", follow); // the page may move under a mouse that rests
  addEventListener("pointermove", (event) => {
    follow(event);
    mouse = `${event.screenX} ${event.screenY}`;
  }, { passive: true });
  addEventListener("pointerdown", (event) => show(markAt(event), event));
  addEventListener("scroll", place, { passive: true, capture: true });
  addEventListener("focusout", (event) => event.target.contains(shown) && show(null));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(null);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches?.(".chart")) return;
    event.preventDefault();
    rested = mouse;
    const marks = [...event.target.querySelectorAll(MARKS)];
    const i = marks.indexOf(shown);
    show(marks[i < 0 ? (step > 0 ? 0 : marks.length - 1) : (i + step + marks.length) % marks.length] ?? null);
  });

  // A figure as a file of its own, in the colours that the page has now, with its title.
  async function picture(chart) {
    const width = Math.min(PAPER, parseFloat(chart.style.maxWidth) || PAPER);
    const words = specOf(chart).description.match(new RegExp(`.{1,${Math.floor(width / 7)}}(\\s|$)|\\S+`, "g"));
    const svg = await view(chart, width, { title: { text: words }, background: "var(--paper)", padding: 16 }).toSVG();
    const page = getComputedStyle(document.documentElement);
    return svg.replace(/var\((--[\w-]+)\)/g, (_, name) => page.getPropertyValue(name).trim());
  }

  document.querySelectorAll("figure").forEach((figure, i) => {
    const chart = figure.querySelector(".chart");
    if (!chart) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "SVG";
    button.setAttribute("aria-label", `Save this figure as SVG: ${specOf(chart).description}`);
    button.addEventListener("click", async () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([await picture(chart)], { type: "image/svg+xml" }));
      const page = location.pathname.split("/").pop().replace(/\.html$/, "") || "page";
      link.download = `${figure.id || `${page}-figure-${i + 1}`}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    figure.append(button);
  });
})();
