/** Shows an error if a passkey could not be created or used, which otherwise only the browser's console would show. */
"use strict";

const WORDS = {
  NotAllowedError: "No passkey was used. You cancelled, or this device has none for this account.",
  InvalidStateError: "This device already has a passkey for this account.",
  SecurityError: "Passkeys do not work at this address. They need a host name such as localhost, not an IP address.",
};

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const said = document.getElementById("passkey-problem") ?? document.createElement("p");
  said.id = "passkey-problem";
  said.className = "message error";
  said.setAttribute("role", "alert");
  said.textContent = WORDS[event.detail.exception.name] ?? "The passkey could not be used. Try again.";
  document.querySelector("main h1").after(said);
});
