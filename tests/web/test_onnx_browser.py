"""A whole deal by an exported policy in chromium, by onnxruntime-web, with the chances of onnxruntime in Python."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("sb3_contrib", reason="sb3_contrib is not installed")

import onnxruntime
from web_browser import CHROMIUM, chromium, page_of

from auction_env import cli

EXAMPLE = Path(__file__).parents[2] / "examples" / "onnx_browser"
sys.path.insert(0, str(EXAMPLE))
serve = importlib.import_module("serve")
RUNTIME = Path(os.environ.get("ONNXRUNTIME_WEB", serve.RUNTIME))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(not RUNTIME.is_dir(), reason=f"onnxruntime-web is not in {RUNTIME}"),
]


@pytest.mark.parametrize("game", ["auction_poker", "auction_flop"])
def test_a_deal_in_the_browser(game: str, tmp_path: Path) -> None:
    model = tmp_path / "champion.onnx"
    assert cli.main(["export", "champion", str(model), "--game", game, "--set", "num_players=3"]) == 0
    server = serve.make_server(model, RUNTIME)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with chromium() as browser, page_of(browser) as page:
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.locator("#play:enabled").click()
            page.locator("#play:disabled").wait_for()
            page.locator("#play:enabled").wait_for()
            won, moves = page.locator("#status").inner_text(), page.locator("#moves li").all()
            told = [(move.get_attribute("data-action"), move.get_attribute("data-chance")) for move in moves]
    finally:
        server.shutdown()
        server.server_close()
    deal, session = serve.Deal(model), onnxruntime.InferenceSession(str(model))
    state = deal.begin(7)
    for action, chance in ((int(action), float(chance)) for action, chance in told):
        given = {"observation": np.array([state["observation"]], np.float32)}
        (logits,) = session.run(["logits"], {**given, "action_mask": np.array([state["action_mask"]], np.int8)})
        shares = np.exp(logits[0] - logits[0].max())
        assert abs(shares[action] / shares.sum() - chance) < 1e-3
        state = deal.act(action)
    assert state["over"] and sum(state["won"].values()) == 0
    assert won == ", ".join(f"{seat} {chips:+.0f}" if chips else f"{seat} 0" for seat, chips in state["won"].items())


def test_what_is_missing_is_told_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"npm install --prefix .* onnxruntime-web"):
        serve.make_server(tmp_path / "x.onnx", tmp_path)
