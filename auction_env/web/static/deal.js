// One recorded deal without a server: `deal.json` beside this page, as the documentation has it.

import { h, request } from "./dom.js";
import { openRules, setRulesGame } from "./rules.js";
import { Player } from "./watch.js";

const main = document.getElementById("main");
document.getElementById("rules-button").addEventListener("click", () => openRules());
try {
  const deal = await request("deal.json");
  setRulesGame(deal.game);
  document.getElementById("where").textContent = deal.title;
  new Player(main, { setup: { agents: [] }, names: deal.names, game: deal.game, settings: deal.settings, live: false }).show(1, deal.frames, 0);
} catch (error) {
  main.replaceChildren(h("p", { class: "wait" }, `The deal cannot be read: ${error.message}`));
}
