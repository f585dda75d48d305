"""Training configs: every key documented, every mistake named."""

from __future__ import annotations

import dataclasses
import os
import re

import pytest
from auction_env.agents.learning.config import Config, ConfigError, documentation, load_config, make_config
from tiny_run import ROOT

from auction_env.games import get_game
from auction_env.games.game import SettingsError

# --- configs ---


def test_every_key_is_documented_and_the_default_config_uses_known_ones():
    text = documentation()
    for field in dataclasses.fields(Config):
        assert f"{field.name} = " in text and field.metadata["meaning"] in text
    for path in sorted([*(ROOT / "configs").glob("*.toml"), *(ROOT / "configs" / "agents").glob("*.toml")]):
        load_config(path)


@pytest.mark.parametrize(
    ("overrides", "error", "message"),
    [
        (["ent_coeff=0.1"], ConfigError, "no config key 'ent_coeff': did you mean 'ent_coef'"),
        (["settings.num_player=4"], SettingsError, "did you mean 'num_players'"),
        (["settings.num_players=8"], SettingsError, "num_players is 8"),
        (["total_timesteps=many"], ConfigError, "total_timesteps is 'many': it must be an integer"),
        (["total_timesteps=0"], ConfigError, "total_timesteps is 0: it must be from 1"),
        (["ent_coef=true"], ConfigError, "ent_coef is True: it must be a number"),
        (["net_arch=64"], ConfigError, "net_arch is 64: it must be a list of integers"),
        (["net_arch=[0]"], ConfigError, "sizes of layers"),
        (["batch_size=1"], ConfigError, "batch_size is 1: it must be from 2"),
        (["num_envs=13", "n_steps=5", "batch_size=66"], ConfigError, "batch_size is 66, more than the 65 decisions"),
        (["network=rnn"], ConfigError, "network is 'rnn': it must be one of cards, mlp"),
        (["net_arch=[]"], ConfigError, "net_arch is empty"),
        (["select_by=montecarlo"], ConfigError, "select_by is 'montecarlo': it must be one of eval_opponents"),
        (["seats=[2, 3]", "num_envs=1", "n_steps=2000"], ConfigError, "there must be a table for each of seats"),
        (["engine=rays"], ConfigError, "engine is 'rays': it must be one of local, ray"),
        (["workers=2"], ConfigError, 'workers is 2: it needs engine = "ray"'),
        (["engine=ray", "kl_coef=0.1"], ConfigError, 'kl_coef is 0.1: it needs engine = "local"'),
        (["engine=ray", "label_decisions=9"], ConfigError, 'label_decisions is 9: it needs engine = "local"'),
        (["engine=ray", "oracle_critic=true"], ConfigError, 'oracle_critic is True: it needs engine = "local"'),
        (["engine=ray", "workers=5", "num_envs=4", "n_steps=900"], ConfigError, "num_envs is 4, too few for 5 workers"),
        (["run=runs/good?"], ConfigError, "run is 'runs/good?'"),
        (["run=runs/caf\udce9"], ConfigError, "in UTF-8"),  # as Python reads a name in another encoding
        (["settings=5"], ConfigError, "settings is 5: it must be a table of keys"),
        (["run="], ConfigError, "run is ''"),
        (["game=chess"], ValueError, "no game 'chess'"),
        (["ent_coef"], ConfigError, "write key=value"),
        (["ppo.ent_coef=1"], ConfigError, "no config key 'ppo.ent_coef'"),
        (["run=__import__('os').system('touch /tmp/owned')", "seed=__import__('os')"], ConfigError, "seed is"),
    ],
)
def test_bad_overrides_are_named(overrides, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make_config({}, overrides)


def test_overrides_reach_their_keys(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('ent_coef = 0.2\n[settings]\nnum_players = 4\nfinal_carry = "keep"\n')
    config = load_config(path, ["settings.num_players=5", "run=runs/x y", "net_arch=[8, 9]", "learning_rate=1"])
    assert (
        config.ent_coef == 0.2
        and config.learning_rate == 1.0
        and config.run == "runs/x y"
        and config.net_arch == [8, 9]
    )
    assert config.settings == {"num_players": 5, "final_carry": "keep"}
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")
    path.write_text("ent_coef = = 1")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_config(path)


def test_the_keys_that_are_printed_are_a_config(tmp_path):
    (tmp_path / "all.toml").write_text(documentation(), encoding="utf-8")
    assert load_config(tmp_path / "all.toml") == Config()


def test_whole_numbers_may_have_an_exponent(tmp_path):
    (tmp_path / "c.toml").write_bytes(b"\xef\xbb\xbftotal_timesteps = 2e6\r\n[settings]\r\nstarting_chips = 1e3\r\n")
    config = load_config(tmp_path / "c.toml", ["final_deals=1e4", "settings.num_deals = 2e3", "label_coef=2"])
    assert (config.total_timesteps, config.final_deals, config.label_coef) == (2_000_000, 10_000, 2.0)
    assert config.settings == {"starting_chips": 1000, "num_deals": 2000}
    assert all(isinstance(value, int) for value in [config.total_timesteps, *config.settings.values()])
    for text in ("1.5e3x", "0.5", "1.5", "1e30", "nan", "inf"):
        with pytest.raises(ConfigError, match="total_timesteps is"):
            make_config({}, [f"total_timesteps={text}"])


@pytest.mark.parametrize("kind", ["deep", "large", "pipe", "folder", "not text", "dotted"])
def test_a_config_that_is_none_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "c.toml"
    made = {"deep": b"a = " + b"[" * 100_000, "not text": b"\xff\xfe", "dotted": b".".join([b"a"] * 9999) + b" = 1"}
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(made.get(kind, b""))
        if kind == "large":
            os.truncate(path, 1 << 40)
    with pytest.raises(ConfigError, match=f"config {re.escape(str(path))} ") as caught:
        load_config(path)
    assert len(str(caught.value)) < len(str(path)) + 400


def test_hostile_overrides_are_refused_in_a_few_words():
    for override in (
        "settings=" + "[" * 100_000,
        "seats=" + "[" * 60_000,
        "x" * 10**6,
        "y" * 10**6 + "=1",
        "seed=" + "z" * 9999,
    ):
        with pytest.raises(ConfigError) as caught:
            make_config({}, [override])
        assert len(str(caught.value)) < 2500


def test_numbers_of_seats_make_tables_of_each():
    config = make_config({"seats": [2, 5]}, [])
    game, settings = config.resolve()
    assert [one.num_players for one in config.tables(game, settings)] == [2, 5]
    twice = make_config({"seats": [2, 2]}, [])
    with pytest.raises(ConfigError, match="each number may stand once"):
        twice.tables(game, settings)


def test_a_game_without_features_needs_the_flat_observation():
    import kuhn

    with pytest.raises(ConfigError, match="kuhn defines no features"):
        Config(game="kuhn").resolve(get_game(kuhn))


def test_workers_share_the_tables_evenly():
    config = make_config({}, ["engine=ray", "num_envs=11", "n_steps=100"])
    assert config.tables_of(3) == [3, 4, 4] and config.tables_of(1) == [11]
    with pytest.raises(ConfigError, match=r"each needs a table for each of seats, \[2, 3\]"):
        make_config({}, ["engine=ray", "num_envs=11", "n_steps=100", "seats=[2, 3]", "workers=6"])
