"""Sphinx settings: ``make docs``. Pages of what the code knows are written to ``docs/generated`` first."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import generate
import recorded_deal

import auction_env

os.environ.setdefault("OMP_NUM_THREADS", "1")
generate.write_all(HERE / "generated")
recorded_deal.write_deal(HERE / "generated_site" / "deal")

project = "auction_env"
author = "the auction_env developers"
version = release = auction_env.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
parts = ["generated/ten_decisions.md", "generated/command_line.md", "generated/measured.md"]  # of other pages
exclude_patterns = [*parts, *([] if (HERE / "images" / "speed.png").is_file() else ["benchmarks.md"])]

html_extra_path = ["generated_site"]
html_theme = "furo"
html_title = f"auction_env {release}"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"show-inheritance": True}
napoleon_use_rtype = False
