"use strict";
// Measures the page it stands on, and writes what it found into it.
const found = { cut: [], overlaps: [] };
found.sticksOut = document.documentElement.scrollWidth - document.documentElement.clientWidth;

const clipped = (rect, element) => {
  let box = { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom };
  for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
    if (getComputedStyle(at).overflow === "visible") continue;
    const room = at.getBoundingClientRect();
    box = {
      left: Math.max(box.left, room.left),
      right: Math.min(box.right, room.right),
      top: Math.max(box.top, room.top),
      bottom: Math.min(box.bottom, room.bottom),
    };
  }
  return box;
};
const measure = () => {
  const texts = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || getComputedStyle(element).visibility === "hidden") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const box = clipped(rect, element);
      // Two pixels are what lines of letters may share.
      if (box.right - box.left > 2 && box.bottom - box.top > 2) texts.push({ node, element, text: node.textContent.trim(), ...box });
      const holder = element.closest("td, p, h1, h2, h3, summary, li, .chip, .verdict, button");
      const room = holder?.getBoundingClientRect();
      const hides = getComputedStyle(element).overflow !== "visible";
      if (room && !hides && (rect.right > room.right + 1 || rect.left < room.left - 1)) found.cut.push(node.textContent.trim());
    }
  }
  texts.sort((one, other) => one.top - other.top);
  for (let index = 0; index < texts.length; index++) {
    const one = texts[index];
    for (let next = index + 1; next < texts.length && texts[next].top < one.bottom - 3; next++) {
      const other = texts[next];
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      if (across > 1.5 && one.node !== other.node && found.overlaps.length < 20) found.overlaps.push(`${one.text} | ${other.text}`);
    }
  }
  return texts.length;
};

document.querySelectorAll("details").forEach((details) => (details.open = true));
found.texts = measure();
const count = (selector) => document.querySelectorAll(selector).length;
found.findings = count("article.finding");
found.lanes = count(".body .row");
found.marks = count("a.m");
found.stops = count(".rules .stop");
found.hits = count("a.m.hit");
const height = (element) => element.getBoundingClientRect().height;
found.short = [...document.querySelectorAll(".rules .rule")].filter((rule) => height(rule) < height(rule.parentElement) - 1).length;
found.phases = count(".phase");
found.passes = count(".passing");
found.flat = [...document.querySelectorAll(".passing")].filter((one) => one.getBoundingClientRect().width < 1).length;
found.ends = count(".rules .end");

const timeline = document.querySelector(".timeline");
const chart = timeline.querySelector(".chart");
const press = (key) => chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const said = () => timeline.querySelector(".detail").textContent;
found.told = ["Home", "ArrowRight", "ArrowDown", "End"].map((key) => (press(key), said()));
const width = () => timeline.querySelector(".columns").getBoundingClientRect().width / timeline.querySelectorAll(".words li").length;
found.steps = ["", "+", "0"].map((key) => (press(key), width()));
press("0");
measure();
const filter = timeline.querySelector(".filter");
const sift = (text) => {
  filter.value = text;
  filter.dispatchEvent(new Event("input"));
  const visible = (selector) => [...timeline.querySelectorAll(selector)].filter((one) => one.offsetParent !== null).length;
  return [visible(".body .row"), visible("a.m:not(.dim)")];
};
found.none = sift("no such words");
found.sifted = sift("careless/sample");
found.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
found.wrong = window.wrong;
found.cut = [...new Set(found.cut)].slice(0, 20);

const pre = document.createElement("pre");
pre.id = "measured";
pre.textContent = JSON.stringify(found);
document.body.append(pre);
