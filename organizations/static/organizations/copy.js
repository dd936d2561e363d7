// Copies a field to the clipboard and confirms it.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = !navigator.clipboard;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    document.querySelector("[data-copied]").textContent = "Copied.";
  });
}
