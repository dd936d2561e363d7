// Of the two ways to say an amount, the one that was used last counts: typing clears the choice, choosing clears what was typed.
"use strict";

for (const presets of document.querySelectorAll("[data-presets]")) {
  const typed = presets.form.elements.amount;
  typed.addEventListener("input", () => {
    for (const radio of presets.querySelectorAll("input")) radio.checked = false;
  });
  presets.addEventListener("change", () => {
    typed.value = "";
  });
}
