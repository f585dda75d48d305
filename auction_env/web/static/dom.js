// Elements without any text that is read as markup: everything that comes from others goes through textContent.

export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const SVG = "http://www.w3.org/2000/svg";

export function suit(letter) {
  const svg = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  svg.setAttribute("viewBox", "0 0 32 32");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `suit ${letter}`);
  use.setAttribute("href", `#${letter}`);
  svg.append(use);
  return svg;
}

const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten", 9: "nine", 8: "eight", 7: "seven", 6: "six",
  5: "five", 4: "four", 3: "three", 2: "two" };
const SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

export const cardName = (card) => (card === "??" ? "a card face down" : `${RANKS[card[0]]} of ${SUITS[card[1]]}`);
export const rankText = (card) => (card[0] === "T" ? "10" : card[0]);

// The games write a ten as T; cards and all words on this page say 10.
export const tens = (text) => text.replace(/(?<!\w)T(?!\w)/g, "10");

// A line of the game as nodes: names in place of player_0, cards with their suits.
export function line(text, names) {
  const nodes = [];
  for (const part of text.split(/(player_\d+|(?<![\w-])[2-9TJQKA][cdhs](?![\w-]))/)) {
    if (/^player_\d+$/.test(part)) nodes.push(h("b", {}, names[Number(part.slice(7))] ?? part));
    else if (/^[2-9TJQKA][cdhs]$/.test(part)) {
      nodes.push(h("span", { class: "sr" }, cardName(part)));
      nodes.push(h("span", { class: `inline ${part[1]}`, "aria-hidden": "true" }, rankText(part), suit(part[1])));
    } else if (part) nodes.push(tens(part));
  }
  return nodes;
}

export const plain = (text, names) =>
  tens(text).replace(/player_(\d+)/g, (whole, seat) => names[Number(seat)] ?? whole)
    .replace(/(?<![\w-])[2-9TJQKA][cdhs](?![\w-])/g, cardName);

export function say(text) {
  document.getElementById("say").textContent = text;
}

let fading;
export function toast(text) {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.classList.add("on");
  clearTimeout(fading);
  fading = setTimeout(() => node.classList.remove("on"), 6000);
}

export async function request(path, body) {
  const options = body === undefined ? {} :
    { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, options);
  const content = await response.json();
  if (!response.ok) throw new Error(content.error ?? `the server answers ${response.status}`);
  return content;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// What a browser remembers for itself; where it may not, nothing is lost but comfort.
export const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* a private window */ } },
  drop(key) { try { localStorage.removeItem(key); } catch { /* a private window */ } },
};

// What is still compiled on a machine on which the server runs for the first time; whether there is any.
export async function warmth(host) {
  const { done, of } = await request("/api/warm").catch(() => ({ done: 1, of: 1 }));
  if (done < of) host.replaceChildren(h("progress", { value: String(done), max: String(of), "aria-label": "Compiling" }), " ",
    h("small", {}, `First run on this machine: games and agents are compiled, ${done} of ${of} ready. It takes a minute, once.`));
  return done < of;
}
