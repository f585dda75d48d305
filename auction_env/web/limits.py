"""What a client may send and hold, and the checks of it: sizes, rates, names, messages."""

from __future__ import annotations

import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from auction_env.core.limits import parse_json, shorten

MAX_ROOMS = 200
MAX_SOCKETS = 1000  # of all rooms together
MAX_ROOM_SOCKETS = 60
MAX_MESSAGE_BYTES = 2048  # of one message over a socket
MAX_BODY_BYTES = 8192  # of a request
MAX_NAME = 20  # characters
MAX_MARKS = 2  # accents and other marks on one letter of a name
MAX_CLIENTS = 1000  # whose recent openings of rooms are remembered
MAX_DEALS = 100  # in a match of a room
MAX_CHIPS = 1000  # of a seat when a match starts
MAX_REPLIES = 16  # waiting for a client that does not read
MESSAGE_RATE, MESSAGE_BURST = 20.0, 60.0  # messages a second of one socket, and at once
ROOM_RATE, ROOM_BURST = 1.0, 100.0  # rooms opened a second from one address, and at once
THINK_RATE, THINK_BURST = 0.5, 6.0  # hints and reviews a second of one socket, and at once
SEND_SECONDS = 10.0  # that a client may take to read a message
ABSENT_SECONDS = 60.0  # after which another may let an agent play for a person who is gone
IDLE_SECONDS = 24 * 3600.0  # after which a room without people is closed

# Kinds of messages that a client sends over a socket: the fields of each, and their types.
MESSAGES: dict[str, dict[str, type]] = {
    "sit": {"seat": int, "name": str},
    "resume": {"token": str},
    "leave": {},
    "fill": {"seat": int, "agent": str},
    "stand_in": {"seat": int},
    "choose": {"action": int},
    "next": {},
    "hint": {"agent": str},
    "review": {},
    "ping": {},
}


class MessageError(ValueError):
    """A client sent what makes no sense here; the message is shown to it."""


def parse_message(text: str) -> dict[str, Any]:
    """A message of a client, with the fields of its kind and no others. Raises MessageError."""
    try:
        message = parse_json(text, MAX_MESSAGE_BYTES, max_depth=2)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"this is no message: {shorten(error, 100)}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise MessageError("a message is an object with a type")
    fields = MESSAGES.get(message["type"])
    if fields is None:
        raise MessageError(f"there is no message {shorten(repr(message['type']), 40)}")
    if set(message) != {"type", *fields}:
        raise MessageError(f"a message {message['type']!r} has the fields {', '.join(fields) or 'type alone'}")
    for name, kind in fields.items():
        if type(message[name]) is not kind:
            raise MessageError(f"{name} must be {'a text' if kind is str else 'an integer'}")
    return message


def clean_name(name: str) -> str:
    """A person's name as it is shown: one line, nothing invisible, no towers of accents, at most MAX_NAME characters.

    Raises MessageError when nothing is left of it.
    """
    visible = "".join(sign for sign in name[: 8 * MAX_NAME] if sign.isprintable() or sign.isspace())
    shown, marks = "", 0
    for sign in unicodedata.normalize("NFC", visible):
        marks = marks + 1 if unicodedata.combining(sign) else 0
        shown += sign if marks <= MAX_MARKS else ""
    cleaned = " ".join(shown.split())[:MAX_NAME].strip()
    if not cleaned:
        raise MessageError(f"give a name of 1 to {MAX_NAME} characters")
    return cleaned


class Bucket:
    """Allows so many things a second, and some at once.

    Args:
        rate: things a second.
        burst: at once.
        clock: seconds that only grow.
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._left, self._seen = burst, clock()

    def take(self) -> bool:
        """Whether one more is allowed now."""
        now = self.clock()
        self._left = min(self.burst, self._left + self.rate * (now - self._seen))
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Buckets:
    """A Bucket for each of those who ask, by name; those that asked longest ago are forgotten.

    Args:
        rate: things a second of one of them.
        burst: at once.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Whether one more is allowed to somebody now."""
        bucket = self._buckets.setdefault(name, Bucket(self.rate, self.burst))
        self._buckets.move_to_end(name)
        while len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return bucket.take()
