// SPDX-License-Identifier: MIT
// Pictures of a host and of a rank: meters towards a ceiling, a strip of cores, a bar of where the
// time went.
"use strict";

const FULL = 0.95; // of what there is: as good as full

function meter(label, className) {
  const node = element("div", "meter"), words = element("div", "words"), track = element("div", "track");
  node.number = element("b");
  node.fill = element("div", `fill ${className}`);
  node.track = track;
  node.words = element("span", "", label);
  words.append(node.words, node.number);
  track.append(node.fill);
  node.append(words, track);
  track.setAttribute("role", "meter");
  track.setAttribute("aria-label", label);
  track.setAttribute("aria-valuemin", "0");
  track.setAttribute("aria-valuemax", "100");
  return node;
}

// share: 0..1 of what there is, or null where that is not known.
function setMeter(node, share, text) {
  setText(node.number, text);
  const known = share !== null && isFinite(share), percent = known ? Math.max(0, Math.min(100, 100 * share)) : 0;
  const width = `${percent.toFixed(0)}%`;
  if (node.fill.style.width !== width) {
    node.fill.style.width = width;
    node.track.setAttribute("aria-valuenow", percent.toFixed(0));
  }
  node.track.setAttribute("aria-valuetext", text);
  node.fill.classList.toggle("full", known && share >= FULL);
  node.track.classList.toggle("none", !known);
}

function shareOf(value, most) {
  return value === null || value === undefined || !most ? null : value / most;
}

// Reading and writing, or in and out, against their own ceilings: the fuller one is drawn.
function fuller(a, b) {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

const shares = {
  cpu_core_max: (h) => shareOf(h.cpu_core_max, 100),
  cpu_busy: (h) => shareOf(h.cpu_busy, 100),
  memory: (h) => shareOf(h.mem_used, h.memory_gb),
  disk: (h) => fuller(fuller(shareOf(h.disk_read, h.read_ceiling_mb_s), shareOf(h.disk_write, h.write_ceiling_mb_s)), shareOf(h.disk_busy, 100)),
  network: (h) => fuller(shareOf(h.net_send, h.send_ceiling_mb_s), shareOf(h.net_recv, h.receive_ceiling_mb_s)),
};

// Each core is a column as high as it is busy.
function drawCores(canvas, cores) {
  const ratio = window.devicePixelRatio || 1, width = Math.round(canvas.clientWidth * ratio), height = Math.round(18 * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const style = getComputedStyle(canvas), to = canvas.getContext("2d"), step = width / cores.length;
  to.fillStyle = style.getPropertyValue("--ground");
  to.fillRect(0, 0, width, height);
  for (let i = 0; i < cores.length; i++) {
    const busy = Math.max(0, Math.min(1, (cores[i] || 0) / 100)), left = Math.round(i * step);
    const gap = step > 4 ? Math.max(1, Math.round(ratio)) : 0;
    to.fillStyle = style.getPropertyValue("--computing");
    to.fillRect(left, height * (1 - busy), Math.max(1, Math.round((i + 1) * step) - left - gap), height * busy);
  }
}

// ---- where the time of a rank went ----

const terms = [
  ["cpu", "computing", "computing"],
  ["runqueue", "waiting for a core", "core"],
  ["quota", "throttled by its quota", "quota"],
  ["steal", "core taken by the hypervisor", "steal"],
  ["disk", "disk", "disk"],
  ["memory", "short memory", "memory"],
  ["gpu", "waiting for the GPU", "gpu"],
  ["gpu_copy", "copying to or from the GPU", "gpu-copy"],
  ["stopped", "stopped by a signal or a debugger", "stopped"],
  ["idle", "asleep or blocked", "asleep"],
  ["peer_wait", "waiting for a peer", "peer"],
  ["transfer", "transfer", "transfer"],
  ["file", "file I/O in MPI", "file"],
  ["mpi_overhead", "MPI overhead", "overhead"],
  ["mpi_unsplit", "in MPI, not known why", "unsplit"],
  ["unknown", "not known", "unknown"],
];

function makeBudget() {
  const node = element("li"), stack = element("div", "stack");
  node.whose = element("span", "whose");
  node.stack = stack;
  stack.setAttribute("role", "img");
  for (const [, , className] of terms) stack.append(element("i", className));
  node.append(node.whose, stack);
  return node;
}

function setBudget(node, budget, host) {
  const who = budget.rank === null ? budget.process : `rank ${budget.rank}`, said = [];
  setText(node.whose, host ? `${who} on ${host}` : who);
  terms.forEach(([key, words], i) => {
    const share = budget.wall_s > 0 ? Math.max(0, budget.terms_s[key] || 0) / budget.wall_s : 0;
    node.stack.children[i].style.width = `${(100 * share).toFixed(1)}%`;
    if (share >= 0.02) said.push(`${words} ${Math.round(100 * share)} %`);
  });
  node.stack.title = said.join(", ");
  node.stack.setAttribute("aria-label", said.join(", ") || "nothing is known");
}

// The terms of which any rank has enough to be seen: a bar is about a thousand pixels.
function shownTerms(budgets) {
  return terms.filter(([key]) => budgets.some((b) => (b.terms_s[key] || 0) >= 0.001 * b.wall_s));
}
