// A bot for `process:node examples/bots/cautious.js`: the whole protocol (docs/bots.md), no package needed.
// It bids one chip at most, never bets, folds half of the time when it has to pay, and else chooses by chance.
"use strict";
const readline = require("readline");

const AVOIDED = ["raise", "bet", "bid 2", "bid 3", "take", "declare both"];
let state = 1;

function random() {
  // mulberry32: a generator that can be seeded, which Math.random cannot
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function choose(request) {
  const legal = request.legal;
  if (legal.includes("fold") && random() < 0.5) return "fold";
  const careful = legal.filter((name) => !AVOIDED.includes(name));
  const from = careful.length ? careful : legal;
  return from[Math.floor(random() * from.length)];
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    state = message.seed | 0;
    say({ type: "ready", protocol: 1, name: "cautious.js", wants: [] });
  } else if (message.type === "seed") {
    state = message.seed | 0;
  } else if (message.type === "choose") {
    say({ type: "choices", id: message.id, choices: message.requests.map(choose) });
  }
});
