// A table over a socket: your seat, your choices, and everybody else's as far as you may see them.

import { calm, cardName, h, line, memory, plain, say, tens, toast, warmth } from "./dom.js";
import { setRulesGame } from "./rules.js";
import { card, drawTable, logNode, noteNode, optionBars, replaceTable } from "./table.js";
import { liveMatch } from "./watch.js";

const RETRY = [500, 1000, 2000, 4000, 8000];
const HIDDEN = /^(bid \d|declare)/; // choices that lie face down until all are in

const SLOW = 1500; // milliseconds after which somebody who waits is told why

export function playRoom(main, table, setup, address = []) {
  let socket, state = null, tries = 0, closed = false, chosen = new Set(), moment = "", hint = null, review = null, watcher = null, busy = "";
  const felt = h("div", { class: "felt-host" }), value = h("div", { class: "value" });
  const bar = h("div", { class: "actions", tabindex: "-1", role: "group", "aria-label": "Your choices" });
  const side = h("aside", { class: "side", "aria-label": "What happened" });
  const result = h("div", { class: "result-host" });
  const page = h("div", { class: "play" }, h("div", { class: "board" }, felt, h("div", { class: "dock" }, value, bar), result), side);
  main.replaceChildren(h("p", { class: "wait" }, "Walking to the table …"));

  // --- what is compiled when the server first runs ---

  const warming = h("span", { class: "warming", hidden: true });
  const patience = setInterval(async () => {
    if (!state || state.choosing || state.payoffs || Date.now() - since < SLOW) { warming.hidden = true; return; }
    warming.hidden = !(await warmth(warming));
  }, SLOW);
  let since = Date.now();

  // --- the socket ---

  function connect() {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket/${table}`);
    socket.addEventListener("open", () => {
      tries = 0;
      const token = memory.get(`seat:${table}`);
      if (token) send("resume", { token });
    });
    socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (closed) return;
      if (event.code === 4404) { gone(); return; }
      if (event.code === 1008) toast("The server has closed the connection: too much was sent.");
      page.classList.add("offline");
      setTimeout(connect, RETRY[Math.min(tries++, RETRY.length - 1)]);
    });
  }

  const send = (type, fields = {}) => { if (socket.readyState === 1) socket.send(JSON.stringify({ type, ...fields })); };

  function gone() {
    closed = true;
    memory.drop(`seat:${table}`);
    main.replaceChildren(h("p", { class: "wait" }, "This table is not open any more. ", h("a", { href: "#/" }, "Open another")));
  }

  function receive(message) {
    page.classList.remove("offline");
    if (message.type === "seated") memory.set(`seat:${table}`, message.token);
    else if (message.type === "error") {
      if (/not kept here|not yours/.test(message.message)) memory.drop(`seat:${table}`);
      busy = "";
      toast(message.message);
      if (state) draw();
    } else if (message.type === "hint") { busy = ""; hint = message; draw(); side.querySelector(".hint")?.scrollIntoView({ block: "nearest" }); say(`${message.agent} would ${plain(message.name, names())}`); }
    else if (message.type === "review") { busy = ""; review = message; draw(); result.querySelector(".review")?.scrollIntoView({ block: "nearest" }); }
    else if (message.type === "frames") frames(message);
    else if (message.type === "state") take(message);
  }

  function frames(message) {
    watch();
    watcher.frames(message);
  }

  function watch() { watcher ??= liveMatch(main, setup, table, state, names(), () => send("next"), address); }

  function take(next) {
    const before = state;
    state = next;
    since = Date.now();
    setRulesGame(state.game);
    document.getElementById("where").textContent = `${state.view.title} · deal ${state.deal} of ${state.deals}`;
    if (state.people.length === 0) {
      watch();
      watcher.state(state);
      return;
    }
    const waiting = sessionStorage.getItem(`sit:${table}`);
    if (waiting && state.you === null && !memory.get(`seat:${table}`)) {
      sessionStorage.removeItem(`sit:${table}`);
      const seat = state.seats.findIndex((one) => one.open);
      if (seat >= 0) send("sit", { seat, name: waiting });
    }
    const now = `${state.deal}/${state.lines.length}/${state.view.phase}/${state.choosing}`;
    if (now !== moment) { chosen = new Set(); hint = null; }
    if (!before || before.deal !== state.deal) review = null;
    const fresh = !before || before.lines.length !== state.lines.length || before.deal !== state.deal;
    if (!page.isConnected) main.replaceChildren(page);
    draw(now !== moment && state.choosing);
    if (fresh && state.latest.length) say(plain(state.latest.join(" "), names()));
    if (now !== moment && state.choosing) setTimeout(() => say(`Your turn. ${state.own}`), 400);
    moment = page.dataset.moment = now;
  }

  const names = () => state.seats.map((seat, index) => seat.name || `seat ${index + 1}`).map((name, index, all) =>
    (all.indexOf(name) !== all.lastIndexOf(name) ? `${name} ${all.slice(0, index + 1).filter((one) => one === name).length}` : name));

  // --- choices ---

  const word = () => (state.choosing ? state.legal[0]?.name.split(" ")[0] : "");
  const byPlaces = () => ["discard", "keep"].includes(word());
  const picked = () => {
    const places = [...chosen].sort((a, b) => a - b).join(" ") || "none";
    return state.legal.find((one) => one.name === `${word()} ${places}`);
  };

  function choose(option) {
    if (!option || !state.choosing) return;
    send("choose", { action: option.action });
  }

  function toggle(place) {
    if (chosen.has(place)) chosen.delete(place); else chosen.add(place);
    draw();
  }

  function label(name, facts = state.facts) {
    const [first, second] = name.split(" "), settings = state.settings;
    if (first === "bid") return `Bid ${second ?? facts.cost}`;
    if (first === "call") return `Call ${facts.to_call}`;
    if (first === "bet") return `Bet ${settings.bet_size}`;
    if (first === "raise") return `Raise ${settings.bet_size}`;
    if (first === "refuse") return `Refuse for ${facts.cost}`;
    if (first === "take") return "Take the flop";
    if (first === "declare") return second[0].toUpperCase() + second.slice(1);
    return name[0].toUpperCase() + name.slice(1);
  }

  const here = () => ({ facts: state.facts, centre: state.view.centre, cards: state.view.seats[state.you].cards });

  // What an action is called at a moment: cards in place of their places, bids with what they cost.
  const nodesOf = (name, at = here()) => {
    const [first, ...rest] = name.split(" ");
    if (!["discard", "keep"].includes(first) || !/\d/.test(name)) return line(label(name, at.facts), names());
    const cards = first === "keep" ? at.centre : at.cards;
    return [first, " ", ...line(rest.map((place) => cards[Number(place)]).join(" "), names())];
  };

  function preview(option) {
    const then = option?.then;
    value.replaceChildren(...valueOf(then ?? state.own, then ? "then" : "now"));
  }

  const hover = (option) => ({ onpointerenter: () => preview(option), onpointerleave: () => preview(byPlaces() ? picked() : null),
    onfocus: () => preview(option), onblur: () => preview(byPlaces() ? picked() : null) });

  function valueOf(text, when) {
    if (!text) return [];
    const parts = text.includes(": ") && /^high: /.test(text) ? text.split("; ").map((one) => one.split(": ")) : [["hand", text]];
    return [h("dl", { class: when }, parts.map(([kind, words]) => h("div", {}, h("dt", {}, kind), h("dd", {}, tens(words)))))];
  }

  // --- drawing ---

  function draw(turn = false) {
    const focused = document.activeElement?.dataset?.focus, inside = page.contains(document.activeElement);
    replaceTable(felt, drawTable(scene()));
    preview(byPlaces() ? picked() : null);
    bar.replaceChildren(...actions());
    result.replaceChildren(...outcome());
    side.replaceChildren(...aside());
    page.classList.toggle("choosing", state.choosing);
    page.classList.toggle("over", state.payoffs !== null);
    const again = focused && page.querySelector(`[data-focus="${CSS.escape(focused)}"]`);
    if (again) again.focus({ preventScroll: true });
    else if (turn || inside) bar.focus({ preventScroll: true });
    if (turn) showOwn();
  }

  // Whoever is to choose sees the own hand, and what lies in the middle: the choices lie over the foot of a full table.
  function showOwn() {
    bar.scrollIntoView({ block: "nearest" });
    const over = felt.querySelector(".seat.own").getBoundingClientRect().bottom + 6 - bar.parentNode.getBoundingClientRect().top;
    if (over > 0) scrollBy({ top: over, behavior: calm() ? "auto" : "smooth" });
  }

  // Whoever has chosen face down waits: the others' plates still say whose choice is awaited.
  function shownView() {
    if (!state.own_action) return state.view;
    return { ...state.view, seats: state.view.seats.map((seat) => (seat.seat === state.you ? { ...seat, to_act: false } : seat)) };
  }

  function scene() {
    const option = (name) => state.legal.find((one) => one.name === name);
    return {
      view: shownView(), names: names(), you: state.you, committed: state.own_action && label(state.own_action),
      marks: (seat) => {
        const one = state.seats[seat];
        if (one.open) return h("small", {}, "open");
        if (one.stand_in) return h("small", {}, `${one.stand_in} plays`);
        return state.people.includes(seat) && !state.present.includes(seat) ? h("small", { class: "away" }, "away") : null;
      },
      centreCard: (name, place) => {
        if (word() === "pick") {
          const pick = option(`pick ${name}`);
          if (!pick) return undefined;
          const node = card(name, { onclick: () => choose(pick), label: `Pick the ${cardName(name)}`, class: "open", key: String(place + 1) });
          return listen(node, `pick-${name}`, pick);
        }
        return word() === "keep" ? toggler(name, place, "Keep") : undefined;
      },
      ownCard: (name, place, kind) => (word() === "discard" && kind === "hole" ? toggler(name, place, "Discard") : undefined),
    };
  }

  function listen(node, focus, option) {
    node.dataset.focus = focus;
    for (const [name, run] of Object.entries(hover(option))) node.addEventListener(name.slice(2), run);
    return node;
  }

  function toggler(name, place, verb) {
    const node = card(name, { onclick: () => toggle(place), label: `${verb} the ${cardName(name)}`, pressed: chosen.has(place),
      class: `open ${verb.toLowerCase()}`, key: String(place + 1) });
    node.dataset.focus = `place-${place}`;
    return node;
  }

  function actions() {
    if (!state.started) return [h("p", { class: "waiting" }, "Play begins when every seat is taken.")];
    if (state.payoffs) return overActions();
    if (state.you === null) return [h("p", { class: "waiting" }, "You are looking on.")];
    if (!state.choosing) return [h("p", { class: "waiting" }, state.own_action ? `${label(state.own_action)} lies face down. Waiting for the others …` : waitingFor()), warming];
    const ask = h("button", { type: "button", class: "quiet", disabled: busy === "hint", onclick: askHint, "data-focus": "hint" }, busy === "hint" ? "Thinking …" : "Hint", h("kbd", { "aria-hidden": "true" }, "H"));
    if (word() === "pick") return [h("p", { class: "prompt" }, "Pick a card from the row."), ask];
    if (byPlaces()) return [...placeActions(), ask];
    const prompt = state.view.phase === "declaring" ? "Declare:" : HIDDEN.test(state.legal[0].name) ? "Your bid, face down:" : "Your turn:";
    return [h("p", { class: "prompt" }, prompt), ...state.legal.map((option, index) => {
      const node = h("button", { type: "button", class: `act ${option.name.split(" ")[0]}`, onclick: () => choose(option) },
        /^bid \d/.test(option.name) ? [h("span", { class: "sr" }, "Bid "), h("span", { class: "coin" }, option.name.slice(4))] : label(option.name),
        h("kbd", { "aria-hidden": "true" }, String(index + 1)));
      return listen(node, `act-${option.name}`, option);
    }), ask];
  }

  function waitingFor() {
    const awaited = state.view.seats.filter((seat) => seat.to_act && seat.seat !== state.you).map((seat) => names()[seat.seat]);
    return `Waiting for ${awaited.length === 1 ? awaited[0] : "the others"} …`;
  }

  function placeActions() {
    const option = picked(), many = chosen.size, discard = word() === "discard";
    const fee = discard ? state.settings.discard_fees[many] : 0;
    const text = discard ? (many ? `Discard ${many} for ${fee}` : "Discard none") : `Keep ${many} of ${state.view.centre.length}`;
    const room = state.facts.room;
    return [
      h("p", { class: "prompt" }, discard ? "Choose what to throw away." : `Choose what to keep: there is room for ${room}.`),
      h("button", { type: "button", class: "act main-action", disabled: !option, onclick: () => choose(picked()), "data-focus": "confirm" }, text, h("kbd", { "aria-hidden": "true" }, "⏎")),
    ];
  }

  function overActions() {
    if (state.you === null) return [h("p", { class: "waiting" }, "The deal is over.")];
    const buttons = [];
    if (!state.match_over) {
      const said = state.ready.includes(state.you);
      buttons.push(h("button", { type: "button", class: "act main-action", disabled: said, onclick: () => send("next"), "data-focus": "next" }, said ? "Waiting for the others …" : "Next deal", h("kbd", { "aria-hidden": "true" }, "N")));
    } else buttons.push(h("a", { class: "act main-action", href: "#/", "data-focus": "lobby" }, "Another table"));
    buttons.push(h("button", { type: "button", class: "quiet", disabled: busy === "review" || review !== null, onclick: askReview, "data-focus": "review" }, busy === "review" ? "Reckoning …" : "What did my choices cost?", h("kbd", { "aria-hidden": "true" }, "H")));
    return buttons;
  }

  const signed = (number) => (number > 0 ? `+${number}` : String(number).replace("-", "−"));

  function outcome() {
    if (!state.payoffs) return [];
    const order = state.payoffs.map((_, seat) => seat).sort((a, b) => state.payoffs[b] - state.payoffs[a]), all = names();
    const mine = state.you === null ? null : state.payoffs[state.you];
    const title = mine === null ? "The deal is over" : mine > 0 ? `You win ${mine}` : mine < 0 ? `You lose ${-mine}` : "You come out even";
    const row = (seat) => {
      const view = state.view.seats[seat], notes = view.notes.filter((note) => !/^[+-]\d+$/.test(note)); // the chips have a column
      return h("tr", { class: seat === state.you ? "you" : "" }, h("th", { scope: "row" }, all[seat]),
        h("td", { class: "made" }, h("span", { class: "notes" }, notes.map((note) => noteNode(note, all))), view.hand ? h("span", { class: "small" }, tens(view.hand)) : null),
        h("td", { class: state.payoffs[seat] > 0 ? "won" : "" }, signed(state.payoffs[seat])), h("td", {}, signed(state.totals[seat])));
    };
    return [h("section", { class: "result", "aria-label": "How the pot was divided" },
      h("h2", { class: mine > 0 ? "won" : mine < 0 ? "lost" : "" }, title, state.match_over ? h("small", {}, " The match is over.") : null),
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "seat"), h("th", { scope: "col" }, "said and made"), h("th", { scope: "col" }, "this deal"), h("th", { scope: "col" }, "match"))),
        h("tbody", {}, order.map(row))),
      h("h3", {}, "How the pot was divided"), logNode(state.latest, all),
      review ? reviewNode() : null)];
  }

  function reviewNode() {
    if (!review.choices.length) return h("div", { class: "review" }, h("h3", {}, "Your choices"), h("p", {}, "The search found nothing that it would have done better."));
    return h("div", { class: "review" }, h("h3", {}, "What cost you most, as the search reckons"),
      h("ol", {}, review.choices.map((one) => h("li", {}, h("b", {}, `${one.cost.toFixed(2)} ± ${(1.96 * one.error).toFixed(2)} chips: `),
        "you chose to ", h("em", {}, ...nodesOf(one.chosen, one)), ", it would ", h("em", {}, ...nodesOf(one.better, one)), ` (${one.phase})`))),
      h("p", { class: "small" }, "Playouts in 800 imagined deals for each choice; it sees what you saw. ± is a 95 % interval."));
  }

  function askHint() {
    const select = side.querySelector("#hint-agent");
    busy = "hint";
    send("hint", { agent: select?.value ?? "champion" });
    draw();
  }

  function askReview() {
    busy = "review";
    send("review");
    draw();
  }

  // --- beside the table ---

  let hintAgent = memory.get("hint") ?? "champion";

  function aside() {
    const parts = [];
    if (!state.started) parts.push(seatsPanel());
    parts.push(...awayPanels());
    if (hint) parts.push(h("section", { class: "panel hint", "aria-label": "Hint" }, h("h2", {}, `${hint.agent} would `, h("em", {}, ...nodesOf(hint.name))), optionBars(hint, nodesOf)));
    const log = logNode(state.lines, names());
    parts.push(h("section", { class: "panel story", tabindex: "0", "aria-label": "This deal, so far" }, h("h2", {}, "This deal"), state.lines.length ? log : h("p", { class: "small" }, "Nothing yet.")));
    if (state.you !== null) parts.push(h("section", { class: "panel more" },
      h("label", { class: "field" }, h("span", {}, "Hints from"), h("select", { id: "hint-agent", onchange: (event) => { hintAgent = event.target.value; memory.set("hint", hintAgent); } },
        setup.agents.map((agent) => h("option", { value: agent, selected: agent === hintAgent }, agent)))),
      h("button", { type: "button", class: "quiet", onclick: () => { if (confirm("Leave your seat for good?")) { send("leave"); memory.drop(`seat:${table}`); location.hash = "#/"; } } }, "Leave the table")));
    setTimeout(() => { const story = side.querySelector(".story"); if (story) story.scrollTop = story.scrollHeight; });
    return parts;
  }

  function seatsPanel() {
    const name = h("input", { type: "text", maxlength: "20", value: memory.get("name") ?? "", "aria-label": "Your name", placeholder: "Your name" });
    const sit = (seat) => { memory.set("name", name.value); send("sit", { seat, name: name.value }); };
    return h("section", { class: "panel" }, h("h2", {}, "Who sits where"), state.you === null ? h("label", { class: "field" }, h("span", {}, "Your name"), name) : null,
      h("ul", { class: "list seats-open" }, state.seats.map((seat, index) => h("li", {}, h("span", {}, seat.open ? `Seat ${index + 1} is open` : seat.name),
        !seat.open ? null : state.you === null ? h("button", { type: "button", class: "act", onclick: () => sit(index) }, "Sit here") :
          h("select", { "aria-label": `Let an agent play at seat ${index + 1}`, onchange: (event) => send("fill", { seat: index, agent: event.target.value }) },
            h("option", { value: "" }, "or an agent …"), setup.agents.map((agent) => h("option", {}, agent)))))),
      h("p", { class: "small" }, "Others sit down at this address: ", h("a", { href: location.href }, location.href), " ",
        h("button", { type: "button", class: "quiet", onclick: () => navigator.clipboard?.writeText(location.href).then(() => toast("Copied.")) }, "Copy")));
  }

  function awayPanels() {
    if (!state.started || state.you === null) return [];
    return state.people.filter((seat) => seat !== state.you && !state.present.includes(seat) && !state.seats[seat].stand_in).map((seat) =>
      h("section", { class: "panel" }, h("p", {}, `${names()[seat]} is away. `, h("button", { type: "button", class: "quiet", onclick: () => send("stand_in", { seat }) }, "Let an agent play meanwhile"))));
  }

  // --- keys ---

  function keys(event) {
    if (!state || watcher || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
    if (/^[1-9]$/.test(event.key) && state.choosing) {
      const place = Number(event.key) - 1;
      if (word() === "pick") choose(state.legal.find((one) => one.name === `pick ${state.view.centre[place]}`));
      else if (byPlaces()) { if (place < (word() === "keep" ? state.view.centre : state.view.seats[state.you].cards).length) toggle(place); }
      else choose(state.legal[place]);
    } else if (event.key === "Enter" && byPlaces() && !/^(BUTTON|A)$/.test(event.target.tagName)) choose(picked());
    else if (event.key === "n" && state.payoffs && state.you !== null) { if (!state.match_over) send("next"); }
    else if (event.key === "h" && state.you !== null && state.choosing && !busy) askHint();
    else if (event.key === "h" && state.you !== null && state.payoffs && !busy && !review) askReview();
    else return;
    event.preventDefault();
  }

  addEventListener("keydown", keys);
  connect();
  const leave = () => {
    closed = true;
    clearInterval(patience);
    removeEventListener("keydown", keys);
    watcher?.close();
    socket.close();
  };
  leave.moved = (parts) => watcher?.moved(parts);
  return leave;
}
