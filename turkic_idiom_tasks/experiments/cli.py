"""``turkic-idiom finetune``: arguments and output. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

from turkic_idiom_tasks.errors import usage_error


def add_finetune_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `finetune` and its subcommands."""
    parser = subparsers.add_parser("finetune", help="fine-tune encoders")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_span(commands)


def _add_span(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "span",
        help="fine-tune token classifiers for idiom spans",
        description="Fine-tune on one language with every seed, test there and on every other language (zero-shot); "
        "with --grid, adapt the checkpoints to the other languages with growing samples. Finished cells are kept: the "
        "same command goes on after an interruption. Defaults are the paper's.",
        epilog="Example: turkic-idiom finetune span -m FacebookAI/xlm-roberta-base --out spans --grid",
    )
    default = "default: %(default)s"
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        required=True,
        dest="models",
        metavar="MODEL",
        help="encoder on the Hub, or a folder; may be repeated",
    )
    parser.add_argument("-o", "--out", type=Path, default=Path("span-results"), metavar="DIR", help=default)
    parser.add_argument("--data", metavar="DATA", help="as in `turkic-idiom run`")
    parser.add_argument("--language", default="tr", metavar="LANG", help=f"to train on ({default})")
    parser.add_argument(
        "--target",
        action="append",
        dest="targets",
        metavar="LANG",
        help="other language to test on; may be repeated (default: all that the data has)",
    )
    parser.add_argument("--grid", action="store_true", help="also adapt to every target language")
    parser.add_argument(
        "--size",
        action="append",
        type=int,
        dest="sizes",
        metavar="N",
        help="training sentences to adapt with, besides all; may be repeated (default: 10 30 50)",
    )
    parser.add_argument(
        "--seed", action="append", type=int, dest="seeds", metavar="N", help="may be repeated (default: 42 43 44)"
    )
    _add_training(parser)
    parser.set_defaults(handler=_span)


def _add_training(parser: argparse.ArgumentParser) -> None:
    default = "default: %(default)s"
    parser.add_argument("--epochs", type=int, default=5, metavar="N", help=default)
    parser.add_argument("--batch-size", type=int, default=8, metavar="N", help=f"per device ({default})")
    parser.add_argument("--learning-rate", type=float, default=5e-5, metavar="X", help=default)
    parser.add_argument("--weight-decay", type=float, default=0.01, metavar="X", help=default)
    parser.add_argument(
        "--labelling",
        choices=("all", "first"),
        default="all",
        help=f"pieces of a word that carry its label ({default})",
    )
    parser.add_argument(
        "--max-length", type=int, metavar="N", help="pieces of a training sentence (default: the model's)"
    )
    parser.add_argument("--bf16", action="store_true", help="train in bfloat16 autocast")
    parser.add_argument("--pad-to-max", action="store_true", help="pad every batch to --max-length")
    parser.add_argument("--group-by-length", action="store_true", help="sentences of like length in a batch")


def _span(options: argparse.Namespace) -> int:
    if options.data is not None:
        from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE

        os.environ[DATA_VARIABLE] = options.data
    from turkic_idiom_tasks.experiments.span_grid import (
        SIZES,
        SpanGrid,
        is_first_process,
        read_results,
        run_grid,
        source_first,
    )
    from turkic_idiom_tasks.experiments.span_tables import span_tables, write_tables
    from turkic_idiom_tasks.finetuning.span import SEEDS, SpanConfig
    from turkic_idiom_tasks.span_detection.sentences import current_spans

    logging.getLogger("turkic_idiom_tasks").setLevel(logging.INFO)
    if any(size < 1 for size in options.sizes or ()):
        raise usage_error(f"--size must be at least 1, not {min(options.sizes)}")
    source = current_spans()
    languages = source_first(source.languages, options.language)
    wanted = languages[1:] if options.targets is None else _known(options.targets, languages[1:])
    names = ("epochs", "batch_size", "learning_rate", "weight_decay", "labelling", "max_length")
    flags = ("bf16", "pad_to_max", "group_by_length")
    grid = SpanGrid(
        models=tuple(dict.fromkeys(options.models)),
        output=options.out,
        source=source,
        languages=(languages[0], *wanted),
        sizes=tuple(sorted(set(options.sizes or SIZES))),
        seeds=tuple(dict.fromkeys(options.seeds or SEEDS)),
        adapts=options.grid,
        config=SpanConfig(**{name: getattr(options, name) for name in (*names, *flags)}),
    )
    failed = run_grid(grid)
    if not is_first_process():
        return 1 if failed else 0
    tables = span_tables(read_results(grid))
    write_tables(tables, options.out / "tables")
    shown = tables[:4] if options.grid else tables[:2]
    sys.stdout.write("\n".join(table.to_markdown() for table in shown if table.rows))
    sys.stdout.write(f"\nTables: {options.out / 'tables'}\nCheckpoints: {options.out / 'checkpoints'}\n")
    for model, error in failed.items():
        sys.stderr.write(f"turkic-idiom: {model} failed: {error}\n")
    return 1 if failed else 0


def _known(asked: list[str], languages: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [code for code in asked if code not in languages]
    if unknown:
        raise usage_error(
            f"--target {unknown[0]}: the data has no annotated test sentence in it; known: {', '.join(languages)}"
        )
    return tuple(dict.fromkeys(asked))
