"""Learn to play by self-play: ``python train.py configs/auction_poker.toml [key=value ...]``.

The same is ``auction-env train``, without a clone of the repository.
"""

import sys

from auction_env.cli.train import main

if __name__ == "__main__":
    sys.exit(main())
