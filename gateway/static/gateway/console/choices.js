// Fields that search for a row are built by select2, which gives what it builds no name. It gets the name that the form has for the field.
// Of a list to choose from, the icon that explains the filter is an image to those who do not see it.
"use strict";

{
  const nameOf = (select) =>
    (select.labels[0]?.textContent ?? select.closest("td")?.dataset.label ?? select.name).replace("*", "").trim();

  const name = (select) => {
    const built = select.nextElementSibling;
    if (!built?.classList.contains("select2-container")) return;
    const [box, chosen, search] = ["selection", "selection__rendered", "search__field"].map((part) =>
      built.querySelector(`.select2-${part}`),
    );
    if (search) {
      search.setAttribute("aria-label", nameOf(select));
      return;
    }
    for (const part of [box, chosen]) part.setAttribute("aria-label", nameOf(select));
    box.removeAttribute("aria-labelledby"); // it names what is chosen, and nothing where nothing is
    box.setAttribute("aria-describedby", chosen.id);
  };

  const nameAll = (within) => within.querySelectorAll("select.admin-autocomplete").forEach(name);

  document.addEventListener("DOMContentLoaded", () => {
    const $ = window.django?.jQuery;
    if (!$) return;
    $(() => nameAll(document)); // after select2 has built them: jQuery keeps the order
    document.addEventListener("formset:added", ({ target }) => nameAll(target));
    $(document).on("select2:open", ({ target }) => {
      const list = document.querySelector(".select2-container--open .select2-results__options");
      const box = target.nextElementSibling.querySelector("[role=combobox]");
      box.setAttribute("aria-controls", list.id);
      document.querySelector(".select2-dropdown .select2-search__field")?.setAttribute("aria-label", `Search: ${nameOf(target)}`);
    });
  });

  window.addEventListener("load", () => {
    const icons = () => document.querySelectorAll(".selector .help-tooltip").forEach((icon) => icon.setAttribute("role", "img"));
    setTimeout(icons); // the lists are built in this event, too
  });
}
