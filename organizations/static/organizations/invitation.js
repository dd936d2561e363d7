// An invitation's token is in the fragment of its link, which browsers do not send. It is removed from the address bar at
// once and stored in this browser while the person signs in. It is sent only in bodies: to show the invitation, and to accept
// it.
"use strict";

(() => {
  const UNUSABLE =
    "This invitation cannot be used. It may have been used, revoked or expired, or you may already be a member. " +
    "Ask the person who sent it for a new one.";
  const INCOMPLETE = "This link is incomplete. Open the complete link that you received.";
  const TOO_MANY = "Too many invitations that cannot be used were tried. Try again in ten minutes.";
  const FAILED = "Something went wrong. Check your connection and try again.";

  const arrived = new URLSearchParams(location.hash.slice(1)).get("token");
  if (location.hash) history.replaceState(null, "", location.pathname);
  if (arrived) invitationToken.keep(arrived);

  const tell = (words) => {
    const problem = document.getElementById("problem");
    problem.textContent = words;
    problem.hidden = false;
  };

  const giveUp = (section) => {
    invitationToken.forget();
    section.hidden = true;
    tell(UNUSABLE);
  };

  const csrf = (section) => section.querySelector("[name=csrfmiddlewaretoken]").value;

  const accept = async (section, button) => {
    button.disabled = true;
    try {
      const answer = await fetch(section.dataset.accept, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrf(section) },
        body: JSON.stringify({ token: invitationToken.read() }),
      });
      if (answer.ok) {
        invitationToken.forget();
        location.replace(section.dataset.organization + (await answer.json()).orgId);
      } else if (answer.status === 401) {
        location.reload();
      } else if (answer.status === 429) {
        tell(TOO_MANY);
      } else if (answer.status < 500) {
        giveUp(section);
      } else {
        tell(FAILED);
      }
    } catch {
      tell(FAILED);
    }
    button.disabled = false;
  };

  const describe = (section, about) => {
    for (const name of ["organization", "inviter", "role", "meaning"]) {
      section.querySelector(`[data-about-${name}]`).textContent = about[name];
    }
    document.querySelector("[data-heading]").textContent = `Join ${about.organization}?`;
    section.hidden = false;
  };

  const learn = async (section) => {
    try {
      const answer = await fetch(section.dataset.about, {
        method: "POST",
        headers: { "X-CSRFToken": csrf(section) },
        body: new URLSearchParams({ token: invitationToken.read() }),
      });
      if (answer.ok) describe(section, await answer.json());
      else if (answer.status === 404) giveUp(section);
      else if (answer.status === 429) tell(TOO_MANY);
      else tell(FAILED);
    } catch {
      tell(FAILED);
    }
  };

  const show = () => {
    const section = document.getElementById("invitation");
    if (!invitationToken.read()) {
      tell(INCOMPLETE);
      return;
    }
    const button = document.getElementById("accept");
    button?.addEventListener("click", () => accept(section, button));
    document.getElementById("decline")?.addEventListener("click", () => invitationToken.forget());
    learn(section);
  };

  document.addEventListener("DOMContentLoaded", show);
  addEventListener("hashchange", () => location.reload());
})();
