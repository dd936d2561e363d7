// Leads back to an invitation whose link was opened in this browser before the person signed in.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  if (invitationToken.read()) document.getElementById("invitation-waiting").hidden = false;
});
