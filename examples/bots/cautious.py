"""A bot for ``process:python3 examples/bots/cautious.py``: the whole protocol (docs/bots.md), no package needed.

It bids one chip at most, never bets, folds half of the time when it has to pay, and else chooses by chance.
"""

import json
import random
import sys

AVOIDED = ("raise", "bet", "bid 2", "bid 3", "take", "declare both")


def choose(request, rng):
    """The name of an action out of ``request["legal"]``."""
    legal = request["legal"]
    if "fold" in legal and rng.random() < 0.5:
        return "fold"
    careful = [name for name in legal if name not in AVOIDED]
    return rng.choice(careful or legal)


def say(message):
    print(json.dumps(message), flush=True)  # one line, at once


def main():
    rng = random.Random(0)
    for line in sys.stdin:  # ends when standard input is closed
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            rng.seed(message["seed"])
            say({"type": "ready", "protocol": 1, "name": "cautious", "wants": ["text"]})
        elif kind == "seed":
            rng.seed(message["seed"])
        elif kind == "choose":
            choices = [choose(request, rng) for request in message["requests"]]
            say({"type": "choices", "id": message["id"], "choices": choices})
        elif kind == "results":
            for result in message["results"]:
                print("seat", result["seat"], "won", result["payoffs"][result["seat"]], file=sys.stderr)


if __name__ == "__main__":
    main()
