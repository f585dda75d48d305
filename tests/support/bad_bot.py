"""A bot for ``process:`` that goes wrong in one way, which its argument names."""

import json
import os
import signal
import subprocess
import sys
import time


def say(message):
    sys.stdout.write(message if isinstance(message, str) else json.dumps(message) + "\n")
    sys.stdout.flush()


def misbehave(way, message):
    """What it does when it is to choose."""
    good = {
        "type": "choices",
        "id": message["id"],
        "choices": [request["legal"][0] for request in message["requests"]],
    }
    if way == "hang":
        time.sleep(60)
    elif way == "crash":
        sys.exit("out of ideas")
    elif way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif way == "garbage":
        say("\x1b[2J{not json\n")
    elif way == "illegal":
        say({**good, "choices": ["fly"] * len(good["choices"])})
    elif way == "giant":
        say("x" * (3 << 20))
    elif way == "deep":
        say("[" * 5000 + "]" * 5000 + "\n")
    elif way == "few":
        say({**good, "choices": []})
    elif way == "late":
        say({**good, "id": message["id"] - 1})
    elif way == "twice":
        say(json.dumps(good) + "\n" + json.dumps(good) + "\n")
    elif way == "error":
        say({"type": "error", "message": "I give up"})
    elif way == "mute":
        os.close(1)
        time.sleep(60)
    elif way == "complaining":
        while True:
            sys.stderr.write("no! " * 4096)
    elif way == "loud":
        sys.stderr.write("yes " * 100_000)
        say(good)
    else:
        say(good)


def main():
    way = sys.argv[1]
    if way == "parent":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(child.pid, file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            if way == "slow":
                time.sleep(60)
            ready = {"type": "ready", "protocol": 2 if way == "old" else 1, "wants": []}
            say({**ready, "wants": ["cards"]} if way == "greedy" else ready)
        elif message["type"] == "choose":
            misbehave(way, message)
    if way == "stays":
        time.sleep(60)


if __name__ == "__main__":
    main()
