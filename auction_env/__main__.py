"""``python -m auction_env``: what there is; ``play`` at a table; ``replay`` a record."""

import sys

from auction_env.cli import main

sys.exit(main())
