// SPDX-License-Identifier: MIT
// Numbers as people read them, and elements of text alone: nothing that comes from a run is ever markup.
"use strict";

const format = {
  // At most three digits.
  number(value) {
    if (value === null || value === undefined || !isFinite(value)) return "\u2013";
    const size = Math.abs(value);
    if (size < 0.00005) return "0";
    return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : size >= 0.0995 || value === 0 ? value.toFixed(2).replace(/\.?0+$/, "") : value.toPrecision(2);
  },
  percent: (value) => (value === null ? "\u2013" : `${Math.round(value)} %`),
  // "112 of 224 MB/s"
  of(value, most, unit) {
    return most ? `${format.number(value)} of ${format.number(most)} ${unit}` : `${format.number(value)} ${unit}`;
  },
  duration(seconds) {
    if (seconds === null || seconds === undefined) return "\u2013";
    const s = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
    return s < 60 ? `${seconds.toFixed(1)} s` : s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)} min` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)} h`;
  },
};

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Only what differs is written: a page of a hundred hosts is then cheap to keep.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// One child a key, made once, in the order of the items.
function keyed(parent, items, keyOf, make, update) {
  const known = parent.known || (parent.known = new Map());
  const wanted = new Set();
  let at = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (wanted.has(key)) continue;
    wanted.add(key);
    let node = known.get(key);
    if (!node) known.set(key, (node = make(item)));
    update(node, item);
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  for (const [key, node] of known)
    if (!wanted.has(key)) {
      node.remove();
      known.delete(key);
    }
}
