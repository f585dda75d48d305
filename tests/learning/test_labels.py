"""Teaching signals beside the rollouts: decisions labelled by playouts, and a critic that sees all cards."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.learning.config import ConfigError, make_config
from auction_env.agents.learning.labels import LEAST, Labeller, Labels, label_gain
from auction_env.agents.learning.network_agent import agent_of
from auction_env.agents.learning.network_search import NetworkSearchAgent
from auction_env.agents.learning.networks import build_network
from auction_env.agents.learning.policy_file import layout_of, network_shape
from auction_env.agents.learning.rollouts import AllSeatsVecEnv

from auction_env import available
from auction_env.engine.batch import Batch
from auction_env.games import get_game
from auction_env.games.game import make_settings

TABLES = 24


def tables(name: str, worlds: int = 0, steps: int = 5, seats: tuple[int, ...] = (3,)):
    """Tables in mid-deal, their rows, and a labeller with a network of random weights."""
    game = get_game(name)
    settings = [make_settings(game, {"num_players": n}) for n in seats]
    env = AllSeatsVecEnv(game, settings, TABLES, seed=4)
    rows, rng = env.reset(), np.random.default_rng(1)
    for _ in range(steps):
        rows, *_ = env.step((env.action_masks() * rng.random((TABLES, env.action_space.n))).argmax(1))
    shape = network_shape(game, settings[-1], "cards", [16], 8)
    torch.manual_seed(0)
    actor = build_network(shape, layout_of(game, settings[-1], "cards"), settings[-1].num_players - 1)
    agents = [agent_of(actor, shape, game, one) for one in settings]
    return SimpleNamespace(env=env, rows=rows, actor=actor, agents=agents, labeller=Labeller(env, agents, worlds))


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("worlds", [0, 3])
def test_labels_are_gains_over_the_policy_and_leave_the_tables_alone(name, worlds):
    made = tables(name, worlds=worlds, seats=(2, 4))
    before = [part.batch.states.copy() for part in made.env.tables]
    made.labeller.seed(3)
    labels = made.labeller.label(TABLES, made.rows)
    assert all((part.batch.states == old).all() for part, old in zip(made.env.tables, before, strict=True))
    chances = made.actor(labels.rows).masked_fill(labels.illegal, -torch.inf).softmax(1)
    assert (chances[~labels.illegal] > LEAST / 2).all()
    torch.testing.assert_close((chances * labels.gains).sum(1), torch.zeros(len(labels.gains)), atol=1e-4, rtol=0)
    assert (labels.gains[labels.illegal] == 0).all()
    assert (labels.gains != 0).any()
    made.labeller.seed(3)
    again = made.labeller.label(TABLES, made.rows)
    assert all(torch.equal(one, other) for one, other in zip(labels, again, strict=True))


@pytest.mark.parametrize("name", available())
def test_counterfactual_actions_are_played_to_the_end_of_the_same_deal(name):
    made = tables(name)
    part, masks = made.env.tables[0], made.env.tables[0].batch.out.masks
    agent = SimpleNamespace(act_states=lambda states, masks: masks.argmax(1), seed=lambda seed: None)
    searched = NetworkSearchAgent(made.env.game, agent, masks.shape[1])
    options = np.argsort(masks == 0, axis=1, kind="stable")[:, :2]
    alive = np.take_along_axis(masks, options, 1) != 0
    _, payoffs = searched.try_actions(part.batch.states.copy(), options, alive, 0)
    seats, rows = part.batch.out.seats.copy(), np.arange(TABLES)
    for choice in range(2):
        batch = Batch(name, {"num_players": 3}, TABLES, threads=1)
        batch.reset(0)
        batch.set_states(part.batch.states.copy())
        out = batch.step(np.where(alive[:, choice], options[:, choice], options[:, 0]))
        won, over = np.zeros(TABLES), np.zeros(TABLES, bool)
        for _ in range(400):
            fresh = out.deal_over & ~over
            won[fresh], over = out.payoffs[fresh, seats[fresh]], over | out.deal_over
            if over.all():
                break
            out = batch.step(agent.act_states(batch.states, out.masks))
        assert over.all()
        wanted = rows[alive[:, choice]]
        assert np.allclose(payoffs[wanted, 0, choice], won[wanted])


def test_the_gain_on_labels_rises_towards_the_better_action():
    gains = torch.tensor([[1.0, -1.0, 0.0], [0.5, 0.0, -0.5]])
    illegal = torch.tensor([[False, False, True], [False, True, False]])
    logits = torch.zeros(2, 3, requires_grad=True)
    gain = label_gain(logits, Labels(torch.zeros(2, 1), illegal, gains))
    gain.backward()
    assert logits.grad[0, 0] > 0 > logits.grad[0, 1]
    assert logits.grad[0, 2] == logits.grad[1, 1] == 0


def test_the_critic_sees_all_cards_and_the_actor_does_not():
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 3})
    env = AllSeatsVecEnv(game, [settings], 8, seed=0, oracle=True)
    plain = AllSeatsVecEnv(game, [settings], 8, seed=0)
    rows, short = env.reset(), plain.reset()
    size, own = short.shape[1], game.feature_layout(settings).sizes[0]
    assert rows.shape[1] == size + 2 * own
    assert np.array_equal(rows[:, :size], short)
    # bids are secret and made at once: what the next seat sees of itself now is what it sees when it is asked
    after, *_ = env.step(env.action_masks().argmax(1))
    assert np.array_equal(rows[:, size : size + own], after[:, :own])
    shape, layout = network_shape(game, settings, "cards", [16], 8), layout_of(game, settings, "cards")
    actor, critic = build_network(shape, layout, 2), build_network(shape, layout, 2, critic=True, oracle=True)
    assert torch.equal(actor(torch.from_numpy(rows)), actor(torch.from_numpy(short)))
    other = rows.copy()
    other[:, size:] = 0
    assert not torch.allclose(critic(torch.from_numpy(rows)), critic(torch.from_numpy(other)))


@pytest.mark.parametrize("key", ["oracle_critic=true", "label_decisions=64"])
def test_signals_that_need_features_are_refused_without(key):
    with pytest.raises(ConfigError, match='it needs network = "cards"'):
        make_config({"network": "mlp"}, [key])
