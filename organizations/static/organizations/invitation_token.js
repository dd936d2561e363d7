// The token of an invitation, from the moment its link is opened until the invitation is accepted or declined, for a day at
// most. All tabs of this browser share it: whoever signs up first proves an email address by a link that opens a new tab.
"use strict";

const invitationToken = (() => {
  const NAME = "invitation";
  const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;

  const forget = () => localStorage.removeItem(NAME);

  const keep = (token) => {
    localStorage.setItem(NAME, JSON.stringify({ token, until: Date.now() + KEPT_MILLISECONDS }));
  };

  const read = () => {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    if (kept.until > Date.now()) return kept.token;
    forget();
    return null;
  };

  return { forget, keep, read };
})();
