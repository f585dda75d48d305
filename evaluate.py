"""Play agents against each other: ``python evaluate.py ppo:runs/auction_poker random random --deals 30000``.

The same is ``auction-env evaluate``, without a clone of the repository.
"""

import sys

from auction_env.cli.evaluate import main

if __name__ == "__main__":
    sys.exit(main())
