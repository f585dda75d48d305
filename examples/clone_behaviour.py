"""Behaviour cloning from a file of games: a network learns what an agent did, and plays as `ppo:FILE`.

auction-env generate rules rules rules --output games.parquet --deals 5000
python examples/clone_behaviour.py games.parquet clone.safetensors
python evaluate.py ppo:clone.safetensors rules random
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from auction_env.agents.learning.algorithm import masked_log_softmax
from auction_env.agents.learning.networks import build_network
from auction_env.agents.learning.policy_file import Policy, network_shape, save_policy

from auction_env import agents
from auction_env.evaluation.dataset import read_metadata, read_parts
from auction_env.evaluation.match import play_match
from auction_env.games import get_game
from auction_env.games.game import make_settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("games", type=Path, help="as auction-env generate writes it")
    add("policy", type=Path, help="policy file to write: *.safetensors")
    add("--agent", help="whose decisions are learned (default: the first in the file)")
    add("--epochs", type=int, default=3, help="passes over the file (default: %(default)s)")
    add("--deals", type=int, default=3000, help="that it is measured on against random (default: %(default)s)")
    add("--seed", type=int, default=0)
    o = parser.parse_args()
    torch.manual_seed(o.seed)
    rng = np.random.default_rng(o.seed)

    about = read_metadata(o.games)
    game = get_game(about["game"])
    settings = make_settings(game, about["settings"])
    names = list(dict.fromkeys(about["agents"]))
    cloned = names.index(o.agent or names[0])

    shape = network_shape(game, settings, "mlp", [256, 256], 0)
    network = build_network(shape, None, settings.num_players - 1)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for epoch in range(o.epochs):
        losses, right, seen = [], 0, 0
        for part in read_parts(o.games):  # a row group at a time: the file may be larger than memory
            for rows in np.array_split(rng.permutation(np.flatnonzero(part["agent"] == cloned)), 8):
                if not len(rows):
                    continue
                logits = network(torch.from_numpy(part["observation"][rows]))
                logs = masked_log_softmax(logits, torch.from_numpy(part["action_mask"][rows]))
                chosen = torch.from_numpy(part["action"][rows].astype(np.int64))
                loss = torch.nn.functional.nll_loss(logs, chosen)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                right, seen = right + int((logs.argmax(1) == chosen).sum()), seen + len(rows)
        print(f"epoch {epoch + 1}: {seen:,} decisions, cross-entropy {np.mean(losses):.3f}, {right / seen:.1%} right")

    seats = (settings.num_players,)
    save_policy(o.policy, Policy(network, shape, seats, about["settings"]), game, settings)
    clone = agents.make(f"ppo:{o.policy}", game, settings)
    others = [agents.make("random", game, settings)] * (settings.num_players - 1)
    result = play_match(game, settings, [clone, *others], o.deals, o.seed)
    print(f"{o.policy}: {result.agent(0)} chips a deal against random, {result.deals:,} deals")


if __name__ == "__main__":
    main()
