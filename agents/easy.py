"""A beginner: knows the rules and little else (a policy in the box)."""

from functools import partial

from auction_env.agents.shipped import level_files, make_level

make_agent = partial(make_level, "easy")
files = partial(level_files, "easy")
