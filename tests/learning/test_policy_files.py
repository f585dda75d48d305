"""Policy files: what is saved plays the same after loading; what others made is refused by name."""

from __future__ import annotations

import ast
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from tiny_run import ROOT, quiet, tiny

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning.networks import build_network
from auction_env.agents.learning.policy_file import FORMAT, Policy, layout_of, load_policy, network_shape, save_policy
from auction_env.agents.learning.runs import start_run
from safetensors.torch import load_file, save_file

from auction_env import agents
from auction_env.engine.batch import Batch
from auction_env.evaluation.match import plain_settings
from auction_env.games import get_game
from auction_env.games.game import make_settings


@pytest.fixture(params=["cards", "mlp"])
def policy(tmp_path, request):
    game = get_game("auction_poker")
    settings = make_settings(game, {})
    torch.manual_seed(3)
    shape = network_shape(game, settings, request.param, [8], 4)
    actor = build_network(shape, layout_of(game, settings, request.param), 2)
    for name, value in actor.named_parameters():
        if name.endswith("weight"):
            torch.nn.init.normal_(value, 0, 0.5)
    path = tmp_path / "model.safetensors"
    save_policy(path, Policy(actor, shape, (3,), plain_settings(settings)), game, settings)
    return path, game, settings


def ask(agent, batch, times=1):
    """What an agent chooses at the first table of a batch, many times, and its probabilities there."""
    out = batch.out
    if hasattr(agent, "act_states"):
        given = np.repeat(batch.states[:1], times), np.repeat(out.masks[:1], times, 0)
        return agent.act_states(*given), agent.probabilities(batch.states[:1], out.masks[:1])[0]
    given = np.repeat(out.observations[:1], times, 0), np.repeat(out.masks[:1], times, 0)
    return agent.act_batch(*given), agent.probabilities(out.observations[:1], out.masks[:1])[0]


def dealt(game, settings):
    batch = Batch(game, settings, 2)
    batch.reset(4)
    return batch


def stored_header(path: Path) -> dict[str, str]:
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        return dict(file.metadata())


def test_a_saved_policy_plays_the_same_after_loading(policy):
    path, game, settings = policy
    batch = dealt(game, settings)
    one, two = (agents.make(f"ppo:{path}", game, settings, 5) for _ in range(2))
    first, chances = ask(one, batch, 200)
    assert np.array_equal(first, ask(two, batch, 200)[0])
    assert batch.out.masks[0, first].all()
    assert np.isclose(chances.sum(), 1, atol=1e-5) and not chances[batch.out.masks[0] == 0].any()


def test_sampling_follows_the_probabilities_at_any_temperature(policy):
    path, game, settings = policy
    batch, number = dealt(game, settings), 20_000
    sharpness = []
    for option in ("", "?temperature=0.5", "?temperature=2"):
        drawn, chance = ask(agents.make(f"ppo:{path}{option}", game, settings, 1), batch, number)
        share = np.bincount(drawn, minlength=len(chance)) / number
        assert (np.abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / number) + 1e-9).all()
        sharpness.append(chance.max())
    assert sharpness[2] < sharpness[0] < sharpness[1]
    greedy, chance = ask(agents.make(f"ppo:{path}?greedy", game, settings, 1), batch, 50)
    assert (greedy == chance.argmax()).all()
    for bad in ("?temperature=-1", "?temperature=x", "?hot"):
        with pytest.raises(AgentError, match="has no option"):
            agents.make(f"ppo:{path}{bad}", game, settings)


def test_policies_for_another_table_are_refused_by_the_settings_name(policy):
    path, game, settings = policy
    with pytest.raises(AgentError, match=r"trained for \[3\] seats, but this table has 4"):
        load_policy(path, game, make_settings(game, {"num_players": 4}))
    with pytest.raises(AgentError, match="trained with num_auctions = 5, but this table has 4"):
        load_policy(path, game, make_settings(game, {"num_auctions": 4}))
    with pytest.raises(AgentError, match="trained with ante = 1, but this table has 2"):
        load_policy(path, game, make_settings(game, {"ante": 2}))
    with pytest.raises(AgentError, match="plays 'auction_poker', not auction_flop"):
        load_policy(path, get_game("auction_flop"), make_settings(get_game("auction_flop"), {}))
    load_policy(path, game, make_settings(game, {"num_deals": 5, "starting_chips": 100}))  # a match may be longer
    assert load_policy(path, game, settings).seats == (3,)


def test_damaged_and_hostile_files_are_refused_by_name(policy, tmp_path):
    path, game, settings = policy
    tensors, header = load_file(path), stored_header(path)
    whole = path.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "pickle").write_bytes(b"\x80\x04cos\nsystem\n(S'touch owned'\ntR.")
    (tmp_path / "header").write_bytes((10 * 2**30).to_bytes(8, "little") + b"{}")
    name = next(name for name in sorted(tensors) if name.endswith("weight"))
    broken = {
        "nan": {**tensors, name: torch.full_like(tensors[name], torch.nan)},
        "shape": {**tensors, name: tensors[name][:, :-1].contiguous()},
        "type": {**tensors, name: tensors[name].double()},
        "missing": {k: v for k, v in tensors.items() if k != name},
        "extra": {**tensors, "9.weight": torch.zeros(2)},
    }
    for kind, content in broken.items():
        save_file(content, tmp_path / kind, header)
    save_file(tensors, tmp_path / "format", {"json": json.dumps({"format": "other/1"})})
    save_file(tensors, tmp_path / "plain")
    good = json.loads(header["json"])
    hostile = {
        "huge": {"net_arch": [16384] * 8},  # refused before gigabytes are built: the tensors are not of these shapes
        "many": {"net_arch": [1] * 200_000},
        "bool": {"net_arch": [True]},
        "text": {"net_arch": "8"},
        "temperature": {"temperature": -1},
        "nothing": {"temperature": None},
        "kind": {"network": "__import__('os')"},
        "seats": {"seats": "3"},
        "settings": {"settings": []},
        "inputs": {"inputs": "0" * 16},
    }
    for kind, change in hostile.items():
        save_file(tensors, tmp_path / kind, {"json": json.dumps({**good, **change})})
    assert json.loads(header["json"])["format"] == FORMAT
    kinds = ["cut", "empty", "pickle", "header", "format", "plain", "absent", *broken, *hostile]
    for kind in kinds:
        with pytest.raises(AgentError, match=str(tmp_path / kind)):
            load_policy(tmp_path / kind, game, settings)
    assert not Path("owned").exists()


def test_nothing_here_can_run_code_from_a_file():
    """No eval, exec, pickle or torch.load in the packages and scripts."""
    forbidden = {"eval", "exec", "compile"}
    modules = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib"}
    files = [*ROOT.glob("auction_env/**/*.py"), *ROOT.glob("agents/**/*.py"), ROOT / "train.py", ROOT / "evaluate.py"]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, f"{path}:{node.lineno}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                loads = (node.value.id, node.attr) == ("torch", "load")
                assert not loads or path.name == "sb3_file.py", f"{path}:{node.lineno}"  # with --trust, tensors alone
                assert node.value.id != "yaml" or node.attr in ("safe_load", "YAMLError"), f"{path}:{node.lineno}"
            assert not (isinstance(node, ast.ImportFrom) and node.module == "yaml"), f"{path}:{node.lineno}"
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not modules & {name.partition(".")[0] for name in names}, f"{path}:{node.lineno}"


# --- long ---


@pytest.mark.slow
def test_a_long_run_stays_finite_with_all_checks_on(tmp_path):
    """200,000 decisions with torch's argument checks: no simplex or NaN error, logits finite at every save."""
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(True)
    try:
        config = tiny(
            tmp_path / "run", total_timesteps=200_000, num_envs=256, n_steps=16, net_arch=[64, 64], batch_size=1024
        )
        trainer = start_run(dataclasses.replace(config, checkpoint_every=5, evaluate_every=50, snapshot_every=5), quiet)
        save = trainer.save

        def checked(seconds):
            assert all(bool(torch.isfinite(p).all()) for p in trainer.model.policy.parameters())
            save(seconds)

        trainer.save = checked  # type: ignore[method-assign]
        trainer.run()
    finally:
        torch.distributions.Distribution.set_default_validate_args(before)
    assert trainer.curve[-1].chips["random"].mean - trainer.curve[-1].chips["random"].half_width > 3
