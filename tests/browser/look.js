// What is wrong with a page, as sentences: its headings, names, tables and links, for those who
// do not see it or have no mouse.
() => {
  const wrong = [];
  const told = (node) => {
    const text = (node.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${node.tagName.toLowerCase()}${node.id ? ` id=${node.id}` : ""}> ${text}`;
  };
  const each = (selector, check) => document.querySelectorAll(selector).forEach(check);
  const named = (node) => {
    const ids = (node.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const words = ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    return (node.getAttribute("aria-label") || words).trim().replace(/\s+/g, " ");
  };
  const twice = (what, names) => {
    const once = new Set();
    for (const name of names) {
      if (once.has(name)) wrong.push(`${what} twice: ${name}`);
      once.add(name);
    }
  };

  if (document.documentElement.lang !== "en") wrong.push("the page does not say its language");
  if (!document.title.trim()) wrong.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) wrong.push("the page has not one main part");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("the page has not one h1");
  let level = 0;
  const way = []; // the headings that one stands under, and it
  const ways = [];
  each("h1, h2, h3, h4, h5, h6", (node) => {
    const own = Number(node.tagName[1]);
    if (own > level + 1) wrong.push(`a heading jumps from ${level} to ${own}: ${told(node)}`);
    if (!node.textContent.trim()) wrong.push(`a heading is empty: ${told(node)}`);
    level = own;
    way.length = own - 1;
    way.push(node.textContent.trim().replace(/\s+/g, " "));
    ways.push(way.join(" > "));
  });
  twice("a heading stands so under the same one", ways);
  twice("an id stands", [...document.querySelectorAll("[id]")].map(({ id }) => id));

  each("img", (node) => node.hasAttribute("alt") || wrong.push(`an image has no alt: ${told(node)}`));
  each("svg, .chart", (node) => {
    if (node.closest("[aria-hidden=true]") || node.parentElement.closest("svg")) return;
    if (node.getAttribute("role") !== "img" || !named(node)) wrong.push(`a drawing has no label: ${node.outerHTML.slice(0, 80)}`);
  });
  each(".chart", (node) => {
    if (node.tabIndex !== 0) wrong.push(`a figure cannot be reached by keys: ${node.getAttribute("aria-label")}`);
  });
  each("figure", (node) => {
    if (!node.querySelector("figcaption")?.textContent.trim()) wrong.push(`a figure has no caption: ${told(node)}`);
  });

  each("table", (node) => {
    if (!node.caption?.textContent.trim() && !named(node)) wrong.push(`a table has no caption: ${told(node)}`);
    if (!node.querySelector("thead th")) wrong.push(`a table has no headings: ${told(node)}`);
    const widths = new Set(
      [...node.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.cells].filter((cell) => !cell.hidden).reduce((sum, cell) => sum + cell.colSpan, 0)),
    );
    const spans = node.querySelector("tbody [rowspan]");
    if (widths.size > 1 && !spans) wrong.push(`rows of a table differ in their cells: ${told(node)}`);
  });
  each("th", (node) => {
    const scope = node.getAttribute("scope");
    if (!["col", "row", "colgroup", "rowgroup"].includes(scope)) wrong.push(`a heading of a table has no scope: ${told(node)}`);
  });

  each("a[href], button, summary", (node) => {
    if (!node.textContent.trim() && !named(node)) wrong.push(`what can be pressed has no name: ${node.outerHTML.slice(0, 80)}`);
  });
  // Links of the same words lead to one place, but in tables and lists, whose rows tell them apart.
  const led = new Map();
  each("main a[href]:not(table a, ol a, .sentences a)", (node) => {
    const words = named(node) || node.textContent.trim().replace(/\s+/g, " ");
    if ((led.get(words) ?? node.href) !== node.href) wrong.push(`links of the same words lead to two places: ${words}`);
    led.set(words, node.href);
  });
  each("input, select, textarea", (node) => {
    const label = [...(node.labels || [])].some((one) => one.textContent.trim());
    if (!label && !named(node)) wrong.push(`a field has no label: ${node.outerHTML.slice(0, 80)}`);
  });
  each("nav, [role=region], [role=search]", (node) => {
    if (!named(node)) wrong.push(`a landmark has no name: ${told(node)}`);
  });
  const called = (selector) => [...document.querySelectorAll(selector)].map(named);
  twice("a region is called so", called("[role=region], section[aria-label], section[aria-labelledby]"));
  twice("a search is called so", called("[role=search]"));
  twice("a figure is called so", called(".chart"));
  twice("a filter is called so", called(".dt-input"));
  // the pages of one table may be turned above and below it
  const turning = [...document.querySelectorAll(".dt-container")].map((box) => box.querySelector("nav")).filter(Boolean);
  twice("a navigation is called so", [...called("nav:not(.dt-container nav)"), ...turning.map(named)]);

  // What reacts to a mouse takes the focus, or holds or lies in what does, or shares a heading
  // with it; what scrolls takes it, too.
  const pressed = "a[href], button, input, select, textarea, summary, label, [role=button][tabindex='0']";
  each("body *", (node) => {
    if (!node.checkVisibility()) return;
    const style = getComputedStyle(node);
    if (style.cursor === "pointer") {
      const around = node.closest("th") ?? node;
      if (!node.closest(pressed) && !around.querySelector(pressed)) wrong.push(`a mouse can press what keys cannot reach: ${told(node)}`);
    }
    const scrolls = /auto|scroll/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1;
    if (scrolls && node.tabIndex < 0) wrong.push(`what scrolls cannot be reached by keys: ${told(node)}`);
  });
  each("[role=button]", (node) => {
    const head = node.closest("th");
    if (!head || !node.checkVisibility()) return;
    const words = head.querySelector(".dt-column-title").textContent.trim().replace(/\s+/g, " ");
    if (!node.getAttribute("aria-label").replace(/\s+/g, " ").startsWith(words)) wrong.push(`a button to sort has another name than its column: ${told(head)}`);
  });
  each("[tabindex]", (node) => {
    if (node.tabIndex > 0) wrong.push(`the order of focus is not that of the page: ${told(node)}`);
  });
  return wrong;
}
