"""Card networks: one function for any number of seats and options, blind to the names of suits."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from auction_env.agents.learning.networks import (
    NARROW,
    CardNetwork,
    Shape,
    SharedCritic,
    build_network,
    tensor_shapes,
)
from auction_env.agents.learning.policy_file import layout_of, network_shape

from auction_env import available, get_game
from auction_env.engine.batch import Batch
from auction_env.engine.features import FeatureRows

TABLES = 64


def seen(name, num_others=None, max_options=None, steps=7, **settings):
    """A batch in mid-deal, and rows of features of its seats to act."""
    batch, rng = Batch(name, settings, TABLES, threads=1), np.random.default_rng(1)
    out = batch.reset(2)
    for _ in range(steps):
        batch.step((rng.random(out.masks.shape) * out.masks).argmax(axis=1))
    rows = FeatureRows(batch.game, batch.settings, num_others, max_options)
    found = np.empty((TABLES, rows.size), np.float32)
    rows.write(batch.states, batch.all_rows, found)
    return batch, rows, torch.from_numpy(found)


def network(batch, rows, critic=False):
    torch.manual_seed(0)
    layout = rows.layout._replace(max_options=rows.max_options)
    actions = 0 if critic else len(batch.action_names)
    net = CardNetwork(layout, rows.num_others, actions, [24, 16], 12)
    if not critic:
        torch.nn.init.orthogonal_(net.option_score.weight, 1.0)  # so that options differ in more than rounding
    return net


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("critic", [False, True])
def test_room_for_more_seats_and_options_changes_nothing(name, critic):
    batch, rows, found = seen(name)
    one = network(batch, rows, critic)
    _, wide_rows, wide = seen(name, rows.num_others + 2, rows.max_options + 3)
    two = network(batch, wide_rows, critic)
    two.load_state_dict(one.state_dict())
    torch.testing.assert_close(two(wide), one(found), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", available())
def test_every_legal_action_has_a_logit_of_its_own_and_options_are_scored(name):
    batch, rows, found = seen(name, steps=0 if name == "auction_flop" else 4)
    logits = network(batch, rows)(found)
    assert logits.shape == (TABLES, len(batch.action_names))
    actions = rows.views(found.numpy())[3].astype(int)
    for table in range(TABLES):
        named = [action for action in actions[table] if action >= 0]
        untouched = set(range(logits.shape[1])) - set(named) - set(rows.layout.plain_actions)
        assert not logits[table, sorted(untouched)].any()
        assert len(named) < 2 or logits[table, named].std() > 0


def test_wide_rows_are_read_whole():
    """Thirty-two discards: past NARROW options a row is read in two parts, to the same numbers as in one."""
    batch, rows, found = seen("auction_flop", steps=0)
    net = network(batch, rows)
    _, _, options, actions = net._split(found)
    assert (options[:, NARROW:, 0] > 0).any()
    encoded = torch.relu(net.option_encoder(options)) * options[..., :1]
    total, most, keys = net._read_options(options, actions)
    torch.testing.assert_close(total, encoded.sum(1) * 0.25, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(most, encoded.amax(1))
    whole = net.option_key(options)
    torch.testing.assert_close(keys.keys, whole[:, :NARROW], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(keys.more, whole[keys.wide, NARROW:], atol=1e-5, rtol=1e-4)


def test_other_seats_and_options_may_come_in_any_order():
    batch, rows, found = seen("auction_poker", steps=4)
    net, rng = network(batch, rows), np.random.default_rng(0)
    shuffled = found.clone()
    _, others, options, actions = rows.views(shuffled.numpy())
    seats, places = rng.permutation(others.shape[1]), rng.permutation(options.shape[1])
    others[:] = others[:, seats].copy()
    options[:], actions[:] = options[:, places].copy(), actions[:, places].copy()
    torch.testing.assert_close(net(shuffled), net(found), atol=1e-5, rtol=1e-4)


def test_renaming_suits_renames_the_logits():
    batch, rows, found = seen("auction_poker", steps=4)
    net, suits = network(batch, rows), np.array([2, 0, 3, 1])
    renamed = np.array([card // 4 * 4 + suits[card % 4] for card in range(52)] + [255] * 204, np.uint8)
    states = batch.states.copy()
    for field in ("deck", "row", "picks"):
        states[field] = renamed[states[field]]
    again = np.empty_like(found.numpy())
    rows.write(states, batch.all_rows, again)
    one, two = net(found), net(torch.from_numpy(again))
    torch.testing.assert_close(two[:, renamed[:52].astype(int)], one[:, :52], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(two[:, 52:], one[:, 52:], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("kind", ["cards", "mlp"])
def test_shapes_of_tensors_are_known_without_building(name, kind):
    game = get_game(name)
    settings = Batch(name, {}, 1).settings
    shape = network_shape(game, settings, kind, [20, 10], 6)
    layout = layout_of(game, settings, kind)
    built = build_network(shape, layout, settings.num_players - 1)
    assert tensor_shapes(shape, layout) == {key: tuple(value.shape) for key, value in built.state_dict().items()}


def test_a_network_of_cards_needs_features():
    with pytest.raises(ValueError, match='use network = "mlp"'):
        build_network(Shape("cards", (8,), 4, 10, 5), None, 1)


def test_a_shared_critic_reads_the_actors_first_layer_and_owns_only_what_follows():
    batch, rows, found = seen("auction_poker")
    actor = network(batch, rows)
    critic = SharedCritic(actor, [24, 16])
    logits, values = critic.both(found)
    assert torch.equal(logits, actor(found))
    assert torch.equal(values, critic(found))
    names = {name for name, _ in critic.named_parameters()}
    assert names == {"layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias"}
    values.square().mean().backward()
    moved = {name for name, weight in actor.named_parameters() if weight.grad is not None}
    assert {"seat_encoder.weight", "option_encoder.weight", "trunk.0.weight"} <= moved
    assert not moved & {"trunk.1.weight", "plain_head.weight", "option_query.weight"}
