// The form of a new price starts from the price in force of the model that is chosen.
document.addEventListener("change", ({ target }) => {
  if (target.matches("select[data-starts-from-price]")) {
    location.search = `?alias=${encodeURIComponent(target.value)}`;
  }
});
