"""What a client may send and hold, and the checks of it: sizes, rates, names, messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from auction_env.core.limits import parse_json, shorten

MAX_ROOMS = 200
MAX_SOCKETS = 1000  # of all rooms together
MAX_ROOM_SOCKETS = 60
MAX_MESSAGE_BYTES = 2048  # of one message over a socket
MAX_BODY_BYTES = 8192  # of a request
MAX_NAME = 20  # characters
MAX_DEALS = 100  # in a match of a room
MAX_CHIPS = 1000  # of a seat when a match starts
MAX_REPLIES = 16  # waiting for a client that does not read
MESSAGE_RATE, MESSAGE_BURST = 20.0, 60.0  # messages a second of one socket, and at once
ROOM_RATE, ROOM_BURST = 1.0, 100.0  # rooms opened a second, and at once
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
    """A person's name as it is shown: one line, nothing invisible, at most MAX_NAME characters. Raises MessageError."""
    shown = "".join(sign for sign in name[: 8 * MAX_NAME] if sign.isprintable() or sign.isspace())
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
