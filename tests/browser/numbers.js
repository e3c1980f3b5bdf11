// Of every number that can be asked: what it is, the row, the column and the table, and what is
// behind it.
() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const card = document.querySelector(".card");
  const cells = [...document.querySelectorAll("table.has-cards td.number")];
  return cells.filter((cell) => /\d/.test(cell.textContent)).map((cell) => {
    cell.click();
    const told = [...card.querySelectorAll("dd")].map((one) => one.textContent.replace(/\s+/g, " "));
    const found = [cell.innerText.trim(), told, card.querySelector("a[href*='#?']")?.getAttribute("href") ?? ""];
    card.hidePopover();
    return found;
  });
}
