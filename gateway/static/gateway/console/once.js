// A form whose request takes long: its button says so, and a second click does nothing. The server keeps to one call anyway.
document.addEventListener("submit", ({ target }) => {
  const words = target.dataset.once;
  const button = words && target.querySelector("button[type=submit]");
  if (!button) return;
  button.disabled = true;
  button.textContent = words;
});
window.addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
