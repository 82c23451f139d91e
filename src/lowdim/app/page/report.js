"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const unpack = (text, Kind) => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Colours that people with any kind of colour vision can tell apart; after the last one the shape changes.
  const CLASSES = {
    light: ["#0072b2", "#e08a00", "#009e73", "#c65f9c", "#d1480d", "#4fb0e8", "#a89400", "#5d636b"],
    dark: ["#4ea6e6", "#f5a623", "#2fc79a", "#e69fcb", "#ff7a45", "#9bd7fa", "#e3d34a", "#aab2bc"],
  };
  const SHAPES = 4;
  const GOOD = ["#b83c00", "#e8872b", "#c9b98f", "#5b97cc", "#00569b"];
  const AMOUNT = ["#5b59b5", "#34789b", "#22a07f", "#77c04a", "#dcc522"];
  const GREY = { light: "#c9ccc8", dark: "#454c55" };
  const rows = unpack(data.rows, Int32Array);
  const n = rows.length;
  const label = data.label && { ...data.label, values: unpack(data.label.values, data.label.classes ? Int32Array : Float32Array) };
  const tip = document.getElementById("tip"), legend = document.getElementById("legend");
  const chooser = document.getElementById("colour");
  const LEGEND = 24;  // classes named before the rest is asked for
  let picked = new Set(), current = -1, whole = false;

  const maps = [...document.querySelectorAll("canvas[data-map]")].map((canvas) => {
    const source = data.maps[+canvas.dataset.map];
    return { canvas, over: canvas.nextElementSibling, name: source.name, flat: source.flat,
      xy: unpack(source.xy, Float32Array), quality: unpack(source.quality, Float32Array), sx: new Float32Array(n), sy: new Float32Array(n) };
  });

  // One fixed shuffle: no class is always painted on top of another.
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1, s = 12345; i > 0; i--) {
    s = (Math.imul(s, 1103515245) + 12345) & 0x7fffffff;
    const j = s % (i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }

  const mode = () => (dark.matches ? "dark" : "light");
  const channel = (hex, k) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  const ramp = (stops) => Array.from({ length: 64 }, (_, i) => {
    const t = (i / 63) * (stops.length - 1), a = Math.min(Math.floor(t), stops.length - 2);
    return `rgb(${[0, 1, 2].map((k) => Math.round(channel(stops[a], k) + (t - a) * (channel(stops[a + 1], k) - channel(stops[a], k)))).join()})`;
  });
  const ramps = { quality: ramp(GOOD), label: ramp(AMOUNT) };
  const step = (value, low, high) => Math.max(0, Math.min(63, Math.round((63 * (value - low)) / (high - low || 1))));
  let low = Infinity, high = -Infinity;
  if (label && !label.classes) for (const v of label.values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  const known = (i) => (label.classes ? label.values[i] >= 0 : Number.isFinite(label.values[i]));
  const holes = label !== null && rows.some((_, i) => !known(i));

  function colourOf(map) {
    const by = chooser.value, palette = CLASSES[mode()], grey = GREY[mode()];
    if (by === "label" && label.classes)
      return (i) => (!known(i) || (picked.size && !picked.has(label.values[i])) ? grey : palette[label.values[i] % palette.length]);
    if (by === "label") return (i) => (known(i) ? ramps.label[step(label.values[i], low, high)] : grey);
    if (by === "quality") return (i) => (Number.isFinite(map.quality[i]) ? ramps.quality[step(map.quality[i], 0, 1)] : grey);
    return () => palette[0];
  }
  const shapeOf = (i) => (chooser.value === "label" && label.classes && known(i) ? Math.floor(label.values[i] / CLASSES.light.length) % SHAPES : 0);

  function mark(pen, x, y, r, shape) {
    pen.beginPath();
    if (shape === 0) pen.arc(x, y, r, 0, 7);
    else if (shape === 1) pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
    else if (shape === 2) { pen.moveTo(x, y - r * 1.2); pen.lineTo(x + r * 1.1, y + r * 0.8); pen.lineTo(x - r * 1.1, y + r * 0.8); pen.closePath(); }
    else { pen.moveTo(x, y - r * 1.3); pen.lineTo(x + r * 1.3, y); pen.lineTo(x, y + r * 1.3); pen.lineTo(x - r * 1.3, y); pen.closePath(); }
    pen.fill();
  }

  function size(canvas) {
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    return { pen, side: Math.min(box.width, box.height) };
  }

  function draw(map) {
    const { pen, side } = size(map.canvas), span = side - 28, colour = colourOf(map);
    const radius = Math.max(0.9, Math.min(3.6, 60 / Math.sqrt(n))) * Math.max(0.8, side / 340);
    pen.globalAlpha = n > 4000 ? 0.55 : 0.82;
    for (const i of order) {
      map.sx[i] = side / 2 + map.xy[2 * i] * span;
      map.sy[i] = side / 2 - (map.flat ? ((i * 0.618034) % 1) * 0.3 - 0.15 : map.xy[2 * i + 1]) * span;
    }
    const grey = GREY[mode()];  // what is not asked about stays in sight, but underneath
    for (const under of [true, false]) for (const i of order) {
      const ink = colour(i);
      if (Number.isNaN(map.sx[i]) || (ink === grey) !== under) continue;
      pen.fillStyle = ink;
      mark(pen, map.sx[i], map.sy[i], radius, shapeOf(i));
    }
    point(map);
  }

  function point(map) {
    const { pen } = size(map.over);
    if (current < 0 || Number.isNaN(map.sx[current])) return;
    pen.lineWidth = 2;
    pen.strokeStyle = getComputedStyle(document.body).color;
    pen.beginPath();
    pen.arc(map.sx[current], map.sy[current], 7, 0, 7);
    pen.stroke();
  }

  function show(map, i) {
    if (i === current) return;
    current = i;
    maps.forEach(point);
    tip.classList.toggle("on", i >= 0);
    if (i < 0) return;
    const lines = [data.names ? `${data.names[i]} (row ${rows[i]})` : `row ${rows[i]}`];
    if (label) lines.push(`${label.name}: ${!known(i) ? "none" : label.classes ? label.classes[label.values[i]] : +label.values[i].toPrecision(5)}`);
    if (Number.isFinite(map.quality[i])) lines.push(`quality in ${map.name}: ${map.quality[i].toFixed(2)}`);
    tip.textContent = lines.join("\n");
    const box = map.canvas.getBoundingClientRect(), x = box.left + map.sx[i], y = box.top + map.sy[i];
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, y + 14 + tip.offsetHeight > innerHeight ? y - 14 - tip.offsetHeight : y + 14)}px`;
  }

  function nearest(map, x, y) {
    let best = -1, reach = 144;
    for (let i = 0; i < n; i++) {
      const d = (map.sx[i] - x) ** 2 + (map.sy[i] - y) ** 2;
      if (d < reach) { reach = d; best = i; }
    }
    return best;
  }

  function scale(colours, from, to) {
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.background = `linear-gradient(90deg, ${colours.join()})`;
    legend.replaceChildren(from, bar, to, ...unlabelled());
  }

  function describe() {
    const by = chooser.value;
    legend.replaceChildren();
    if (by === "quality") return scale(GOOD, "0, as random", "1, all neighbours kept");
    if (by === "none") return;
    if (!label.classes) return scale(AMOUNT, String(+low.toPrecision(4)), String(+high.toPrecision(4)));
    const most = whole || label.classes.length <= LEGEND + 4 ? label.classes.length : LEGEND;
    label.classes.slice(0, most).forEach((name, k) => legend.append(chip(name, k)));
    if (most < label.classes.length) legend.append(more(label.classes.length - most));
    legend.append(...unlabelled());
    if (label.classes.length > CLASSES.light.length * SHAPES) legend.append(text("", `${label.classes.length} classes, ${CLASSES.light.length * SHAPES} marks: several classes share a mark; press one to see it alone.`));
  }

  function text(kind, words) {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = words;
    return span;
  }

  function unlabelled() {
    if (chooser.value !== "label" || !holes) return [];
    const swatch = document.createElement("canvas"), pen = swatch.getContext("2d");
    swatch.width = swatch.height = 24;
    pen.fillStyle = GREY[mode()];
    mark(pen, 12, 12, 8, 0);
    return [swatch, text("", "no label")];
  }

  function more(count) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more";
    button.textContent = `${count} more`;
    button.addEventListener("click", () => { whole = true; describe(); });
    return button;
  }

  function chip(name, k) {
    const button = document.createElement("button"), swatch = document.createElement("canvas"), text = document.createElement("span");
    button.type = "button";
    button.title = name;
    button.setAttribute("aria-pressed", String(picked.has(k)));
    text.textContent = name;
    swatch.width = swatch.height = 24;
    const pen = swatch.getContext("2d");
    pen.fillStyle = CLASSES[mode()][k % CLASSES.light.length];
    mark(pen, 12, 12, 8, Math.floor(k / CLASSES.light.length) % SHAPES);
    button.append(swatch, text);
    button.addEventListener("click", () => {
      if (!picked.delete(k)) picked.add(k);
      button.setAttribute("aria-pressed", String(picked.has(k)));
      maps.forEach(draw);
    });
    return button;
  }

  function redraw() { describe(); maps.forEach(draw); }

  for (const map of maps) {
    map.canvas.addEventListener("pointermove", (event) => {
      const box = map.canvas.getBoundingClientRect();
      show(map, nearest(map, event.clientX - box.left, event.clientY - box.top));
    });
    map.canvas.addEventListener("pointerleave", () => show(map, -1));
    map.canvas.addEventListener("blur", () => show(map, -1));
    map.canvas.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") show(map, -1);
      if (!move) return;
      event.preventDefault();
      show(map, (current + move + n) % n);
    });
  }
  chooser.addEventListener("change", () => { picked = new Set(); redraw(); });
  dark.addEventListener("change", redraw);
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(redraw, 120); });
  redraw();
})();
