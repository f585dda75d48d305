"""The exact best response, by brute force through the engine: every deck, every history, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import numpy as np

from auction_env.engine.kernels import kernels
from auction_env.engine.table import Table


def exact_best_response(game, settings, policy):
    """Chips a deal, mean over all decks, dealers and seats, of the best response to a policy of legal actions.

    policy(mask) gives the probabilities of the legal actions. Works on sets of tables that look alike to the
    responder: chance of cards and of the other's choices is their weights.
    """
    run, seats, size = kernels(game), settings.num_players, settings.num_ranks * settings.num_suits
    total = 0.0
    lowest = 52 - 4 * settings.num_ranks
    deck = [card for card in range(lowest, 52) if card % 4 < settings.num_suits]
    decks = list(permutations(deck))
    observations = np.zeros(Table(game, settings).observation_size, np.float32)
    actions = len(game.action_names(settings))

    def children(states):
        scratch = np.zeros(game.MAX_LEGAL, np.int16)
        count = run.legal(states, 0, scratch)
        for action in scratch[:count].tolist():
            after = states.view(np.uint8).copy().view(states.dtype)
            run.act(after, 0, action, np.zeros(game.MAX_LEGAL, np.int16), np.zeros(actions, np.int8))
            yield action, after

    def value(worlds, me):
        """Of [(weight, states)] that the responder cannot tell apart, or that are not its to act."""
        won, alike = 0.0, defaultdict(list)
        waiting = list(worlds)
        while waiting:
            weight, states = waiting.pop()
            if states["to_act"][0] < 0:
                won += weight * float(states["award"][0, me] - states["paid"][0, me])
            elif states["to_act"][0] == me:
                observations[:] = 0
                run.observe(states, 0, me, observations, 1.0)
                alike[observations.tobytes()].append((weight, states))
            else:
                after = list(children(states))
                for chance, (_, twin) in zip(policy([action for action, _ in after]), after, strict=True):
                    if chance:
                        waiting.append((weight * chance, twin))
        for group in alike.values():
            grown = [(weight, dict(children(states))) for weight, states in group]
            won += max(value([(weight, after[action]) for weight, after in grown], me) for action in grown[0][1])
        return won

    for me in range(seats):
        worlds = []
        for dealer in range(seats):
            for cards in decks:
                table = Table(game, settings)
                table.reset(0, {"deck": list(cards), "dealer": dealer})
                worlds.append((1 / (len(decks) * seats), table.states))
        total += value(worlds, me)
    assert size == len(deck)
    return total / seats


def uniform(actions):
    return [1 / len(actions)] * len(actions)
