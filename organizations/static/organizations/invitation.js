// An invitation's token is in the fragment of its link, which browsers send nowhere. It leaves the address bar at once,
// stays in this tab while its person signs in, and is sent when they accept, not before.
"use strict";

(() => {
  const KEPT = "invitation_token";
  const UNUSABLE =
    "This invitation cannot be used. It may have been used or taken back, or be too old, or you are a member already. " +
    "Ask whoever sent it for a new one.";
  const INCOMPLETE = "This link is not complete. Open the whole link that you were sent.";
  const FAILED = "That did not work. Check your connection and try again.";

  const arrived = new URLSearchParams(location.hash.slice(1)).get("token");
  if (location.hash) history.replaceState(null, "", location.pathname);
  if (arrived) sessionStorage.setItem(KEPT, arrived);

  const tell = (words) => {
    const problem = document.getElementById("problem");
    problem.textContent = words;
    problem.hidden = false;
  };

  const accept = async (section, button) => {
    button.disabled = true;
    try {
      const answer = await fetch(section.dataset.accept, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-CSRFToken": section.querySelector("[name=csrfmiddlewaretoken]").value,
        },
        body: JSON.stringify({ token: sessionStorage.getItem(KEPT) }),
      });
      if (answer.ok) {
        sessionStorage.removeItem(KEPT);
        location.replace(section.dataset.organization + (await answer.json()).orgId);
      } else if (answer.status === 401) {
        location.reload();
      } else if (answer.status < 500) {
        sessionStorage.removeItem(KEPT);
        section.hidden = true;
        tell(UNUSABLE);
      } else {
        tell(FAILED);
      }
    } catch {
      tell(FAILED);
    }
    button.disabled = false;
  };

  const show = () => {
    const section = document.getElementById("invitation");
    if (!sessionStorage.getItem(KEPT)) {
      tell(INCOMPLETE);
      return;
    }
    section.hidden = false;
    const button = document.getElementById("accept");
    button?.addEventListener("click", () => accept(section, button));
    document.getElementById("decline")?.addEventListener("click", () => sessionStorage.removeItem(KEPT));
  };

  document.addEventListener("DOMContentLoaded", show);
  addEventListener("hashchange", () => location.reload());
})();
