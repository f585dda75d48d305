"""The strongest policy in the box, learned by self-play."""

from functools import partial

from auction_env.agents.shipped import level_files, make_level

make_agent = partial(make_level, "champion")
files = partial(level_files, "champion")
