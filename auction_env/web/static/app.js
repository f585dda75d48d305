// The page: which of its rooms is shown follows from the address after the #.

import { h, memory, request, toast } from "./dom.js";
import { lobby } from "./lobby.js";
import { playRoom } from "./play.js";
import { openRules, setRulesGame } from "./rules.js";
import { record } from "./watch.js";

const main = document.getElementById("main");
let leave = null, setup = null, shown = "";

export async function route() {
  const address = location.hash.replace(/^#\/?/, "").split("/");
  const key = address.slice(0, 2).join("/");
  if (key === shown && leave?.moved) { leave.moved(address); return; }
  leave?.();
  leave = null;
  shown = key;
  document.getElementById("where").textContent = "";
  try {
    setup ??= await request("/api/setup");
    if (address[0] === "table" && address[1]) leave = playRoom(main, address[1], setup, address);
    else if (address[0] === "record" && setup.recordings[Number(address[1])]) leave = record(main, setup, address);
    else leave = lobby(main, setup);
  } catch (error) {
    main.replaceChildren(h("p", { class: "wait" }, `The table cannot be reached: ${error.message}. `,
      h("button", { type: "button", onclick: () => { shown = ""; route(); } }, "Try again")));
  }
}

document.getElementById("rules-button").addEventListener("click", () => openRules());
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("keydown", (event) => {
  if (event.key === "?" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openRules();
  }
});
addEventListener("hashchange", route);
addEventListener("unhandledrejection", (event) => toast(String(event.reason?.message ?? event.reason)));
setRulesGame(memory.get("game") ?? "auction_poker");
route();
