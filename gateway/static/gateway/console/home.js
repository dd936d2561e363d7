// Draws each chart of the console's home page from the table below it, so that chart and table cannot differ. Without scripts
// there are the tables alone.
"use strict";

(() => {
  const NAME_CHARACTERS = 15;

  const colour = (home, name) => getComputedStyle(home).getPropertyValue(`--home-${name}`).trim();

  const short = (name) => (name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS - 1)}…` : name);

  const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });

  const shown = {
    usd: (microusd) => {
      const dollars = microusd / 1e6;
      if (dollars && Math.abs(dollars) < 0.01) return `${dollars < 0 ? "-" : ""}$${Math.abs(dollars).toPrecision(1)}`;
      return `${dollars < 0 ? "-" : ""}$${compact.format(Math.abs(dollars))}`;
    },
    count: (number) => compact.format(number),
    percent: (number) => `${number} %`,
  };

  const read = (table) =>
    [...table.tBodies[0].rows].map((row) => ({
      name: row.cells[0].textContent.trim(),
      value: Number(row.cells[1].dataset.value),
      text: row.cells[1].textContent.trim(),
    }));

  const options = (home, points, isLying, unit) => {
    const names = {
      grid: { display: false },
      ticks: {
        color: colour(home, "quiet"),
        maxRotation: 0,
        autoSkip: !isLying,
        maxTicksLimit: isLying ? undefined : 4,
        callback: (value, number) => (isLying ? short(points[number].name) : points[number].name.slice(5)),
      },
    };
    const numbers = {
      beginAtZero: true,
      border: { display: false },
      grid: { color: colour(home, "line") },
      ticks: { color: colour(home, "quiet"), maxTicksLimit: 4, callback: shown[unit], precision: unit === "count" ? 0 : undefined },
    };
    return {
      indexAxis: isLying ? "y" : "x",
      animation: false,
      maintainAspectRatio: false,
      scales: isLying ? { x: numbers, y: names } : { x: names, y: numbers },
      plugins: {
        legend: { display: false },
        tooltip: { displayColors: false, callbacks: { label: ({ dataIndex }) => points[dataIndex].text } },
      },
    };
  };

  const draw = (figure) => {
    const home = figure.closest(".home");
    const points = read(figure.nextElementSibling.querySelector("table"));
    if (!points.some((point) => point.value)) return;
    const isLying = figure.dataset.kind === "names";
    figure.hidden = false;
    figure.style.setProperty("--rows", points.length);
    const canvas = figure.querySelector("canvas");
    Chart.getChart(canvas)?.destroy();
    new Chart(canvas, {
      type: "bar",
      data: {
        labels: points.map((point) => point.name),
        datasets: [{ data: points.map((point) => point.value), backgroundColor: colour(home, "bar"), maxBarThickness: 20 }],
      },
      options: options(home, points, isLying, figure.dataset.unit),
    });
  };

  const drawAll = () => document.querySelectorAll(".home-chart").forEach(draw);

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawAll();
  // Names are measured in the font that they are drawn with, which may have arrived only now.
  document.fonts.ready.then(drawAll);
  // The console's own switch and the device's both end as a class of the root.
  new MutationObserver(drawAll).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
})();
