"""A casual player (a policy in the box)."""

from functools import partial

from auction_env.agents.shipped import level_files, make_level

make_agent = partial(make_level, "medium")
files = partial(level_files, "medium")
