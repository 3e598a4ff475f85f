"""The `turkic-idiom` command. Heavy packages are imported by the handlers, so that --help answers at once."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
from collections.abc import Sequence

from turkic_idiom_tasks import __version__
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.experiments.grid_cli import add_grid_parser, positive_number

DEFAULT_OUTPUT = "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code: 0 done, 1 failed, 2 wrong usage."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")  # the bars of all libraries
    options = build_parser().parse_args(arguments)
    gc.set_threshold(100_000, 20, 20)  # the default spends seconds of the imports on looking for cycles
    try:
        return int(options.handler(options))
    except InputError as error:
        sys.stderr.write(f"turkic-idiom: error: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("turkic-idiom: interrupted; run the same command again to continue\n")
        return 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of every subcommand; each sets `handler`."""
    from hub_datasets.cli import add_parser as add_dataset_parser
    from leaderboard.cli import add_parser as add_leaderboard_parser
    from leaderboard.cli import add_submit_parser
    from turkic_idiom_tasks.experiments.cli import add_compare_parser, add_finetune_parser

    parser = argparse.ArgumentParser(prog="turkic-idiom", description="Idiom understanding in Turkic languages.")
    parser.add_argument("--version", action="version", version=f"turkic-idiom-tasks {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_list(commands)
    doctor = commands.add_parser(
        "doctor", help="say what is registered with which harness, and what to do when it isn't"
    )
    doctor.set_defaults(handler=_doctor)
    path = commands.add_parser("lm-eval-path", help="print the folder of the span tasks, for lm-eval's --include_path")
    path.set_defaults(handler=_lm_eval_path)
    add_finetune_parser(commands)
    add_grid_parser(commands)
    add_compare_parser(commands)
    add_dataset_parser(commands)
    add_submit_parser(commands)
    add_leaderboard_parser(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="score models on the retrieval tasks",
        description="Score models on the retrieval tasks; all tasks and poolings of a model come from one pass.",
        epilog="Example: turkic-idiom run -m turkic-idiom/char-ngrams -m FacebookAI/xlm-roberta-base --pooling all",
    )
    _add_what_to_run(parser)
    _add_how_to_run(parser)
    parser.set_defaults(handler=_run)


def _add_what_to_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        required=True,
        dest="models",
        metavar="MODEL",
        help="mteb or Hugging Face name, or a local checkpoint; may be repeated",
    )
    parser.add_argument(
        "-t",
        "--task",
        action="append",
        dest="tasks",
        metavar="TASK",
        help="T1, T2, T3 or the full name; may be repeated (default: all)",
    )
    parser.add_argument(
        "-l",
        "--language",
        action="append",
        dest="languages",
        metavar="LANG",
        help="only subsets with this language (tr, az, tk, gag, uz); may be repeated",
    )
    parser.add_argument(
        "--pooling",
        action="append",
        metavar="POOLING",
        help="cls, mean, max, first_last, last_four, or all; may be repeated (default: the model's own)",
    )
    parser.add_argument(
        "--data",
        metavar="DATA",
        help="lexicon directory, or dataset in the Hub layout (directory, or ORG/NAME[@REVISION]); "
        "default: $TURKIC_IDIOM_DATA, otherwise the bundled lexicon",
    )


def _add_how_to_run(parser: argparse.ArgumentParser) -> None:
    default = "default: %(default)s"
    parser.add_argument("-o", "--output", default=DEFAULT_OUTPUT, metavar="DIR", help=default)
    parser.add_argument("--overwrite", action="store_true", help="compute finished results again")
    parser.add_argument(
        "--format", choices=("table", "csv", "json"), default="table", help=f"of the output ({default})"
    )
    parser.add_argument("--revision", help="revision of the model on the Hub")
    parser.add_argument("--backend", choices=("torch", "openvino"), default="torch", help=default)
    parser.add_argument("--device", help="cpu, cuda, cuda:1, mps (default: the best there is)")
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32", help=default)
    parser.add_argument("--batch-size", type=positive_number, default=32, metavar="N", help=default)
    parser.add_argument(
        "--first-layer",
        type=int,
        choices=(0, 1),
        default=1,
        help=f"first layer of first_last: 1, the first transformer layer, or 0, the embeddings ({default})",
    )
    parser.add_argument(
        "--top-k",
        type=positive_number,
        metavar="K",
        help="documents per query in the ranking files (default: the whole pool, from which every score can be "
        "recomputed exactly)",
    )


def _add_list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("list", help="list tasks, subsets and registered models")
    parser.add_argument("--data", metavar="DATA", help="as in `turkic-idiom run`")
    parser.set_defaults(handler=_list)


def _run(options: argparse.Namespace) -> int:
    _use_data(options.data)
    from turkic_idiom_tasks.retrieval.suite import RunOptions, run_suite
    from turkic_idiom_tasks.retrieval.table import render

    run_options = RunOptions.from_arguments(options)
    runs = run_suite(options.models, run_options)
    sys.stdout.write(render(runs, style=options.format))
    if options.format == "table":
        folders = "\n".join(f"  {folder}" for folder in dict.fromkeys(str(run.folder) for run in runs))
        sys.stdout.write(f"\nResult files (mteb's format) and rankings:\n{folders}\n")
    gc.freeze()  # or the interpreter would look through all of it once more before it ends
    return 0


def _list(options: argparse.Namespace) -> int:
    _use_data(options.data)
    from turkic_idiom_tasks.encoders.registry import model_metas
    from turkic_idiom_tasks.retrieval.relevance import TASKS
    from turkic_idiom_tasks.retrieval.source import current_source

    source = current_source()
    print(f"data: {source.path} (revision {source.revision})\n")  # noqa: T201
    for short, task in TASKS.items():
        for subset in source.subsets(short):
            data = source.load(short, subset)
            sizes = f"{len(data.queries):5d} queries {len(data.documents):6d} documents"
            print(f"{task.name}  {subset:8s}{sizes}")  # noqa: T201
    print("\nmodels (besides every model that mteb or Hugging Face has):")  # noqa: T201
    for meta in model_metas():
        print(f"  {meta.name}")  # noqa: T201
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.startup.doctor import diagnose

    report = diagnose()
    sys.stdout.write("".join(f"{line}\n" for line in report.lines))
    return 0 if report.healthy else 1


def _lm_eval_path(options: argparse.Namespace) -> int:
    from turkic_idiom_tasks.startup.lm_eval_plugin import TASK_FOLDER

    print(TASK_FOLDER)  # noqa: T201
    return 0


def _use_data(data: str | None) -> None:
    """Makes `data` the data of every task in this process, and fails now rather than later if it cannot be used."""
    from turkic_idiom_tasks.lexicon.sources import use_data
    from turkic_idiom_tasks.retrieval.source import current_source

    use_data(data)
    current_source()
