"""A casual player (a policy in the box)."""

from functools import partial

from auction_env.agents.shipped import make_level

make_agent = partial(make_level, "medium")
