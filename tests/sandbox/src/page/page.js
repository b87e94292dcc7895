"use strict";
// The page is whole without this: it adds the filter, the zoom, the keys and the copying.
for (const timeline of document.querySelectorAll(".timeline")) {
  const chart = timeline.querySelector(".chart");
  const detail = timeline.querySelector(".detail");
  const lines = [...timeline.querySelectorAll(".words li")];
  const rows = [...chart.querySelectorAll(".body .row")].map((row) => ({ row, marks: [...row.querySelectorAll("a.m")] }));
  const marks = rows.flatMap(({ row, marks }, lane) =>
    marks.map((mark) => {
      const column = Number(mark.hash.slice(mark.hash.lastIndexOf("-") + 1));
      return { mark, lane, column, text: `${row.dataset.words} ${mark.title}`.toLowerCase() };
    }),
  );
  marks.sort((one, other) => one.column - other.column);
  let current = -1;

  const say = (mark) => {
    detail.textContent = mark.title;
    detail.classList.add("text");
  };
  const choose = (index) => {
    if (index < 0) return;
    marks[current]?.mark.classList.remove("current");
    current = index;
    const { mark } = marks[current];
    mark.classList.add("current");
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    say(mark);
  };
  const open = () => {
    const line = lines[marks[current]?.column];
    if (!line) return;
    line.closest("details").open = true;
    location.hash = line.id;
  };
  const shown = (entry) => !entry.mark.classList.contains("dim");
  const beside = (step) => {
    for (let index = current + step; index >= 0 && index < marks.length; index += step) if (shown(marks[index])) return index;
    return current;
  };
  // The nearest mark in time of the next lane that shows any.
  const across = (step) => {
    const from = marks[current] ?? { lane: -1, column: 0 };
    for (let lane = from.lane + step; lane >= 0 && lane < rows.length; lane += step) {
      let best = -1;
      marks.forEach((entry, index) => {
        const nearer = best < 0 || Math.abs(entry.column - from.column) < Math.abs(marks[best].column - from.column);
        if (entry.lane === lane && shown(entry) && nearer) best = index;
      });
      if (best >= 0) return best;
    }
    return current;
  };

  const widest = 40;
  const columns = Number(getComputedStyle(chart).getPropertyValue("--n"));
  // The style sheet chooses one that fills the room.
  let step = chart.querySelector(".columns").offsetWidth / columns;
  const zoom = (wanted) => {
    const label = chart.querySelector(".label").offsetWidth;
    const left = (chart.scrollLeft + (chart.clientWidth - label) / 2) / step;
    step = Math.min(widest, Math.max(2, wanted));
    chart.style.setProperty("--step", `${step}px`);
    timeline.classList.toggle("thin", step < 12);
    chart.scrollLeft = left * step - (chart.clientWidth - label) / 2;
  };
  const fit = () => {
    const room = chart.clientWidth - chart.querySelector(".label").offsetWidth - 16;
    zoom(Math.min(30, room / columns));
  };

  const filter = timeline.querySelector(".filter");
  const sift = () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (text) => wanted.every((word) => text.includes(word));
    for (const { mark, text } of marks) mark.classList.toggle("dim", !fits(text));
    for (const { row, marks } of rows) row.hidden = wanted.length > 0 && !marks.some((mark) => !mark.classList.contains("dim"));
    // A lane may be wanted by its name, which the line of an event has, too, but not that of a call.
    const columns = new Set(marks.filter(shown).map((entry) => entry.column));
    lines.forEach((line, column) => (line.hidden = !columns.has(column) && !fits(line.textContent.toLowerCase())));
  };

  timeline.querySelector(".live").hidden = false;
  timeline.querySelector(".live").addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", sift);
  timeline.querySelector(".in").addEventListener("click", () => zoom(step * 1.4));
  timeline.querySelector(".out").addEventListener("click", () => zoom(step / 1.4));
  timeline.querySelector(".fit").addEventListener("click", fit);
  chart.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("a.m");
    if (mark) say(mark);
  });
  chart.addEventListener("click", (event) => {
    const mark = event.target.closest("a.m");
    if (!mark) return;
    event.preventDefault();
    const index = marks.findIndex((entry) => entry.mark === mark);
    const again = index === current;
    choose(index);
    if (again) open();
  });
  const keys = {
    ArrowRight: () => choose(beside(1)),
    ArrowLeft: () => choose(beside(-1)),
    ArrowDown: () => choose(across(1)),
    ArrowUp: () => choose(across(-1)),
    Home: () => choose(marks.findIndex(shown)),
    End: () => choose(marks.findLastIndex(shown)),
    Enter: open,
    "+": () => zoom(step * 1.4),
    "-": () => zoom(step / 1.4),
    0: fit,
    "/": () => filter.focus(),
  };
  chart.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    filter.value = "";
    sift();
    chart.focus();
  });
}

for (const button of document.querySelectorAll(".copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      // It is selected: the keys of the system copy it.
      button.textContent = "selected";
    }
  });
}
