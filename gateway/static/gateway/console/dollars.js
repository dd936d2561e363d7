// Below a field for dollars: the amount as it will be booked, with separators, so that a zero too many is seen.
const TYPED = /^\$?(\d{1,12})(?:\.(\d{1,6}))?$/;

function preview(text) {
  const found = TYPED.exec(text.trim());
  if (!found) return "";
  const whole = BigInt(found[1]).toLocaleString("en-US");
  const decimals = (found[2] ?? "").replace(/0+$/, "").padEnd(2, "0");
  return `= $${whole}.${decimals}`;
}

function show(field) {
  let shown = field.parentElement.querySelector("output[data-dollars-preview]");
  if (!shown) {
    shown = document.createElement("output");
    shown.dataset.dollarsPreview = "";
    shown.htmlFor = field.id;
    shown.className = "block mt-2 font-semibold";
    field.after(shown);
  }
  shown.textContent = preview(field.value);
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("input[data-dollars]")) show(target);
});
document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("input[data-dollars]").forEach(show));
