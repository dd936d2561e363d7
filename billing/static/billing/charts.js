// Draws a chart of a table that is on the page: `figure[data-chart]` names the table by its id. The names are the texts of
// the rows' headers and the numbers the `data-value` of their cells, so that chart and table cannot tell two different
// things. Rows with a `data-part` are stacked by it. Without scripts there are the tables, with bars of their own.
"use strict";

(() => {
  const ROWS_MAX = 15;
  const PARTS_MAX = 6;
  const TILE = 8;
  const NAME_CHARACTERS = 18;
  const OTHERS = "Others";

  // What is drawn on each tile of a part, so that the parts can be told apart without their colours.
  const HATCHES = [
    () => {},
    (pen) => line(pen, [0, TILE, TILE, 0]),
    (pen) => line(pen, [0, TILE / 2, TILE, TILE / 2]),
    (pen) => pen.fillRect(TILE / 4, TILE / 4, TILE / 2, TILE / 2),
    (pen) => line(pen, [TILE / 2, 0, TILE / 2, TILE]),
    (pen) => line(pen, [0, 0, TILE, TILE]),
  ];

  const line = (pen, [fromX, fromY, toX, toY]) => {
    pen.beginPath();
    pen.moveTo(fromX, fromY);
    pen.lineTo(toX, toY);
    pen.stroke();
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  const hatch = (number) => {
    const tile = Object.assign(document.createElement("canvas"), { width: TILE, height: TILE });
    const pen = tile.getContext("2d");
    pen.fillStyle = colour(`part-${number}`);
    pen.fillRect(0, 0, TILE, TILE);
    pen.fillStyle = pen.strokeStyle = colour("surface");
    pen.lineWidth = 1.5;
    HATCHES[number](pen);
    return pen.createPattern(tile, "repeat");
  };

  const short = (name) => (name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS - 1)}…` : name);

  const usd = (microusd) => {
    const dollars = microusd / 1e6;
    const decimals = dollars && dollars < 0.01 ? 6 : 2;
    return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: decimals })}`;
  };

  const read = (table) =>
    [...table.tBodies[0].rows].map((row) => {
      const cell = row.querySelector("[data-value]");
      return {
        key: row.dataset.key,
        name: row.querySelector("th").textContent.trim(),
        part: row.dataset.part ?? "",
        value: Number(cell.dataset.value),
        text: cell.textContent.trim(),
      };
    });

  // The first of each kind in the order of the table, which has the greatest first; what is beyond them is one more.
  const firsts = (rows, kind, most) => {
    const all = [...new Set(rows.map((row) => row[kind]))];
    return all.length <= most ? all : [...all.slice(0, most - 1), OTHERS];
  };

  const among = (kinds, kind) => (kinds.includes(kind) ? kind : OTHERS);

  const sum = (rows) => rows.reduce((total, row) => total + row.value, 0);

  const told = (rows) => (rows.length === 1 ? rows[0].text : usd(sum(rows)));

  const series = (rows, keys, parts) =>
    parts.map((part, number) => {
      const mine = rows.filter((row) => among(parts, row.part) === part);
      const cells = keys.map((key) => mine.filter((row) => among(keys, row.key) === key));
      return {
        label: part,
        data: cells.map(sum),
        texts: cells.map(told),
        backgroundColor: parts.length > 1 ? hatch(number) : colour("accent"),
        borderColor: parts.length > 1 ? colour(`part-${number}`) : colour("accent"),
        borderWidth: 1,
        maxBarThickness: 28,
      };
    });

  const options = (labels, isLying, hasParts) => {
    const amounts = { beginAtZero: true, stacked: hasParts, grid: { color: colour("line") }, border: { display: false } };
    const names = { stacked: hasParts, grid: { display: false }, ticks: { color: colour("quiet"), maxRotation: 0, autoSkip: !isLying } };
    if (isLying) names.ticks.callback = (value, number) => short(labels[number]);
    const money = { ...amounts, ticks: { color: colour("quiet"), maxTicksLimit: 6, callback: usd } };
    return {
      indexAxis: isLying ? "y" : "x",
      animation: false,
      maintainAspectRatio: false,
      scales: isLying ? { x: money, y: names } : { x: names, y: money },
      plugins: {
        legend: { display: hasParts, labels: { color: colour("ink") } },
        tooltip: { callbacks: { label: ({ dataset, dataIndex }) => ` ${dataset.label} ${dataset.texts[dataIndex]}` } },
      },
    };
  };

  const draw = (figure) => {
    const table = document.getElementById(figure.dataset.chart);
    const rows = read(table);
    if (!rows.some((row) => row.value)) return;
    const isLying = figure.dataset.kind === "lying";
    const keys = isLying ? firsts(rows, "key", ROWS_MAX) : rows.map((row) => row.key);
    const labels = keys.map((key) => rows.find((row) => row.key === key)?.name ?? OTHERS);
    const parts = firsts(rows, "part", PARTS_MAX);
    const numbers = table.closest("details");
    if (numbers && figure.hidden) numbers.open = false;
    figure.hidden = false;
    if (isLying) figure.style.setProperty("--rows", keys.length);
    const canvas = figure.querySelector("canvas");
    Chart.getChart(canvas)?.destroy();
    new Chart(canvas, {
      type: "bar",
      data: { labels, datasets: series(rows, keys, parts) },
      options: options(labels, isLying, parts.length > 1),
    });
  };

  const drawAll = () => document.querySelectorAll("figure[data-chart]").forEach(draw);

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
