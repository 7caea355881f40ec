// SPDX-License-Identifier: MIT
// The list of runs, the newest first or those that left most unused. No part of it is markup: names and commands come from
// outside.
"use strict";

const at = (id) => document.getElementById(id);
const AGAIN_MS = 15000;
const chosen = []; // numbers of runs, in the order in which they were marked

function cell(row, className, label, ...content) {
  const made = document.createElement("td");
  made.className = className;
  made.dataset.label = label; // beside the value where a row is a block
  made.append(...content);
  row.append(made);
}

function link(path, text) {
  const made = document.createElement("a");
  made.href = path;
  made.textContent = text;
  return made;
}

function took(seconds) {
  if (seconds === null) return "\u2013";
  const s = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
  return s < 60 ? `${seconds.toFixed(1)} s` : s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)} min` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)} h`;
}

// Seconds of one core that a run had and did not use; null: not known.
function idle(run, had, used) {
  return run[used] === null || run[had] === null || run.duration_s === null ? null : Math.max(0, run[had] - run[used]) * run.duration_s;
}

function share(run) {
  const part = idle(run, "cores", "cores_used"), all = run.cores * run.duration_s;
  return part === null || !all ? "\u2013" : `${took(part)} (${Math.round((100 * part) / all)}\u00a0%)`;
}

const orders = {
  start: (run) => run.id,
  cores: (run) => idle(run, "cores", "cores_used") ?? -1,
  gpus: (run) => idle(run, "gpus", "gpus_used") ?? -1,
};

function endOf(run) {
  if (run.state === "unfinished") return link(`/live/${run.id}`, "live");
  return run.state === "failed" && run.exit_status ? `exit ${run.exit_status}` : run.state;
}

function setChoice() {
  at("compare").disabled = chosen.length !== 2;
  for (const box of document.querySelectorAll("input[type=checkbox]")) box.disabled = !box.checked && chosen.length === 2;
}

function choose(box, id) {
  const index = chosen.indexOf(id);
  if (box.checked && index < 0) chosen.push(id);
  if (!box.checked && index >= 0) chosen.splice(index, 1);
  setChoice();
}

function rowOf(run) {
  const row = document.createElement("tr"), box = document.createElement("input"), ran = run.state !== "not-started";
  box.type = "checkbox";
  box.checked = chosen.includes(run.id);
  box.setAttribute("aria-label", `compare run ${run.id}, ${run.name}`);
  box.addEventListener("change", () => choose(box, run.id));
  cell(row, "", "compare", ...(ran ? [box] : []));
  cell(row, "number", "run", String(run.id));
  const name = run.repeats ? `${run.name} (${run.repeat} of ${run.repeats})` : run.name;
  cell(row, "name", "name", ran ? link(`/run/${run.id}`, name) : name);
  cell(row, "", "started", new Date(run.started_at).toLocaleString());
  cell(row, "number", "took", took(run.duration_s));
  cell(row, "number", "hosts", run.hosts_expected && run.hosts_expected !== run.hosts ? `${run.hosts} of ${run.hosts_expected}` : String(run.hosts));
  cell(row, "", "end", endOf(run));
  cell(row, "number", "cores unused", share(run));
  cell(row, "wide", "limit", run.limit || "\u2013");
  cell(row, "wide soft", "command", run.command || "\u2013");
  return row;
}

let listed = [];

// Every word must be somewhere in the run's name, limit, command, end or notes.
function matches(run) {
  const text = [run.name, run.limit, run.command, run.state, ...run.notes].join(" ").toLowerCase();
  return at("filter").value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function showListed() {
  const first = orders[at("order").value];
  const runs = listed.filter(matches).sort((a, b) => first(b) - first(a) || b.id - a.id);
  at("runs").replaceChildren(...runs.map(rowOf));
  if (listed.length) at("status").textContent = `${runs.length === listed.length ? "" : `${runs.length} of `}${listed.length} run${listed.length === 1 ? "" : "s"}`;
  setChoice();
}

function show(runs) {
  listed = runs;
  showListed();
  if (runs.length === 0) at("status").textContent = "No run has been recorded yet: chokepoint run COMMAND records one.";
  if (runs.some((run) => run.state === "unfinished")) setTimeout(load, AGAIN_MS);
}

async function load() {
  if (document.visibilityState === "hidden") return void document.addEventListener("visibilitychange", load, { once: true });
  try {
    const answer = await fetch("/runs.json");
    if (!answer.ok) throw new Error((await answer.text()).trim());
    show((await answer.json()).runs);
  } catch (error) {
    at("status").textContent = `No list: ${error.message}`;
    setTimeout(load, AGAIN_MS);
  }
}

// The form would send boxes by name in the order of the page; the first one marked is the baseline.
at("choice").addEventListener("submit", (event) => {
  event.preventDefault();
  if (chosen.length === 2) location.assign(`/compare?a=${chosen[0]}&b=${chosen[1]}`);
});
at("filter").addEventListener("input", showListed);
at("order").addEventListener("change", showListed);
load();
