// The rules of the game that is shown, one key away, in four languages.

import { h, memory } from "./dom.js";

const LANGUAGES = { en: "English", es: "Español", fr: "Français", pt: "Português" };
const LOADERS = { en: () => import("./rules-en.js"), es: () => import("./rules-es.js"), fr: () => import("./rules-fr.js"), pt: () => import("./rules-pt.js") };
let game = "auction_poker";

export function setRulesGame(name) { game = name; }

function preferred() {
  const kept = memory.get("language");
  if (kept in LANGUAGES) return kept;
  return navigator.languages.map((one) => one.slice(0, 2)).find((one) => one in LANGUAGES) ?? "en";
}

export async function openRules(language = preferred()) {
  const dialog = document.getElementById("rules");
  const { rules, closing } = await LOADERS[language]();
  const page = rules[game];
  const choose = h("div", { class: "languages", role: "group", "aria-label": "Language" }, Object.entries(LANGUAGES).map(([code, name]) =>
    h("button", { type: "button", lang: code, class: "quiet", "aria-pressed": String(code === language), onclick: () => { memory.set("language", code); openRules(code); } }, name)));
  dialog.replaceChildren(
    h("div", { class: "rules-head" }, choose, h("button", { type: "button", class: "quiet close", onclick: () => dialog.close() }, closing)),
    h("article", { lang: language }, h("h2", { id: "rules-title", tabindex: "-1" }, page.title), page.sections.map(([title, ...paragraphs]) =>
      [h("h3", {}, title), paragraphs.map((text) => (Array.isArray(text) ? h("ul", {}, text.map((item) => h("li", {}, item))) : h("p", {}, text)))])));
  if (!dialog.open) {
    dialog.showModal();
    dialog.querySelector("#rules-title").focus();
  } else dialog.querySelector('[aria-pressed="true"]').focus();
}
