"""``python -m auction_env``: what there is; ``play``, ``replay``, ``train``, ``evaluate``."""

import sys

from auction_env.cli import main

sys.exit(main())
