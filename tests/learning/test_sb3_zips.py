"""Zips of sb3-contrib: what goes in plays the same, what comes out plays the same moves, and pickles stay shut."""

from __future__ import annotations

import io
import json
import zipfile

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning.sb3_file import export_sb3, import_sb3
from policies import GAMES, KINDS, agent_from, inputs, random_policy, told, visited
from sb3_contrib import MaskablePPO

from auction_env import agents, cli, gymnasium_id
from auction_env.interfaces.feature_observation import FeatureObservation

STATES = 400


def their_chances(model, given, masks):
    seen = model.policy.obs_to_tensor(given)[0]
    with torch.no_grad():
        return model.policy.get_distribution(seen, action_masks=masks).distribution.probs.numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GAMES)
def test_a_zip_plays_the_same_moves_on_our_environment(tmp_path, name, kind):
    game, settings, policy = random_policy(name, kind)
    agent = agent_from(game, settings, policy)
    export_sb3(tmp_path / "x.zip", agent, game, settings)
    model = MaskablePPO.load(tmp_path / "x.zip", device="cpu")
    for batch in visited(game, settings, STATES):
        chances = their_chances(model, inputs(agent, batch), batch.out.masks)
        np.testing.assert_allclose(chances, told(agent, batch), atol=1e-5)
    env = gymnasium.make(gymnasium_id(name), flat=True, num_players=settings.num_players)
    env = FeatureObservation(env) if kind == "cards" else env
    seen, _ = env.reset(seed=1)
    over, moves = False, 0
    while not over:
        masks = env.get_wrapper_attr("action_masks")()
        move = int(model.predict(seen, action_masks=masks, deterministic=True)[0])
        table = env.unwrapped.table
        given = table.states if kind == "cards" else table.observe(env.unwrapped.seat)[None]
        assert move == agent.probabilities(given, masks[None].astype(np.int8))[0].argmax()
        seen, _, over, _, _ = env.step(move)
        moves += 1
    assert moves
    assert env.observation_space.contains(seen)


@pytest.fixture(scope="module", params=[{}, {"activation_fn": torch.nn.ReLU, "net_arch": [16]}])
def stock(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "stock.zip"
    env = gymnasium.make("auction_env/AuctionPoker-v0", flat=True)
    torch.manual_seed(1)
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=request.param, n_steps=16, device="cpu")
    for parameter in model.policy.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    model.save(path)
    return path, model


def test_a_stock_zip_becomes_a_policy_that_plays_the_same(stock, tmp_path, capsys):
    path, model = stock
    made = tmp_path / "made.safetensors"
    assert cli.main(["import", str(path), str(made), "--trust"]) == 0
    assert f"ppo:{made}" in capsys.readouterr().out
    game, settings, _ = random_policy("auction_poker", "mlp")
    agent = agents.make(f"ppo:{made}", game, settings)
    for batch in visited(game, settings, STATES):
        chances = their_chances(model, batch.out.observations, batch.out.masks)
        np.testing.assert_allclose(told(agent, batch), chances, atol=1e-5)


def test_a_zip_is_not_read_without_trust_and_an_opponent_is_told_of_the_converter(stock, tmp_path, capsys):
    path, _ = stock
    assert cli.main(["import", str(path), str(tmp_path / "x.safetensors")]) == 2
    assert "--trust" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    game, settings, _ = random_policy("auction_poker", "mlp")
    with pytest.raises(AgentError, match=r"stable-baselines3 zip.*auction-env import"):
        agents.make(f"ppo:{path}", game, settings)


def test_a_zip_of_other_sizes_or_a_dict_is_refused_by_them(stock):
    game, settings, _ = random_policy("auction_poker", "mlp", num_players=4)
    with pytest.raises(AgentError, match="reads 672 entries and has 63 actions, but auction_poker"):
        import_sb3(stock[0], game, settings, trust=True)


def rewritten(path, to, **entries):
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            key = name.replace(".", "_")
            if entries.get(key, b"") is not None:
                new.writestr(name, entries.get(key) or old.read(name))
    return to


def test_damaged_and_strange_zips_are_refused_by_name(stock, tmp_path):
    path, _ = stock
    game, settings, _ = random_policy("auction_poker", "mlp")
    data = json.loads(zipfile.ZipFile(path).read("data"))
    other = json.dumps({**data, "policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.activation.ELU'>"}})
    (tmp_path / "cut.zip").write_bytes(path.read_bytes()[:5000])
    broken = {
        "cut": tmp_path / "cut.zip",
        "absent": tmp_path / "absent.zip",
        "weights": rewritten(path, tmp_path / "weights.zip", policy_pth=b"\x80\x04cos\nsystem\n(S'touch owned'\ntR."),
        "none": rewritten(path, tmp_path / "none.zip", policy_pth=None),
        "json": rewritten(path, tmp_path / "json.zip", data=b"{"),
        "activation": rewritten(path, tmp_path / "activation.zip", data=other.encode()),
    }
    for name, file in broken.items():
        with pytest.raises(AgentError, match=rf"{name}\.zip"):
            import_sb3(file, game, settings, trust=True)


def torch_bytes(content):
    out = io.BytesIO()
    torch.save(content, out)
    return out.getvalue()


def test_a_zip_that_names_places_outside_or_grows_when_unpacked_harms_nothing(stock, tmp_path):
    """Nothing is unpacked to disk; sizes are looked at before memory is taken, in the zip and in its tensors."""
    path, _ = stock
    game, settings, _ = random_policy("auction_poker", "mlp")
    outside = tmp_path / "absolute"
    odd = rewritten(path, tmp_path / "odd.zip")
    with zipfile.ZipFile(odd, "a") as file:
        for name in ("../x", "../../policy.pth", str(outside), "a/../../y"):
            file.writestr(name, b"x" * 100)
    kept = sorted(tmp_path.iterdir())
    assert import_sb3(odd, game, settings, trust=True).seats == (3,)
    assert sorted(tmp_path.iterdir()) == kept and not (tmp_path.parent / "x").exists()
    grows = tmp_path / "grows.zip"
    with zipfile.ZipFile(grows, "w", zipfile.ZIP_DEFLATED) as file, file.open("data", "w") as entry:
        for _ in range(17):
            entry.write(bytes(1 << 20))
    assert grows.stat().st_size < 1 << 17
    honest = torch.load(io.BytesIO(zipfile.ZipFile(path).read("policy.pth")), weights_only=True)
    nan = {**honest, "action_net.weight": honest["action_net.weight"] * torch.nan}
    one = torch.zeros(1)
    deep = {"mlp_extractor.policy_net.0.weight": one.expand(1 << 22, 672)}
    deep |= {"mlp_extractor.policy_net.0.bias": one.expand(1 << 22), "action_net.weight": one.expand(63, 1 << 22)}
    refused = {
        "grows.zip is not read: its entry 'data' is larger than": grows,
        "nan.zip: its weights are not all finite": rewritten(path, tmp_path / "nan.zip", policy_pth=torch_bytes(nan)),
        "strides.zip: its layers are larger than a policy file may be": rewritten(
            path, tmp_path / "strides.zip", policy_pth=torch_bytes({**deep, "action_net.bias": one.expand(63)})
        ),
    }
    for said, file in refused.items():
        with pytest.raises(AgentError, match=said):
            import_sb3(file, game, settings, trust=True)
