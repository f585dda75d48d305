// Looking at a deal frame by frame: a live match of agents, or a record.

import { calm, h, line, plain, request, say, tens, toast } from "./dom.js";
import { setRulesGame } from "./rules.js";
import { drawTable, logNode, optionBars, replaceTable } from "./table.js";

const SPEEDS = [["slow", 2400], ["easy", 1400], ["quick", 700], ["fast", 300]];

// what: setup, names, game, settings, live; onNext asks for the next live deal; onMove tells the address of a moment;
// advise(step, agent) asks what an agent would do there.
export class Player {
  constructor(main, what) {
    Object.assign(this, what);
    this.main = main;
    this.frames = [];
    this.deal = 0;
    this.at = 0;
    this.reveal = "all";
    this.playing = !calm();
    this.speed = 1;
    this.agent = "";
    this.over = false;
    this.felt = h("div", { class: "felt-host" });
    this.side = h("aside", { class: "side", "aria-label": "What happened" });
    this.advice = h("section", { class: "panel hint", hidden: true, "aria-label": "What an agent would do here" });
    this.main.replaceChildren(h("div", { class: "play watch" }, h("div", { class: "board" }, this.felt, this.controls()), this.side));
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
    this.tick();
  }

  controls() {
    const button = (label, run, text, focus) => h("button", { type: "button", class: "quiet", "aria-label": label, onclick: run, "data-focus": focus }, text);
    this.slider = h("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step of the deal", oninput: () => { this.playing = false; this.go(Number(this.slider.value)); } });
    this.playButton = button("Play", () => this.toggle(), "▶", "play");
    this.count = h("span", { class: "count" }, "");
    this.reveals = h("select", { "aria-label": "Whose cards are shown", onchange: () => { this.reveal = this.reveals.value; this.draw(); } });
    this.fillReveals();
    const speeds = h("select", { "aria-label": "Speed", onchange: (event) => { this.speed = Number(event.target.value); } },
      SPEEDS.map(([name], index) => h("option", { value: String(index), selected: index === this.speed }, name)));
    this.nextButton = h("button", { type: "button", class: "act main-action", hidden: true, onclick: () => this.onNext?.() }, "Next deal", h("kbd", { "aria-hidden": "true" }, "N"));
    const ask = this.advise ? h("select", { "aria-label": "Ask an agent what it would do", onchange: (event) => { this.agent = event.target.value; this.ask(); } },
      h("option", { value: "" }, "ask an agent …"), this.setup.agents.map((agent) => h("option", {}, agent))) : null;
    const link = this.onMove ? button("Copy a link to this moment", () => this.copyLink(), "Link", "link") : null;
    return h("div", { class: "controls" },
      h("div", { class: "transport" }, button("First step", () => this.step(-Infinity), "«", "first"), button("Step back", () => this.step(-1), "‹", "back"), this.playButton,
        button("Step on", () => this.step(1), "›", "on"), button("Last step", () => this.go(this.frames.length - 1), "»", "last"), this.slider, this.count),
      h("div", { class: "choices" }, this.extra ?? null, this.reveals, speeds, ask, link, this.nextButton));
  }

  fillReveals() {
    this.reveals.replaceChildren(h("option", { value: "all" }, "all cards"), h("option", { value: "none" }, "open cards only"),
      ...this.names.map((name, seat) => h("option", { value: String(seat) }, `as ${name} sees it`)));
    this.reveals.value = this.reveal;
  }

  // Frames of a deal, from some place on; a new deal waits until this one has been seen.
  add(deal, from, frames) {
    if (deal !== this.deal) { this.deal = deal; this.frames = []; this.at = 0; this.playing = !calm(); }
    this.frames.splice(from, this.frames.length - from, ...frames);
    this.slider.max = String(this.frames.length - 1);
    this.draw();
  }

  state(state) {
    this.over = state.match_over;
    this.finished = state.payoffs !== null;
    this.draw();
  }

  show(deal, frames, at) {
    this.deal = deal;
    this.frames = frames;
    this.finished = true;
    this.slider.max = String(frames.length - 1);
    this.go(at);
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.frames.length - 1, at));
    this.draw();
    this.onMove?.(this.deal, this.at);
    this.ask();
  }

  step(by) { this.playing = false; this.go(this.at + by); }

  copyLink() {
    this.playing = false;
    this.go(this.at);
    navigator.clipboard?.writeText(location.href).then(() => toast("The address of this moment is copied."), () => toast(location.href));
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.at === this.frames.length - 1 && !this.live) this.at = 0;
    this.draw();
  }

  tick() {
    this.timer = setTimeout(() => {
      if (this.playing && this.at < this.frames.length - 1) this.go(this.at + 1);
      this.tick();
    }, SPEEDS[this.speed][1]);
  }

  view(frame) {
    if (this.reveal === "all") return { ...frame.view, seats: frame.all };
    if (this.reveal === "none") return frame.view;
    const seat = Number(this.reveal);
    return { ...frame.view, seats: frame.view.seats.map((one, index) => (index === seat ? frame.own[seat] : one)) };
  }

  nodesOf(name, frame) {
    const before = this.frames[this.frames.indexOf(frame) - 1];
    const cards = /^keep \d/.test(name) ? before?.view.centre : /^discard \d/.test(name) ? before?.all[frame.choice?.seat ?? before.view.seats.findIndex((one) => one.to_act)]?.cards : null;
    if (!cards) return line(name, this.names);
    const [first, ...rest] = name.split(" ");
    return [first, " ", ...line(rest.map((place) => cards[Number(place)]).join(" "), this.names)];
  }

  // What has not changed is not drawn again: many steps may come while one is looked at.
  draw() {
    const frame = this.frames[this.at];
    if (!frame) return;
    if (frame !== this.drawn || this.reveal !== this.revealed) this.drawMoment(frame);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", `step ${this.at} of ${this.frames.length - 1}`);
    this.count.textContent = `${this.at} / ${this.frames.length - 1}`;
    this.playButton.textContent = this.playing ? "❚❚" : "▶";
    this.playButton.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.nextButton.hidden = !(this.onNext && this.at === this.frames.length - 1 && this.finished && !this.over);
  }

  drawMoment(frame) {
    Object.assign(this, { drawn: frame, revealed: this.reveal });
    const seen = this.reveal === "all" || Number(this.reveal) === frame.choice?.seat;
    const one = this.reveal === "all" || this.reveal === "none" ? null : Number(this.reveal);
    replaceTable(this.felt, drawTable({ view: this.view(frame), names: this.names, you: null, bottom: one ?? 0 }));
    const lines = this.frames.slice(0, this.at + 1).flatMap((each) => each.lines), parts = [];
    if (frame.choice && seen) parts.push(h("section", { class: "panel hint", "aria-label": "The choice" },
      h("h2", {}, `${this.names[frame.choice.seat]}: `, h("em", {}, ...this.nodesOf(frame.choice.name, frame))),
      frame.choice.options ? optionBars(frame.choice, (name) => this.nodesOf(name, frame)) : null));
    parts.push(this.advice);
    if (one !== null && frame.hands[one]) parts.push(h("section", { class: "panel" }, h("h2", {}, `${this.names[one]} holds`), h("p", {}, tens(frame.hands[one]))));
    parts.push(h("section", { class: "panel story", tabindex: "0", "aria-label": "This deal, so far" }, h("h2", {}, "This deal"), lines.length ? logNode(lines, this.names) : h("p", { class: "small" }, "Cards are dealt.")));
    this.side.replaceChildren(...parts);
    const story = this.side.querySelector(".story");
    story.scrollTop = story.scrollHeight;
    if (frame.lines.length) say(plain(frame.lines.join(" "), this.names));
  }

  async ask() {
    const at = this.at, agent = this.agent, asked = this.frames[at]?.view.seats.some((seat) => seat.to_act);
    if (!agent || !this.advise || !asked) { this.advice.hidden = true; return; }
    let advice = null;
    try { advice = await this.advise(this.deal, at, agent); } catch { /* nobody is to act there */ }
    if (at !== this.at || agent !== this.agent) return;
    this.advice.hidden = advice === null;
    if (advice === null) return;
    const frame = { choice: null }, before = this.frames[at];
    const words = (name) => this.nodesOf.call({ frames: [before, frame], names: this.names }, name, frame);
    this.advice.replaceChildren(h("h2", {}, `Now ${agent} would `, h("em", {}, ...words(advice.name))), ...(optionBars(advice, words) ?? []).filter(Boolean));
  }

  key(event) {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const runs = { ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.step(-Infinity), End: () => this.go(this.frames.length - 1),
      " ": () => this.toggle(), n: () => { if (!this.nextButton.hidden) this.onNext(); } };
    if (!runs[event.key] || (event.key === " " && /^(BUTTON|A)$/.test(event.target.tagName))) return;
    event.preventDefault();
    runs[event.key]();
  }

  close() {
    clearTimeout(this.timer);
    removeEventListener("keydown", this.keys);
  }
}

// A record: #/record/NUMBER/deal/DEAL/step/STEP links to a moment.
export function record(main, setup, address) {
  const number = Number(address[1]), one = setup.recordings[number];
  const names = one.names.map((name, seat) => (name && one.names.indexOf(name) === one.names.lastIndexOf(name) ? name : `${name || "player"} ${seat}`));
  let loaded = -1;
  const deals = one.deals > 1 ? h("select", { "aria-label": "Deal", onchange: (event) => open(Number(event.target.value), 0) },
    Array.from({ length: one.deals }, (_, deal) => h("option", { value: String(deal) }, `deal ${deal + 1}`))) : null;
  setRulesGame(one.game);
  document.getElementById("where").textContent = `${one.name} · ${one.deals} deal${one.deals > 1 ? "s" : ""}`;
  const player = new Player(main, {
    setup, names, game: one.game, settings: one.settings, live: false, extra: deals,
    onMove: (deal, at) => history.replaceState(null, "", `#/record/${number}/deal/${deal + 1}/step/${at}`),
    advise: (deal, at, agent) => request(`/api/records/${number}/${deal}/${at}?agent=${encodeURIComponent(agent)}`),
  });
  player.playing = false;

  async function open(deal, at) {
    const frames = await request(`/api/records/${number}/${deal}`);
    loaded = deal;
    if (deals) deals.value = String(deal);
    player.show(deal, frames, at);
  }

  function moved(parts) {
    const deal = Math.max(0, Math.min(one.deals - 1, Number(parts[3] ?? 1) - 1 || 0)), at = Number(parts[5] ?? 0) || 0;
    if (deal === loaded) { if (at !== player.at) player.go(at); } else open(deal, at);
  }

  moved(address);
  const leave = () => player.close();
  leave.moved = moved;
  return leave;
}

const momentOf = (address) => (address[2] === "deal" ? { deal: Number(address[3]) || 1, step: Number(address[5]) || 0 } : null);

// A match of agents while it is played: #/table/TABLE/deal/DEAL/step/STEP links to a moment, of deals that are over too.
export function liveMatch(main, setup, table, state, names, next, address) {
  let wanted = momentOf(address), latest = state, shown = 0; // shown: an earlier deal that is looked at, or 0
  const newest = { deal: 0, frames: [] };
  const deals = h("select", { "aria-label": "Deal", onchange: () => open(Number(deals.value), 0) });
  const player = new Player(main, {
    setup, names, game: state.game, settings: state.settings, live: true, extra: deals,
    onNext: () => (shown ? open(shown + 1, 0) : next()),
    onMove: (deal, at) => history.replaceState(null, "", player.playing && !shown ? `#/table/${table}` : `#/table/${table}/deal/${deal}/step/${at}`),
    advise: (deal, at, agent) => request(`/api/tables/${table}/${deal - 1}/${at}?agent=${encodeURIComponent(agent)}`),
  });

  function list() {
    while (deals.options.length < latest.deal) deals.append(h("option", { value: String(deals.options.length + 1) }, `deal ${deals.options.length + 1}`));
    deals.value = String(shown || latest.deal);
    deals.hidden = latest.deal < 2;
  }

  async function open(deal, at) {
    if (deal >= newest.deal && newest.deal) {
      shown = 0;
      player.deal = 0;
      player.add(newest.deal, 0, newest.frames);
      player.state(latest);
    } else {
      const frames = await request(`/api/tables/${table}/${deal - 1}`);
      shown = deal;
      player.playing = false;
      player.over = false;
      player.show(deal, frames, at);
    }
    list();
  }

  return {
    state(now) {
      latest = now;
      list();
      if (wanted && wanted.deal < now.deal) { const { deal, step } = wanted; wanted = null; open(deal, step); } else if (!shown) player.state(now);
    },
    frames(message) {
      if (message.deal !== newest.deal) Object.assign(newest, { deal: message.deal, frames: [] });
      newest.frames.splice(message.from, newest.frames.length - message.from, ...message.frames);
      if (shown) return;
      player.add(message.deal, message.from, message.frames);
      if (wanted?.deal === message.deal) { player.playing = false; player.go(wanted.step); wanted = null; }
    },
    moved(parts) {
      const to = momentOf(parts);
      if (!to) return;
      if (to.deal !== (shown || newest.deal)) open(to.deal, to.step); else if (to.step !== player.at) { player.playing = false; player.go(to.step); }
    },
    close: () => player.close(),
  };
}
