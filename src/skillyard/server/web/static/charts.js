"use strict";
// Draws what the tables beside it say.

const percent = (share) => share == null ? "–" : Math.round(share * 1000) / 10 + "%";
const figure = (number) => number == null ? "–" : number < 10 ? String(Number(number.toPrecision(2))) : Math.round(number).toLocaleString("en");

function line(label, name, more) {
  return { label, stroke: colour(name), width: 2, points: { size: 5, fill: colour("--surface") }, ...more };
}

// So many of something on a day: a column, beside that of another kind or around both.
function columns(label, name, share, align, more) {
  return line(label, name, { width: 1, fill: colour(name), points: { show: false }, paths: uPlot.paths.bars({ size: [share, 24], align }), ...more });
}

const counts = [1, 2, 5].flatMap((each) => [each, each * 10, each * 100, each * 1000, each * 10000]).sort((one, other) => one - other);

const drawn = {
  usage(data, [day, ...labels]) {
    const kinds = ["loaded", "succeeded", "failed"];
    const last = new Date(); last.setUTCHours(0, 0, 0, 0);
    const days = Array.from({ length: 90 }, (_, at) => last.getTime() / 1000 - (89 - at) * 86400);
    const places = new Map(days.map((day, at) => [day, at]));
    const rows = kinds.map(() => days.map(() => 0));
    for (const use of data.usage) {
      const at = places.get(Date.parse(use.day + "T00:00:00Z") / 1000);
      const row = kinds.indexOf(use.event);
      if (at !== undefined && row >= 0) rows[row][at] += use.count;
    }
    const written = (moment) => new Date(moment * 1000).toISOString().slice(0, 10);
    return {
      data: [days, ...rows],
      series: [{ label: day, value: (_, moment) => moment == null ? "–" : written(moment) },
        columns(labels[0], "--accent", 0.9, 0, { fill: colour("--accent-weak") }), columns(labels[1], "--good", 0.4, -1), columns(labels[2], "--bad", 0.4, 1)],
      tzDate: (moment) => uPlot.tzDate(new Date(moment * 1000), "Etc/UTC"),
      across: (moment) => written(moment).slice(5),
      scales: { x: { range: [days[0] - 43200, days[89] + 43200] }, y: { range: (_, low, high) => [0, Math.max(high * 1.1, 4)] } },
    };
  },

  // How often a release passed, between what its rate is, and what it is held against.
  rate(data, [runs, rate, lower, upper, against]) {
    // Before the first run nothing is known: from there on the lines are drawn.
    const moments = [{ runs: 0, bounds: [0, 1], success_rate: null }, ...data.course.moments];
    const { baseline_samples, baseline_success_rate, thresholds } = data.health;
    const held = baseline_samples ? baseline_success_rate : thresholds.floor;
    const value = (_, share) => percent(share);
    const thin = { width: 1, value, points: { show: false } };
    return {
      data: [
        moments.map((each) => each.runs), moments.map((each) => each.bounds[1]), moments.map((each) => each.bounds[0]),
        moments.map(() => held), moments.map((each) => each.success_rate),
      ],
      series: [
        { label: runs }, line(upper, "--strong-line", thin), line(lower, "--strong-line", thin),
        line(against, "--warn", { ...thin, width: 2, dash: [6, 4] }), line(rate, "--accent", { value }),
      ],
      bands: [{ series: [1, 2], fill: colour("--accent-weak") }],
      scales: { x: { time: false }, y: { range: [0, 1] } },
      values: percent, label: runs,
    };
  },

  // How strongly the runs speak for either decision, and where it is taken.
  evidence(data, [runs, worse, notWorse, rollback, promote]) {
    const { deciding } = data.course;
    const moments = [{ runs: 0, evidence: { worse: 1, not_worse: 1 } }, ...data.course.moments];
    const least = 0.01;
    const value = (_, number) => number === least ? "0" : figure(number);
    const of = (kind) => moments.map((each) => Math.min(Math.max(each.evidence[kind], least), 1e6));
    const bound = { dash: [6, 4], points: { show: false }, value };
    return {
      data: [
        moments.map((each) => each.runs), of("worse"), of("not_worse"),
        moments.map(() => deciding.worse), moments.map(() => deciding.not_worse),
      ],
      series: [
        { label: runs }, line(worse, "--bad", { value }), line(notWorse, "--good", { value }),
        line(rollback, "--bad", bound), line(promote, "--good", bound),
      ],
      scales: { x: { time: false }, y: { distr: 3, range: (_, low, high) => [least, Math.max(100, high * 1.5)] } },
      values: figure, label: runs, splits: () => [0.01, 0.1, 1, 10, 100, 1000, 10000, 100000, 1000000],
    };
  },
};

// What a dashed line stands for is said on it, below it where the line above has its own words.
function name(chart) {
  const { ctx, bbox } = chart;
  const bounds = chart.series.flatMap((each, at) => each.dash ? [{ ...each, at: chart.valToPos(chart.data[at][0], "y", true), text: `${each.label} ${each.value(chart, chart.data[at][0])}` }] : []);
  bounds.sort((one, other) => one.at - other.at);
  ctx.save();
  ctx.font = `${12 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textAlign = "left";
  bounds.forEach((bound, number) => {
    ctx.fillStyle = bound.stroke();
    ctx.textBaseline = number ? "top" : "bottom";
    ctx.fillText(bound.text, bbox.left + 8 * devicePixelRatio, bound.at + (number ? 5 : -4) * devicePixelRatio);
  });
  ctx.restore();
}

// Until somebody points at it, a chart tells of its end.
function latest(chart) {
  chart.setLegend({ idx: chart.data[0].length - 1 });
}

async function draw(place, asked) {
  const from = place.dataset.from;
  if (!asked.has(from)) asked.set(from, fetch(from).then((answer) => answer.json()));
  const labels = (place.dataset.labels || "").split("|");
  const { data, values, across, splits, label, ...more } = drawn[place.dataset.chart]((await asked.get(from)).data, labels);
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const flat = label ? { ...axis, label, labelSize: 20, labelGap: 0, size: 30, incrs: counts } : { ...axis, values: (_, all) => all.map(across) };
  const upright = !values ? { ...axis, incrs: counts } : { ...axis, splits, size: 60, values: (_, all) => all.map((each) => each == null ? "" : values(each)) };
  const style = getComputedStyle(place);
  const size = () => ({ width: place.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), height: 220 });
  const chart = new uPlot({ ...size(), axes: [flat, upright], cursor: { drag: { x: false } }, hooks: { ready: [latest], draw: [name] }, legend: { markers: { dash: (all, at) => all.series[at].dash ? "dashed" : "solid" } }, ...more }, data, place);
  addEventListener("resize", () => { if (place.isConnected) chart.setSize(size()); });
}

function drawAll() {
  const asked = new Map();
  for (const place of document.querySelectorAll("[data-chart]:empty")) draw(place, asked);
}

document.addEventListener("renewed", drawAll);
drawAll();
