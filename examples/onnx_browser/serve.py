"""A policy that plays a whole deal in the browser, by onnxruntime-web; the rules and what a seat sees come from here.

auction-env export champion champion.onnx --set num_players=3
npm install --prefix examples/onnx_browser onnxruntime-web@1.31.1
python examples/onnx_browser/serve.py champion.onnx                # then open the address that it prints
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import auction_env

HERE = Path(__file__).resolve().parent
RUNTIME = HERE / "node_modules" / "onnxruntime-web" / "dist"
TYPES = {".html": "text/html; charset=utf-8", ".mjs": "text/javascript", ".wasm": "application/wasm"}


class Deal:
    """One deal at a table, as the page asks for it: what the seat to act sees, until it is over."""

    def __init__(self, model: Path) -> None:
        about = {entry.key: entry.value for entry in onnx.load(str(model), load_external_data=False).metadata_props}
        self.names, self.features = json.loads(about["actions"]), json.loads(about["observation"])["kind"] == "features"
        game = getattr(auction_env, f"{about['game']}_v{about['game_version']}")
        self.env = game.env(**json.loads(about["settings"]), render_mode="ansi")
        self.begin(0)  # what is compiled at its first use is compiled now

    def begin(self, seed: int) -> dict[str, Any]:
        """Deal anew."""
        self.env.reset(seed=seed)
        self.won: dict[str, float] = {}
        return self.state()

    def act(self, action: int) -> dict[str, Any]:
        """Act for the seat to act. Raises an error of auction_env if that is not legal."""
        self.env.step(action)
        return self.state()

    def state(self) -> dict[str, Any]:
        """The table in text; and what the seat to act sees with its mask, or what each seat won."""
        for agent in self.env.agent_iter():
            seen, reward, over, truncated, _ = self.env.last()
            if not (over or truncated):
                row = self.env.unwrapped.observe_features(agent) if self.features else seen["observation"]
                told = {"agent": agent, "observation": np.asarray(row, float).tolist()}
                return told | {"action_mask": seen["action_mask"].tolist(), "text": self.env.render()}
            self.won[agent] = float(reward)
            self.env.step(None)
        return {"over": True, "won": self.won, "text": ""}


def make_server(model: Path, runtime: Path = RUNTIME, port: int = 0) -> HTTPServer:
    """A server on this machine alone, of the page, the model, the runtime's files and one deal."""
    if not (runtime / "ort.wasm.min.mjs").is_file():
        raise SystemExit(f"no onnxruntime-web in {runtime}: npm install --prefix {HERE} onnxruntime-web@1.31.1")
    deal = Deal(model)
    files = {"/": HERE / "index.html", "/model.onnx": model}
    files |= {f"/ort/{path.name}": path for path in runtime.glob("ort*.*") if path.suffix in TYPES}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/actions":
                return self._answer(json.dumps(deal.names).encode(), "application/json")
            path = files.get(self.path)
            if path is None:
                return self.send_error(404)
            return self._answer(path.read_bytes(), TYPES.get(path.suffix, "application/octet-stream"))

        def do_POST(self) -> None:
            try:
                asked = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 1000)))
                found = deal.begin(int(asked["seed"])) if self.path == "/begin" else deal.act(int(asked["action"]))
            except (ValueError, TypeError, KeyError) as error:
                return self.send_error(400, str(error).splitlines()[0])
            return self._answer(json.dumps(found).encode(), "application/json")

        def _answer(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *about: Any) -> None:
            pass

    return HTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="as auction-env export writes it")
    parser.add_argument("--runtime", type=Path, default=RUNTIME, help="folder dist of onnxruntime-web")
    parser.add_argument("--port", type=int, default=8080)
    o = parser.parse_args()
    server = make_server(o.model, o.runtime, o.port)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
