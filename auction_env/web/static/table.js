// A table as one reader sees it. What lies where comes from the view; no rule of a game is known here.

import { calm, cardName, h, line, rankText, suit, tens } from "./dom.js";

export function card(name, options = {}) {
  const down = name === "??", tag = options.onclick ? "button" : "span";
  const classes = ["card", down ? "down" : name[1], options.class].filter(Boolean).join(" ");
  const face = down ? [] : [
    h("span", { class: "corner", "aria-hidden": "true" }, rankText(name), suit(name[1])),
    h("span", { class: "pip", "aria-hidden": "true" }, "JQK".includes(name[0]) ? h("i", {}, name[0]) : null, suit(name[1])),
  ];
  const node = h(tag, { class: classes, "aria-label": options.label ?? cardName(name) }, face);
  if (tag === "button") {
    node.type = "button";
    node.addEventListener("click", options.onclick);
    if (options.pressed !== undefined) node.setAttribute("aria-pressed", String(options.pressed));
    if (options.key) node.append(h("kbd", { "aria-hidden": "true" }, options.key));
  } else node.setAttribute("role", "img");
  if (!down) node.dataset.card = name;
  return node;
}

export function chips(number) {
  return h("span", { class: "chips" }, h("span", { class: "chip", "aria-hidden": "true" }), String(number));
}

function pot(number) {
  const piles = h("span", { class: "piles", "aria-hidden": "true" });
  const counts = [[25, Math.floor(number / 25)], [5, Math.floor((number % 25) / 5)], [1, number % 5]];
  for (const [value, count] of counts) {
    if (!count) continue;
    const pile = h("span", { class: `pile v${value}` });
    for (let each = 0; each < Math.min(count, 6); each++) pile.append(h("i"));
    piles.append(pile);
  }
  return h("p", { class: "pot" }, piles, h("span", {}, "pot ", h("b", {}, String(number))));
}

function noteClass(note) {
  if (/^\+[1-9]/.test(note) || note.startsWith("wins") || /hand: \d/.test(note)) return "note won";
  if (/^-\d/.test(note) || note === "both failed") return "note lost";
  return note === "folded" || note === "sits out" ? "note out" : "note";
}

export const noteNode = (note, names) => h("span", { class: noteClass(note) }, ...line(note, names));

function describe(seat, name, scene) {
  const parts = [`${name}${seat.seat === scene.you ? ", you" : ""}, ${seat.stack} chips`];
  if (seat.dealer) parts.push("dealer");
  if (seat.to_act) parts.push("to act");
  return parts.concat(seat.notes).join(", ");
}

function seatNode(seat, scene, place) {
  const name = scene.names[seat.seat], own = place === "own";
  const group = (cards, kind, label) => cards.length === 0 ? null :
    h("ul", { class: `cards ${kind}`, "aria-label": label }, cards.map((each, index) => {
      const custom = own ? scene.ownCard?.(each, index, kind) : undefined;
      const price = kind === "bought" && seat.prices[index] !== undefined ?
        h("span", { class: "price", "aria-label": `bought for ${seat.prices[index]}` }, String(seat.prices[index])) : null;
      return h("li", {}, custom ?? card(each), price);
    }));
  const notes = seat.notes.concat(own && scene.committed ? [`${scene.committed}, face down`] : []);
  const node = h("section", {
    class: ["seat", place, seat.to_act && "acts", (seat.folded || seat.out) && "dim", seat.seat === scene.you && "you"]
      .filter(Boolean).join(" "),
    "aria-label": describe(seat, name, scene),
  },
    h("div", { class: "hand-cards" },
      group(seat.cards, "hole", own ? "your cards" : `cards of ${name}`),
      group(seat.bought, "bought", `open cards of ${name}`)),
    h("div", { class: "plate" },
      h("div", { class: "head" },
        h("span", { class: "who" }, seat.dealer ? h("abbr", { class: "button", title: "dealer" }, "D") : null,
          h("span", { class: "name", title: name }, name), scene.marks?.(seat.seat) ?? null),
        chips(seat.stack)),
      seat.hand ? h("p", { class: "shows" }, tens(seat.hand)) : null),
    notes.length ? h("p", { class: "notes" }, notes.map((note) => noteNode(note, scene.names))) : null,
  );
  node.dataset.seat = seat.seat;
  return node;
}

function centreNode(view, scene) {
  const cards = view.centre.map((name, index) => h("li", {}, scene.centreCard?.(name, index) ?? card(name)));
  return h("div", { class: "centre" },
    h("p", { class: "phase" }, view.phase),
    cards.length ? h("ul", { class: "cards row", "aria-label": `the ${view.centre_label}` }, cards) : h("div", { class: "emblem", "aria-hidden": "true" }, ["c", "d", "h", "s"].map(suit)),
    pot(view.pot),
    h("p", { class: "facts" }, view.lines.slice(1).map((text) => h("span", {}, ...line(text, scene.names), " "))));
}

// The seats clockwise from the reader's: one at each side where there are several, the others along the top.
function places(count) {
  const others = count - 1;
  if (others === 1) return ["top"];
  return ["left", ...Array(Math.max(0, others - 2)).fill("top"), "right"];
}

// scene: view, names, you (a seat or null), and what the page adds: ownCard, centreCard, committed, marks.
export function drawTable(scene) {
  const { view } = scene, count = view.seats.length, first = scene.you ?? scene.bottom ?? 0, spots = places(count);
  const own = seatNode(view.seats[first], scene, "own"), sides = { left: [], top: [], right: [] };
  for (let step = 1; step < count; step++) {
    const seat = view.seats[(first + step) % count];
    sides[spots[step - 1]].push(seatNode(seat, scene, spots[step - 1]));
  }
  return h("div", { class: `felt of${count}` },
    sides.left, h("div", { class: `tops n${sides.top.length}` }, sides.top), sides.right, centreNode(view, scene), own);
}

// Cards that were elsewhere slide to where they are now; new ones are laid down.
export function replaceTable(host, next) {
  const old = new Map();
  for (const node of host.querySelectorAll("[data-card]")) old.set(node.dataset.card, node.getBoundingClientRect());
  const first = host.firstChild === null;
  host.replaceChildren(next);
  if (calm() || first) return;
  for (const node of host.querySelectorAll("[data-card]")) {
    const from = old.get(node.dataset.card), to = node.getBoundingClientRect();
    if (!from) {
      node.animate([{ opacity: 0, transform: "translateY(-14px) scale(1.06)" }, { opacity: 1, transform: "none" }],
        { duration: 260, easing: "ease-out" });
    } else if (Math.hypot(from.x - to.x, from.y - to.y) > 4) {
      const shift = `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(${from.width / (to.width || 1)})`;
      node.animate([{ transform: shift, transformOrigin: "0 0", zIndex: 5 }, { transform: "none", transformOrigin: "0 0" }],
        { duration: 420, easing: "cubic-bezier(.2,.8,.3,1)" });
    }
  }
}

export function logNode(lines, names) {
  return h("ol", { class: "log" }, lines.map((text) => h("li", {}, ...line(text, names))));
}

// What an agent thinks of its options: bars of probabilities or of chips; chips exactly, or with their error.
export function optionBars(advice, nameOf) {
  const rated = advice.options.filter((one) => one.p !== undefined || one.value !== undefined);
  if (!rated.length) return null;
  const byShare = rated[0].p !== undefined, valued = rated.some((one) => one.value !== undefined);
  const size = (one) => (byShare ? one.p : Math.abs(one.value ?? 0));
  const order = (one) => (byShare ? one.p : one.value ?? -Infinity);
  const shown = [...rated].sort((a, b) => order(b) - order(a) || (b.value ?? 0) - (a.value ?? 0)).slice(0, 6);
  const most = Math.max(...shown.map(size), 0.001);
  const chips = (one) => (one.value === undefined ? "–" : `${one.value > 0 ? "+" : ""}${one.value.toFixed(2)}${one.error === undefined ? "" : ` ± ${(1.96 * one.error).toFixed(2)}`}`);
  return [h("ul", { class: "bars" }, shown.map((one) => {
    const bar = h("span", { class: `bar-fill${!byShare && one.value < 0 ? " minus" : ""}` });
    bar.style.setProperty("--size", String(size(one) / most));
    const share = byShare ? `${(100 * one.p).toFixed(one.p > 0.1 || one.p === 0 ? 0 : 1)} %` : null;
    return h("li", { class: one.action === advice.action ? "taken" : "" }, h("span", {}, ...nameOf(one.name)), bar,
      h("span", { class: "figure" }, [share, valued ? chips(one) : null].filter(Boolean).join("  ")));
  })), valued ? h("p", { class: "small" }, rated.some((one) => one.error !== undefined) ? "Chips beyond the choice, by playouts; ± is a 95 % interval." : "Chips beyond the choice, exactly.") : null];
}
