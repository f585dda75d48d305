// Where tables are opened and found.

import { h, memory, request, toast, warmth } from "./dom.js";
import { setRulesGame } from "./rules.js";

const BLURB = {
  auction_poker: "Bid in secret for the first pick from a row of open cards, five times; then bet, and declare low, high or both.",
  auction_flop: "Throw away what you do not like, for a fee; then buy flops of three cards in open auctions. The best three hands share the pot.",
};
const ALL_LEVELS = ["easy", "medium", "hard", "champion"];
const LEVELS = ["medium", "easy", "hard"]; // who sits down where nothing else is said

const order = (game) => (Object.keys(BLURB).indexOf(game.name) + 9) % 9; // those without a word of their own last

export function lobby(main, setup) {
  let game = setup.games.find((one) => one.name === memory.get("game"))?.name ?? "auction_poker";
  const levels = LEVELS.filter((one) => setup.agents.includes(one));
  const level = (seat) => levels[(seat - 1) % levels.length] ?? setup.agents[0];
  let seats = [null, level(1), level(2)];
  const nameField = h("input", { type: "text", maxlength: "20", autocomplete: "nickname", value: memory.get("name") ?? "", required: true, "aria-label": "Your name", placeholder: "Your name", id: "your-name" });
  nameField.addEventListener("input", () => memory.set("name", nameField.value));
  const deals = h("input", { type: "number", min: "1", max: String(setup.most_deals), value: "10", "aria-label": "Deals in the match" });
  const stacks = h("input", { type: "number", min: "1", max: String(setup.most_chips), value: "200", "aria-label": "Chips of each seat" });
  const seatList = h("ol", { class: "line-up" }), gameBox = h("div", { class: "games", role: "radiogroup", "aria-label": "Game" });
  const learned = setup.agents.filter((one) => ALL_LEVELS.includes(one)), scripted = setup.agents.filter((one) => /^rules/.test(one));
  const rest = setup.agents.filter((one) => !learned.includes(one) && !scripted.includes(one));
  const groups = [["learned by self-play", learned], ["scripted", scripted], ["others", rest]].filter(([, agents]) => agents.length);
  const agentOptions = (chosen) => [
    h("option", { value: "", selected: chosen === null }, "a person"),
    ...groups.map(([title, agents]) => h("optgroup", { label: title }, agents.map((agent) => h("option", { value: agent, selected: agent === chosen }, agent)))),
  ];
  const games = [...setup.games].sort((a, b) => order(a) - order(b));
  const titleOf = (name) => setup.games.find((one) => one.name === name).title;
  const most = () => setup.games.find((one) => one.name === game).most;

  const bound = () => seats.map((agent) => setup.bound[agent]).find(Boolean); // of an agent that plays at its settings only

  function drawSeats() {
    const only = bound();
    if (only && game !== only.game) { game = only.game; drawGames(); }
    if (only) while (seats.length < only.settings.num_players) seats.push(null);
    seats = seats.slice(0, only ? only.settings.num_players : most());
    own.hidden = !only;
    deals.closest("label").hidden = stacks.closest("label").hidden = Boolean(only);
    seatList.replaceChildren(...seats.map((agent, index) => h("li", {},
      h("label", {}, h("span", {}, index === 0 && agent === null ? "You" : `Seat ${index + 1}`),
        h("select", { "aria-label": `Who sits at seat ${index + 1}`, onchange: (event) => { seats[index] = event.target.value || null; drawSeats(); } }, agentOptions(agent))),
      seats.length > 2 ? h("button", { type: "button", class: "quiet", "aria-label": `Take seat ${index + 1} away`, onclick: () => { seats.splice(index, 1); drawSeats(); } }, "×") : null)));
    const people = seats.filter((agent) => agent === null).length;
    open.textContent = people === 0 ? "Watch them play" : people === 1 ? "Sit down" : "Open the table";
    nameField.closest("label").hidden = people === 0;
    nameField.required = people > 0;
    add.disabled = seats.length >= (only ? only.settings.num_players : most());
  }

  function drawGames() {
    gameBox.replaceChildren(...games.map((one) => h("label", { class: one.name === game ? "game on" : "game" },
      h("input", { type: "radio", name: "game", value: one.name, checked: one.name === game, onchange: () => { game = one.name; memory.set("game", game); setRulesGame(game); drawGames(); drawSeats(); gameBox.querySelector("input:checked").focus(); } }),
      h("b", {}, one.title), h("span", {}, BLURB[one.name] ?? ""), h("small", {}, `2 to ${one.most} seats`))));
  }

  async function start(event) {
    event.preventDefault();
    const people = seats.includes(null), name = nameField.value.trim();
    if (people && !name) { nameField.focus(); toast("Tell the others your name first."); return; }
    open.disabled = true;
    open.textContent = "Seating them …";
    const patience = setInterval(async () => { warming.hidden = !(await warmth(warming)); }, 1000);
    try {
      const { table } = await request("/api/tables", { game, seats, settings: bound()?.settings ?? { num_deals: Math.max(1, Number(deals.value) || 1), starting_chips: Math.max(1, Number(stacks.value) || 1) } });
      if (people) { memory.set("name", name); sessionStorage.setItem(`sit:${table}`, name); }
      location.hash = `#/table/${table}`;
    } catch (error) {
      toast(error.message);
      open.disabled = false;
      drawSeats();
    } finally {
      clearInterval(patience);
      warming.hidden = true;
    }
  }

  const open = h("button", { type: "submit", class: "main-action" }, "Sit down");
  const add = h("button", { type: "button", class: "quiet add", onclick: () => { seats.push(level(seats.length)); drawSeats(); } }, "+ another seat");
  const found = h("div", { class: "found" }), warming = h("p", { class: "warming", role: "status", hidden: true });
  const own = h("p", { class: "small" }, "A solved policy sits here: the table has the small settings that it was solved for.");
  const form = h("form", { class: "panel opening", onsubmit: start },
    h("h1", {}, "Open a table"), gameBox,
    h("div", { class: "columns" },
      h("div", {}, h("h2", {}, "Seats"), seatList, add),
      h("div", {}, h("h2", {}, "Match"),
        h("label", { class: "field" }, h("span", {}, "Your name"), nameField),
        h("label", { class: "field" }, h("span", {}, "Deals"), deals),
        h("label", { class: "field" }, h("span", {}, "Chips each"), stacks), own, open, warming,
        h("p", { class: "small" }, "Seats of people stay open: send them the address of the table. With agents alone you watch."))));
  main.replaceChildren(h("div", { class: "lobby" }, form, found));
  drawGames();
  drawSeats();

  async function refresh() {
    const tables = await request("/api/tables").catch(() => []);
    const open = tables.filter((one) => !one.over).slice(0, 12);
    const item = (one) => {
      const free = one.seats.filter((seat) => seat.open).length;
      const who = one.seats.map((seat) => seat.name || "open seat").join(", ");
      return h("li", {}, h("a", { href: `#/table/${one.room}` },
        h("b", {}, titleOf(one.game)), h("span", {}, who),
        h("small", {}, free ? `${free} open` : one.people ? "being played" : "watch")));
    };
    const records = setup.recordings.map((one, index) => h("li", {}, h("a", { href: `#/record/${index}` },
      h("b", {}, one.name), h("span", {}, [titleOf(one.game), ...(one.names.every(Boolean) ? [one.names.join(", ")] : [`${one.settings.num_players} seats`])].join(" · ")), h("small", {}, `${one.deals} deal${one.deals > 1 ? "s" : ""}`))));
    found.replaceChildren(
      open.length ? h("section", { class: "panel" }, h("h2", {}, "Tables"), h("ul", { class: "list" }, open.map(item))) : "",
      records.length ? h("section", { class: "panel" }, h("h2", {}, "Records"), h("ul", { class: "list" }, records)) : "");
  }
  refresh();
  const again = setInterval(refresh, 5000);
  return () => clearInterval(again);
}
