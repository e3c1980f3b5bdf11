// What sticks out of the page sideways, as sentences; what scrolls in a box of its own does not.
() => {
  const root = document.documentElement;
  const over = root.scrollWidth - root.clientWidth;
  if (over <= 0) return [];
  const found = [`the page is ${over} px too wide`];
  for (const node of document.querySelectorAll("body *")) {
    const box = node.getBoundingClientRect();
    if (box.right <= root.clientWidth + 1 || !box.width) continue;
    let outer = node.parentElement;
    while (outer !== root && getComputedStyle(outer).overflowX === "visible") outer = outer.parentElement;
    if (outer === root || outer === document.body) found.push(node.cloneNode().outerHTML.slice(0, 120));
    if (found.length > 6) break;
  }
  return found;
}
