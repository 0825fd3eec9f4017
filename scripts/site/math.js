// Formulas, by the site's own copy of KaTeX; also after a page was loaded without a full reload.
function renderFormulas() {
  for (const place of document.querySelectorAll(".arithmatex")) {
    if (place.querySelector(".katex")) continue;
    const text = place.textContent.trim();
    const display = text.startsWith("\\[");
    katex.render(text.slice(2, -2), place, { displayMode: display, throwOnError: false });
  }
}
if (typeof document$ !== "undefined") document$.subscribe(renderFormulas);
else document.addEventListener("DOMContentLoaded", renderFormulas);
