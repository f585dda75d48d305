"""As strong as the script ``rules``, by another way (a policy in the box)."""

from functools import partial

from auction_env.agents.shipped import level_files, make_level

make_agent = partial(make_level, "hard")
files = partial(level_files, "hard")
