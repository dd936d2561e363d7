"use strict";

const place = document.getElementById("reference");
const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

Redoc.init(place.dataset.document, {
  disableSearch: false,
  expandResponses: "200,201,202",
  hideDownloadButton: false,
  pathInMiddlePanel: true,
  requiredPropsFirst: true,
  sortRequiredPropsFirst: true,
  theme: {
    typography: { fontFamily: fonts, headings: { fontFamily: fonts }, code: { fontFamily: "ui-monospace, monospace" } },
  },
}, place);
