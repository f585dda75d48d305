"""What the subcommands of ``evaluate`` do: each takes its options and gives the exit status."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from auction_env.cli import lineup
from auction_env.cli.arguments import check_seats
from auction_env.core.extras import require
from auction_env.core.files import check_folder, write_file, write_json
from auction_env.core.terminal import show

EVERY_DEAL = 1 << 60
REPORT_DEALS = 20_000  # that behaviour is read from, at most, rounded up to parts
TIMESTEPS = 2_000_000  # of a best response's learner, if it is told nothing else


def match(options: Namespace) -> int:
    """A match, and what was asked for besides: luck taken out, or a report."""
    from auction_env.evaluation.runner import MatchConfig, play

    if options.report:
        require("evaluate", "matplotlib")
    check_seats(options.agents)
    game, settings = lineup.table(options, options.agents, len(options.agents))
    kept = _kept_records(options)
    config = MatchConfig(
        game,
        settings,
        tuple(options.agents),
        options.deals,
        lineup.maker(),
        options.seed,
        contents=lineup.contents_of(options.agents),
        seatings=options.seatings,
        part_tables=options.part,
        time_limit=options.time_limit,
        notes=_notes(options),
        noted_deals=EVERY_DEAL if options.aivat else kept or REPORT_DEALS,
    )
    with lineup.deals_bar() as progress:
        played = play(
            config,
            workers=lineup.workers(options),
            state=options.checkpoint_dir,
            progress=progress,
        )
    summary, texts = played.result.summary(), [played.result.text()]
    if options.aivat:
        from auction_env.agents.aivat import adjust, text

        estimates = adjust(played.result, played.notes["luck"])
        summary["luck_taken_out"] = [one.summary() for one in estimates]
        texts.append(text(estimates))
    _write_json(options, summary)
    if options.report:
        from auction_env.evaluation.report import report

        write_file(options.report, report(game, settings, played.result, played.notes))
        texts.append(f"report: {options.report}")
    if kept:
        from auction_env.evaluation.histories import histories, write_histories

        records = histories(config.schedule, options.agents, played.notes["actions"], kept)
        write_histories(Path(options.records[1]), records)
        texts.append(f"records: {len(records)} in {options.records[1]}")
    show("\n".join(texts))
    return 0


def _notes(options: Namespace) -> Any:
    """What watches the match, if anything does."""
    if options.aivat:
        from auction_env.agents.aivat import AivatRecorder

        return AivatRecorder
    if options.report:
        from auction_env.evaluation.statistics import StatisticsRecorder

        return StatisticsRecorder
    if options.records:
        from auction_env.evaluation.histories import ActionRecorder

        return ActionRecorder
    return None


def _kept_records(options: Namespace) -> int:
    """How many tables are kept as records. Raises ValueError unless the number makes sense and the folder is one."""
    from auction_env.evaluation.histories import MAX_RECORDS

    if not options.records:
        return 0
    text = str(options.records[0])
    if not text.isdecimal() or not 1 <= int(text) <= MAX_RECORDS:
        raise ValueError(f"--records {text}: give a number from 1 to {MAX_RECORDS}, and a folder")
    check_folder(Path(options.records[1]), "--records")
    return int(text)


def round_robin(options: Namespace) -> int:
    """All line-ups of some agents, with ratings."""
    require("evaluate", "openskill")
    from auction_env.evaluation import ratings

    game, settings = lineup.table(options, options.agents, options.seats)
    with lineup.deals_bar() as progress:
        played = ratings.round_robin(
            game,
            settings,
            options.agents,
            options.deals,
            lineup.maker(),
            options.seed,
            contents=lineup.contents_of(options.agents),
            state=options.checkpoint_dir,
            workers=lineup.workers(options),
            progress=progress,
            seatings=options.seatings,
            part_tables=options.part,
            time_limit=options.time_limit,
        )
    rated = ratings.rate(played)
    _write_json(options, played.summary(rated))
    show(played.text(rated))
    return 0


def best_response(options: Namespace) -> int:
    """A learner trained against copies of one agent, and measured."""
    from auction_env.agents.learning.config import make_config

    wrong = [text for text in options.overrides if "=" not in text]
    if wrong:
        raise ValueError(f"best-response takes one agent, and keys of the learner as key=value: not {wrong[0]!r}")
    values = {
        **lineup.table_of([options.agent], options.game),
        "seed": options.seed,
        "total_timesteps": TIMESTEPS,
        "warm_start": "rules",
        "run": str(options.checkpoint_dir or "best response"),
    }
    config = make_config(values, [*lineup.overrides(options, options.seats), *options.overrides])
    game, settings = config.resolve()
    require("train")
    from auction_env.agents.learning import best_response as responses

    frozen = lineup.maker()(options.agent, game, settings, options.seed)
    result = responses.best_response(game, settings, frozen, config, options.deals, options.checkpoint_dir)
    _write_json(options, result.summary())
    show(result.text())
    return 0


def benchmark(options: Namespace) -> int:
    """Agents at one standing benchmark."""
    from auction_env import agents
    from auction_env.evaluation.benchmarks import available, load_task, play_board

    if options.task == "list":
        show("\n".join(available()))
        return 0
    if not options.agents:
        raise ValueError(f"name the agents to measure: {options.program} benchmark {options.task} random")
    task = load_task(options.task)
    agents.check_trust(f"task {options.task}", task.opponents, options.trust)
    with lineup.deals_bar() as progress:
        board = play_board(
            task,
            options.agents,
            lineup.maker(),
            lineup.digester(),
            workers=lineup.workers(options),
            state=options.checkpoint_dir,
            progress=progress,
        )
    if board.skipped:
        raise ValueError(next(iter(board.skipped.values())))
    results = [result.summary() for result in board.results]
    _write_json(options, results[0] if len(results) == 1 else results)
    show(board.text(), end="")
    return 0


def leaderboard(options: Namespace) -> int:
    """All agents at all standing benchmarks, as a page."""
    from auction_env import agents
    from auction_env.evaluation import benchmarks

    shipped = [name for name in agents.available() if name not in options.without]
    entries = benchmarks.shipped_entries(shipped, options.agents)
    boards = []
    for name in benchmarks.available():
        show(name, file=sys.stderr)
        with lineup.deals_bar() as progress:
            boards.append(
                benchmarks.play_board(
                    benchmarks.load_task(name),
                    entries,
                    lineup.maker(),
                    lineup.digester(),
                    workers=lineup.workers(options),
                    state=options.checkpoint_dir,
                    progress=progress,
                )
            )
        boards[-1].skipped.update(dict.fromkeys(options.without, "left out of this run by `--without`"))
    line = " ".join([*options.agents, *(f"--without {name}" for name in options.without)])
    write_file(options.output, benchmarks.leaderboard(boards, f"make leaderboard AGENTS='{line}'"))
    show(f"wrote {options.output}")
    return 0


def compare(options: Namespace) -> int:
    """Stored results of one task: the first with each of the others."""
    from auction_env.evaluation import results

    stored = [result for path in options.files for result in results.load_results(path)]
    if len(stored) < 2:
        raise ValueError(
            f"there is one result in {', '.join(options.files)}: name two files, or one that "
            "'benchmark TASK AGENT AGENT --json FILE' wrote"
        )
    texts = [results.compare(stored[0], other).text() for other in stored[1:]]
    show("\n\n".join(texts))
    return 0


def _write_json(options: Namespace, content: Any) -> None:
    if options.json:
        write_json(options.json, content)
