// Copies a field or a sample to the clipboard and confirms it, in the button's section.
"use strict";

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const confirmation = button.closest("section").querySelector("[data-copied]");
  button.hidden = !navigator.clipboard;
  source.addEventListener("focus", () => source.select?.());
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    confirmation.textContent = "Copied.";
  });
}
