"""Digests of agents cover what is really loaded, and nothing that only looks like it."""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from auction_env.agents import plugins, ppo
from auction_env.agents.digests import content_digest

from auction_env import agents

NAMES = ["a=b", "a,b", "what?", "a?b?c", "a;b", "(a)", "[a]", "C:a", "a b", "a:b", "é", "x?greedy"]


def policy(folder: Path, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ppo.MODEL_FILE).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["ppo:{}", "ppo:{}/model.safetensors", "ppo:{}?greedy", "ppo:{}?temperature=0.5"])
@pytest.mark.parametrize(
    "around", ["{}", "mix:0.2:random:({})", "mix:0.2:({}):random", "mix:0.1:(mix:0.5:({}):rules):random"]
)
def test_every_path_that_is_loaded_is_digested(tmp_path, name, form, around):
    folder = policy(tmp_path / name, b"one")
    spec = around.format(form.format(folder))
    assert agents.files(spec) == [folder / ppo.MODEL_FILE]
    first = content_digest(spec)
    policy(folder, b"two")
    assert first and content_digest(spec) not in ("", first)


def test_the_policy_of_a_search_is_digested(tmp_path):
    folder = policy(tmp_path / "a;b=c", b"one")
    assert agents.files(f"montecarlo:rollouts=5,policy=ppo:{folder}") == [folder / ppo.MODEL_FILE]


def test_what_is_digested_is_what_is_asked_for(tmp_path, monkeypatch):
    """The file that ppo is told to load is the one that was digested, whatever the text looks like."""
    loaded: list[Path] = []
    monkeypatch.setattr(ppo, "play_policy", lambda file, *rest: loaded.append(file))
    for name in NAMES:
        folder = policy(tmp_path / name, b"x")
        for option in ("", "?greedy", "?temperature=1"):
            ppo.make_agent(f"{folder}{option}", None, None, 0)
            assert loaded.pop() == agents.files(f"ppo:{folder}{option}")[0] == folder / ppo.MODEL_FILE


def test_files_of_the_working_folder_change_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    specs = [
        "random",
        "rules:tight",
        "montecarlo:rollouts=20,policy=random",
        "mix:0.2:random:rules",
        "ppo:missing",
        "nobody",
    ]
    assert [content_digest(spec) for spec in specs] == [""] * len(specs)
    for name in ("random", "rules", "tight", "0.2", "rollouts", "20", "mix", "nobody", "policy"):
        (tmp_path / name).write_text("not loaded")
    assert [content_digest(spec) for spec in specs] == [""] * len(specs)
    os.mkfifo(tmp_path / "pipe")
    assert content_digest("ppo:pipe") == "", "a pipe is not waited for"


BOT = "raise SystemExit('a digest runs no code')\n"


def test_plugins_are_their_source(tmp_path, monkeypatch):
    package = tmp_path / "their_digest_bots"
    (package / "deep").mkdir(parents=True)
    for path in (
        package / "__init__.py",
        package / "bot.py",
        package / "deep" / "net.py",
        tmp_path / "their_single.py",
    ):
        path.write_text(BOT)
    monkeypatch.syspath_prepend(str(tmp_path))
    brought = [EntryPoint("theirs", "their_digest_bots.bot:Bot", plugins.GROUP)]
    monkeypatch.setattr(plugins, "installed", lambda group: brought)
    specs = ["their_digest_bots.bot:Bot", "their_digest_bots.bot:Bot:argument", "theirs", "theirs:argument"]
    before = {spec: content_digest(spec) for spec in specs}
    single = content_digest("their_single:Bot"), content_digest(f"{tmp_path}/their_single.py:Bot")
    assert all(before.values()) and len(set(before.values())) == 1 and all(single)
    (package / "deep" / "net.py").write_text(BOT + "# other weights")
    assert not set(before.values()) & {content_digest(spec) for spec in specs}
    (tmp_path / "their_single.py").write_text(BOT + "# changed")
    assert content_digest("their_single:Bot") != single[0]
    assert content_digest(f"{tmp_path}/their_single.py:Bot") != single[1]
    assert content_digest("no_such_module:Bot") == "" and "their_single" not in sys.modules


def test_the_file_that_a_plugin_is_given_counts(tmp_path):
    bot, weights = tmp_path / "bot.py", tmp_path / "weights=1.npz"
    bot.write_text(BOT)
    weights.write_bytes(b"one")
    spec = f"{bot}:make:{weights}"
    first = content_digest(spec)
    weights.write_bytes(b"two")
    assert first != content_digest(spec) != content_digest(f"{bot}:make")
