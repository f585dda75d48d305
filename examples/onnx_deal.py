"""A whole deal by an ONNX model, with onnxruntime and numpy beside the environment: no torch.

auction-env export champion champion.onnx --set num_players=3
python examples/onnx_deal.py champion.onnx --seed 7
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import onnxruntime

import auction_env


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="as auction-env export writes it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    session = onnxruntime.InferenceSession(options.model)
    about = session.get_modelmeta().custom_metadata_map
    layout, names = json.loads(about["observation"]), json.loads(about["actions"])
    game = getattr(auction_env, f"{about['game']}_v{about['game_version']}")
    env = game.env(**json.loads(about["settings"]))

    rng = np.random.default_rng(options.seed)
    env.reset(seed=options.seed)
    for agent in env.agent_iter():
        seen, reward, over, truncated, _ = env.last()
        if over or truncated:
            print(f"{agent}: {reward:+.0f} chips")
            env.step(None)
            continue
        observation, mask = seen["observation"], seen["action_mask"]
        if layout["kind"] == "features":
            observation = env.unwrapped.observe_features(agent)
        (logits,) = session.run(["logits"], {"observation": observation[None], "action_mask": mask[None]})
        chances = np.exp(logits[0] - logits[0].max())
        action = int(rng.choice(len(names), p=chances / chances.sum()))
        print(f"{agent}: {names[action]} ({chances[action] / chances.sum():.0%})")
        env.step(action)


if __name__ == "__main__":
    main()
