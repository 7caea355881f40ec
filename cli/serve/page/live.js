// SPDX-License-Identifier: MIT
// Follows a run by server-sent events, each of which has the whole picture: so a page that was away needs no history.
"use strict";

const at = (id) => document.getElementById(id);
const RANKS_SHOWN = 64, PROCESSES_SHOWN = 20, PROCESSES_NARROW = 6, PAIRS_SHOWN = 20, TEXT_SHOWN = 200;
let source = null, picture = null, newest = null, over = false; // picture: what is shown; newest: what came last

// ---- hosts ----

function makeHost() {
  const node = element("li");
  node.who = element("div", "who");
  node.label = element("span");
  node.badge = element("span", "badge limit", "limit");
  node.silent = element("div", "silent");
  node.who.append(node.label, node.badge, node.silent);
  node.cores = meter("fullest core", "computing");
  node.strip = element("canvas");
  node.strip.setAttribute("role", "img");
  node.cores.append(node.strip);
  node.cores.track.hidden = true;
  node.cpu = meter("CPU", "computing");
  node.memory = meter("memory", "memory");
  node.disk = meter("disk", "disk");
  node.network = meter("network", "transfer");
  node.gpus = element("div", "gpus");
  node.append(node.who, node.cores, node.cpu, node.memory, node.disk, node.network, node.gpus);
  return node;
}

function makeGpu() {
  return meter("", "gpu");
}

// What a GPU does not tell is left out, or a dash.
function setGpu(node, gpu) {
  const work = gpu.sm_pct === null ? gpu.busy_pct : gpu.sm_pct, said = [];
  setText(node.words, gpu.model ? `${gpu.name}, ${gpu.model}` : gpu.name);
  node.track.setAttribute("aria-label", node.words.textContent);
  if (gpu.lost) return setMeter(node, null, "lost: it does not answer any more");
  said.push(format.percent(work), format.of(gpu.memory_used_gb, gpu.memory_gb, "GB"), format.of(gpu.watts, gpu.watts_limit, "W"));
  if (gpu.cap && gpu.cap !== "none") said.push(`capped by ${gpu.cap}`);
  setMeter(node, shareOf(work, 100), said.join(", "));
}

function setHost(node, host) {
  setText(node.label, host.name);
  node.badge.hidden = host.index !== picture.limit.host;
  node.classList.toggle("is-silent", host.silent);
  setText(node.silent, host.silent ? `silent for ${format.duration(host.silent_s)}` : "");
  setMeter(node.cores, shares.cpu_core_max(host), format.percent(host.cpu_core_max));
  node.strip.setAttribute("aria-label", `${host.cores.length} cores`);
  drawCores(node.strip, host.cores);
  setMeter(node.cpu, shares.cpu_busy(host), format.percent(host.cpu_busy));
  setMeter(node.memory, shares.memory(host), format.of(host.mem_used, host.memory_gb, "GB"));
  setMeter(node.disk, shares.disk(host), `${format.number(host.disk_read)} read, ${format.number(host.disk_write)} written MB/s`);
  setMeter(node.network, shares.network(host), `in ${format.of(host.net_recv, host.receive_ceiling_mb_s, "")}, out ${format.of(host.net_send, host.send_ceiling_mb_s, "MB/s")}`.replace(" ,", ","));
  keyed(node.gpus, host.gpus, (g) => g.name, makeGpu, setGpu);
}

function showHosts() {
  const by = at("sort").value, part = at("filter").value.trim().toLowerCase();
  const hosts = picture.hosts.map((host, index) => ({ ...host, index }));
  const shown = hosts.filter((h) => h.name.toLowerCase().includes(part));
  if (by !== "name") shown.sort((a, b) => (shares[by](b) ?? -1) - (shares[by](a) ?? -1));
  keyed(at("hosts"), shown, (h) => h.index, makeHost, setHost);
  const missing = Math.max(0, (picture.hosts_expected || 0) - hosts.length);
  setText(at("hosts-count"), [shown.length < hosts.length ? `${shown.length} of ${hosts.length} hosts` : `${hosts.length} host${hosts.length === 1 ? "" : "s"}`, picture.hosts_silent ? `${picture.hosts_silent} silent` : "", missing ? `${missing} not heard of yet` : ""].filter(Boolean).join(", "));
}

// ---- tables ----

function makeRow(n, wide, numbers, labels = []) {
  const row = element("tr");
  for (let i = 0; i < n; i++) row.append(element("td", i === wide ? "wide" : numbers.includes(i) ? "number" : ""));
  labels.forEach((label, i) => (row.children[i].dataset.label = label)); // beside the value where a row is a block
  return row;
}

// A long command line is cut, and whole as a hint.
function setRow(row, texts) {
  texts.forEach((text, i) => {
    const cell = row.children[i], cut = text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}\u2026` : text;
    if (cell.textContent === cut) return;
    cell.textContent = cut;
    cell.title = cut === text ? "" : text;
  });
}

function hostName(index) {
  return picture.hosts[index] ? picture.hosts[index].name : "\u2013";
}

function showProcesses() {
  at("all-processes").hidden = picture.processes.length <= PROCESSES_NARROW;
  keyed(at("processes"), picture.processes.slice(0, PROCESSES_SHOWN), (p) => `${p.host} ${p.pid} ${p.name}`, () => makeRow(6, 5, [1, 2, 3, 4], ["", "CPU", "waits", "memory", "disk", ""]), (row, p) => {
    const rank = p.rank === null ? "" : `rank ${p.rank}: `, name = p.pid === null ? p.name : `${p.pid} ${p.name}`;
    setRow(row, [hostName(p.host), format.percent(p.cpu_pct), format.percent(p.run_queue_pct), `${format.number(p.memory_gb)} GB`, `${format.number((p.read_mb_s || 0) + (p.write_mb_s || 0))} MB/s`, rank + (p.command || name)]);
  });
}

// A telephone shows the first few; all are one press away.
at("all-processes").addEventListener("click", () => {
  const all = at("processes").classList.toggle("all");
  at("all-processes").setAttribute("aria-pressed", String(all));
  setText(at("all-processes"), all ? "Show fewer" : "Show all");
});

function showPairs() {
  keyed(at("pairs"), picture.pairs.slice(0, PAIRS_SHOWN), (p) => `${p.host_name} ${p.peer_name}`, () => makeRow(5, -1, [2, 3, 4]), (row, p) => {
    setRow(row, [p.host_name, p.peer_name, `${format.number(p.send_mb_s)} MB/s`, `${format.number(p.receive_mb_s)} MB/s`, p.connections ? String(p.connections) : "\u2013"]);
  });
  at("pairs-none").hidden = picture.pairs.length > 0;
  at("pairs-table").hidden = picture.pairs.length === 0;
}

// ---- the rest ----

function showBudgets() {
  const shown = picture.budgets.slice(0, RANKS_SHOWN);
  keyed(at("legend"), shownTerms(shown), ([key]) => key, ([, words, className]) => {
    const node = element("li");
    node.append(element("i", className), words);
    return node;
  }, () => {});
  keyed(at("budgets"), shown, (b) => `${b.host} ${b.rank} ${b.pid}`, makeBudget, (node, b) => setBudget(node, b, picture.hosts[b.host] && picture.hosts[b.host].name));
  const ranks = !shown.length || shown.some((b) => b.rank !== null && b.rank >= 0);
  setText(at("budget-title"), `Where the time of each ${ranks ? "rank" : "process"} went`);
  const more = picture.budgets.length - shown.length;
  at("budgets-none").hidden = picture.budgets.length > 0 && more <= 0;
  setText(at("budgets-none"), more > 0 ? `and ${more} more ${ranks ? "ranks" : "processes"}, which the report has` : "No rank has been seen yet.");
}

// The lines that `chokepoint run` ends with; a command in backticks is to be copied. Without words there is no line.
function setSaid(node, words) {
  node.parentNode.hidden = !words;
  if (node.said === words) return;
  node.said = words;
  node.replaceChildren(...(words || "").split("`").map((part, i) => (i % 2 ? element("code", "", part) : part)));
}

function showLimit() {
  const limit = picture.limit, facts = [];
  setText(at("limit-title"), limit.final ? "Limit" : "Limit so far");
  const words = !limit.known ? "Nothing has been judged yet." : limit.too_short && !limit.final ? "too early to say" : limit.limit;
  setSaid(at("limit"), words);
  setSaid(at("worth"), limit.too_short ? "" : limit.worth);
  setSaid(at("do"), limit.too_short ? "" : limit.do);
  at("verdict").classList.toggle("established", limit.known && limit.state === "saturated");
  if (limit.confidence) facts.push(`confidence ${Math.round(100 * limit.confidence)} %`);
  if (limit.known) facts.push(limit.final ? "of the whole run" : `judged at ${format.duration(limit.at_s)}`);
  setText(at("limit-facts"), facts.join(", "));
}

function stateWords() {
  if (picture.state === "running") return "running";
  if (picture.state === "cut-off") return "cut off: nothing comes any more, and no end was recorded";
  return `${picture.end || "ended"}${picture.exit_status ? `, exit status ${picture.exit_status}` : ""}`;
}

function showTrouble(text) {
  at("trouble").hidden = !text;
  setText(at("trouble"), text || "");
}

function show() {
  const title = `${picture.name || "run"} (run ${picture.run})`;
  document.title = `${title} - Chokepoint`;
  setText(at("name"), title);
  setText(at("facts"), `${stateWords()}, ${format.duration(picture.elapsed_s)} on ${picture.hosts.length} host${picture.hosts.length === 1 ? "" : "s"}`);
  setText(at("command"), picture.command || "");
  at("report").href = `/run/${picture.run}`;
  showTrouble(picture.trouble);
  showLimit();
  showHosts();
  showBudgets();
  showProcesses();
  showPairs();
}

// ---- looking back ----

// A picture of the past has no limit, ceilings, ranks and command lines: they are those of now.
function withPresent(past) {
  const hostOf = new Map(newest.hosts.map((host) => [host.name, host])), indexOf = new Map(past.hosts.map((host, i) => [host.name, i]));
  const place = (index) => indexOf.get(newest.hosts[index] && newest.hosts[index].name) ?? -1;
  const commands = new Map(newest.processes.map((p) => [`${newest.hosts[p.host].name} ${p.pid} ${p.name}`, p.command]));
  const hosts = past.hosts.map((host) => {
    const now = hostOf.get(host.name) || {}, gpus = host.gpus.map((gpu) => ({ ...(now.gpus || []).find((g) => g.name === gpu.name), ...gpu }));
    return { ...host, gpus, send_ceiling_mb_s: now.send_ceiling_mb_s, receive_ceiling_mb_s: now.receive_ceiling_mb_s, read_ceiling_mb_s: now.read_ceiling_mb_s, write_ceiling_mb_s: now.write_ceiling_mb_s };
  });
  return {
    ...newest, hosts, hosts_silent: past.hosts_silent, pairs: past.pairs,
    processes: past.processes.map((p) => ({ ...p, command: p.command || commands.get(`${past.hosts[p.host].name} ${p.pid} ${p.name}`) || null })),
    limit: { ...newest.limit, host: place(newest.limit.host) }, budgets: newest.budgets.map((b) => ({ ...b, host: place(b.host) })),
  };
}

const scroll = makeScroll({ section: at("time"), slider: at("moment"), past: at("past"), legend: at("past-legend"), caption: at("past-caption"), words: at("moment-words"), earlier: at("earlier"), later: at("later"), now: at("now") },
  (past) => {
    picture = withPresent(past);
    document.body.classList.add("looks-back");
    show();
  },
  () => {
    picture = newest;
    document.body.classList.remove("looks-back");
    if (isPaused()) at("pause").click();
    show();
  },
  showTrouble);

// A moment of the past stays in sight while the run goes on.
function take(came) {
  newest = came;
  scroll.follow(came);
  if (!scroll.looksBack()) {
    document.body.classList.remove("looks-back");
    picture = came;
    show();
  }
}

// ---- the connection ----

function say(words) {
  setText(at("connection"), words);
}

// An address that names the newest run outlives it: the next repeat of `run --repeat` is shown when it begins.
const follows = /\/live\/last\/?$/.test(location.pathname);

function awaitNext() {
  disconnect();
  say("waiting for the next run");
  setTimeout(connect, 1000);
}

function finish(words) {
  over = true;
  disconnect();
  say(words);
  at("pause").disabled = true;
}

function disconnect() {
  if (source) source.close();
  source = null;
}

function isPaused() {
  return at("pause").getAttribute("aria-pressed") === "true";
}

function connect() {
  if (source || over || isPaused() || document.visibilityState === "hidden") return;
  source = new EventSource(`${location.pathname.replace(/\/$/, "")}/events`);
  source.addEventListener("snapshot", (event) => {
    take(JSON.parse(event.data));
    say(newest.state === "running" ? "live" : "ended");
  });
  source.addEventListener("trouble", (event) => {
    say("waiting");
    showTrouble(event.data);
  });
  source.addEventListener("ended", () => (follows ? awaitNext() : finish("ended")));
  source.addEventListener("closing", () => {
    if (follows) return awaitNext();
    finish(picture && picture.state === "ended" ? "ended" : "server ended");
    showTrouble(picture ? `This server has ended, too. The report: chokepoint report ${picture.run}` : "This server has ended.");
    at("report").hidden = true;
  });
  source.addEventListener("error", () => {
    if (source && source.readyState === EventSource.CLOSED) {
      disconnect();
      say("refused, trying again");
      setTimeout(connect, 5000);
    } else say("connection lost, trying again");
  });
}

at("pause").addEventListener("click", () => {
  const paused = !isPaused();
  at("pause").setAttribute("aria-pressed", String(paused));
  setText(at("pause"), paused ? "Go on" : "Pause");
  if (paused) {
    disconnect();
    say("paused");
  } else connect();
});
document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? disconnect() : connect()));
for (const id of ["sort", "filter"]) at(id).addEventListener("input", () => picture && showHosts());
function redraw() {
  if (!picture) return;
  showHosts();
  scroll.draw();
}
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
connect();
