"use strict";

const place = document.getElementById("reference");

Scalar.createApiReference(place, {
  url: place.dataset.document,
  // Nothing is fetched from elsewhere, or sent there.
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
  withDefaultFonts: false,
  // The page cannot sign requests, and requests without a proof are refused.
  hideTestRequestButton: true,
  hideClientButton: true,
  hiddenClients: true,
  showDeveloperTools: "never",
  documentDownloadType: "json",
  orderRequiredPropertiesFirst: true,
  orderSchemaPropertiesBy: "preserve",
  hideModels: true,
  operationTitleSource: "summary",
  defaultOpenFirstTag: true,
  onLoaded: () => {
    document.getElementById("index")?.remove();
    place.hidden = false;
  },
});

// What scrolls sideways can be reached with a keyboard.
new MutationObserver(() => {
  for (const code of place.querySelectorAll("code.custom-scroll:not([tabindex])")) code.tabIndex = 0;
}).observe(place, { childList: true, subtree: true });
