// SPDX-License-Identifier: MIT
// Looking back over the run so far: a slider chooses a second of it, whose picture the server reads from the recording. Of
// these at most MOMENTS_KEPT are held, so a page that stays open for days holds no more than one that was just opened.
"use strict";

const MOMENTS_KEPT = 40, MOMENT_WAIT_MS = 150, MOMENT_STEP_S = 10;

// How full the fullest host was: a row a resource, as dark as it was full. The rows have the colours of the meters below.
const pastRows = [
  ["core", "fullest core", "computing"],
  ["memory", "memory", "memory"],
  ["disk", "disk", "disk"],
  ["network", "network", "transfer"],
  ["gpu", "GPU", "gpu"],
];

function drawPast(canvas, past, end) {
  const shown = past ? pastRows.filter(([key]) => past[key].some((pct) => pct !== null)) : [];
  canvas.hidden = !shown.length; // only what is shown has a width
  const ratio = window.devicePixelRatio || 1, width = Math.round(canvas.clientWidth * ratio), each = Math.round(10 * ratio);
  if (!width || !shown.length) return shown;
  const height = shown.length * each;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.height = `${height / ratio}px`;
  }
  const style = getComputedStyle(canvas), to = canvas.getContext("2d"), perSecond = width / Math.max(end, past.step_s);
  to.clearRect(0, 0, width, height);
  to.fillStyle = style.getPropertyValue("--ground");
  to.fillRect(0, 0, width, height);
  shown.forEach(([key, , className], row) => {
    to.fillStyle = style.getPropertyValue(`--${className}`);
    past[key].forEach((pct, i) => {
      const left = Math.floor(i * past.step_s * perSecond), right = Math.ceil((i + 1) * past.step_s * perSecond), high = (each - ratio) * Math.max(0, Math.min(100, pct || 0)) / 100;
      to.fillRect(left, (row + 1) * each - high, right - left, high);
    });
  });
  return shown;
}

// What the words of a screen reader are: when each was full.
function pastWords(past, shown) {
  const said = shown.map(([key, words]) => {
    const full = past[key].filter((pct) => pct !== null && pct >= 95).length;
    return full ? `${words} full for ${format.duration(full * past.step_s)}` : `${words} never full`;
  });
  return `How full the fullest host was: ${said.join(", ")}`;
}

// The moment that is looked at. onPicture(picture of the past), onNow() when it is over, onTrouble(words).
function makeScroll(nodes, onPicture, onNow, onTrouble) {
  const kept = new Map();
  let run = null, end = 0, moment = null, timer = 0, asked = null, past = null;

  function words() {
    const at = moment === null ? "now" : `${format.duration(moment)} of ${format.duration(end)}`;
    nodes.slider.setAttribute("aria-valuetext", at);
    setText(nodes.words, moment === null ? "" : `as it was at ${at}`);
    nodes.now.disabled = moment === null;
    nodes.later.disabled = moment === null;
    nodes.earlier.disabled = end < 1;
  }

  function keep(second, picture) {
    kept.set(second, picture);
    for (const oldest of kept.keys())
      if (kept.size > MOMENTS_KEPT) kept.delete(oldest);
      else break;
  }

  async function ask(second) {
    if (asked) asked.abort();
    const own = (asked = new AbortController());
    try {
      const answer = await fetch(`/live/${run}/at/${second}`, { signal: own.signal });
      if (!answer.ok) throw new Error((await answer.text()).trim() || `answer ${answer.status}`);
      const picture = await answer.json();
      keep(second, picture);
      if (moment === second) onPicture(picture);
    } catch (error) {
      if (error.name !== "AbortError" && moment === second) onTrouble(`no picture of ${format.duration(second)}: ${error.message}`);
    }
  }

  function go(second) {
    clearTimeout(timer);
    if (second >= Math.floor(end)) return now();
    moment = Math.max(0, second);
    nodes.slider.value = String(moment);
    words();
    if (kept.has(moment)) onPicture(kept.get(moment));
    else timer = setTimeout(ask, MOMENT_WAIT_MS, moment);
  }

  function now() {
    clearTimeout(timer);
    if (asked) asked.abort();
    moment = null;
    nodes.slider.value = nodes.slider.max;
    words();
    onNow();
  }

  nodes.slider.addEventListener("input", () => go(Number(nodes.slider.value)));
  nodes.earlier.addEventListener("click", () => go((moment === null ? Math.floor(end) : moment) - MOMENT_STEP_S));
  nodes.later.addEventListener("click", () => moment !== null && go(moment + MOMENT_STEP_S));
  nodes.now.addEventListener("click", now);
  return {
    looksBack: () => moment !== null,
    moment: () => moment,
    kept: () => kept.size,
    // What has come: the slider's end moves on, and the moment that is looked at stays.
    follow(picture) {
      if (picture.run !== run) {
        kept.clear();
        run = picture.run;
        moment = null;
      }
      end = picture.elapsed_s || 0;
      nodes.section.hidden = end < 2;
      nodes.slider.max = String(Math.floor(end));
      if (moment === null) nodes.slider.value = nodes.slider.max;
      past = picture.past;
      this.draw();
      words();
    },
    draw() {
      const shown = drawPast(nodes.past, past, end);
      nodes.legend.hidden = nodes.caption.hidden = !shown.length;
      nodes.past.setAttribute("aria-label", shown.length ? pastWords(past, shown) : "How full the fullest host was: not known yet");
      keyed(nodes.legend, shown, ([key]) => key, ([, words, className]) => {
        const node = element("li");
        node.append(element("i", className), words);
        return node;
      }, () => {});
    },
  };
}
