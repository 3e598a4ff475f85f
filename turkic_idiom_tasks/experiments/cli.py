"""``turkic-idiom finetune`` and ``compare``: arguments and output. Heavy packages are imported by the handlers."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.hub_client import check_login
from turkic_idiom_tasks.hub_upload import MODEL, Target, folder_files, publish
from turkic_idiom_tasks.lexicon.sources import use_data


def add_finetune_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `finetune` and its subcommands."""
    parser = subparsers.add_parser("finetune", help="fine-tune encoders")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_span(commands)
    _add_retrieval(commands)


def add_compare_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `compare`."""
    parser = subparsers.add_parser(
        "compare",
        help="test whether one result is better than another",
        description="Compare two results query by query (retrieval) or sentence by sentence (spans): difference with "
        "its interval, effect size, and tests. Both must be of the same data.",
        epilog="Example: turkic-idiom compare results/results/turkic-idiom__char-ngrams results/results/my__model",
    )
    parser.add_argument("a", metavar="A", type=Path, help="result file, or the folder of one model")
    parser.add_argument("b", metavar="B", type=Path, help="the result that may be better")
    parser.add_argument(
        "-t",
        "--task",
        action="append",
        dest="tasks",
        metavar="TASK",
        help="T1, T2, T3, the full name, or spans; may be repeated (default: all)",
    )
    parser.add_argument("--data", metavar="DATA", help="the data that was scored, as in `turkic-idiom run`")
    parser.add_argument(
        "--format", choices=("table", "csv", "json"), default="table", help="of the output (default: %(default)s)"
    )
    parser.set_defaults(handler=_compare)


def _compare(options: argparse.Namespace) -> int:
    use_data(options.data)
    from turkic_idiom_tasks.experiments.compare import compare_results, render

    report = compare_results(options.a, options.b, tasks=options.tasks or ())
    sys.stdout.write(render(report, style=options.format))
    return 0


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
    _add_push(parser, "one model only; with several seeds each checkpoint goes to ORG/NAME-SEED")
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


def _add_retrieval(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "retrieval",
        help="fine-tune an encoder on idioms and their meanings",
        description="Fine-tune on the training concepts in one of the paper's regimes and save the weights that are "
        "best on the development concepts, the untuned ones among them. Defaults are the paper's. Under torchrun it "
        "uses every GPU.",
        epilog="Example: turkic-idiom finetune retrieval -m FacebookAI/xlm-roberta-base --regime monolingual "
        "--language uz --out xlmr-uz && turkic-idiom run -m ./xlmr-uz",
    )
    parser.add_argument(
        "-m", "--model", required=True, metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint"
    )
    parser.add_argument(
        "--regime",
        required=True,
        metavar="REGIME",
        help="tr-only (Turkish idioms and meanings), monolingual (those of --language) or cross-lingual (Turkish "
        "idioms, meanings in --language, or in all other languages)",
    )
    parser.add_argument("--language", metavar="LANG", help="of the meanings: tr, az, tk, gag or uz")
    parser.add_argument(
        "--pooling",
        metavar="POOLING",
        help="cls, mean, max, first_last or last_four (default: the model's own, mean for a plain encoder)",
    )
    parser.add_argument(
        "-o", "--out", type=Path, metavar="DIR", help="of the saved model (default: tuned/MODEL-REGIME-…-SEED)"
    )
    parser.add_argument("--data", metavar="DATA", help="lexicon directory (default: as in `turkic-idiom run`)")
    parser.add_argument("--revision", help="revision of the model on the Hub")
    _add_retrieval_training(parser)
    _add_push(parser, "the saved model")
    parser.set_defaults(handler=_retrieval)


def _add_push(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--push", metavar="ORG/NAME", help=f"publish the outcome as a model on the Hub: {what}")


def _add_retrieval_training(parser: argparse.ArgumentParser) -> None:
    default = "default: %(default)s"
    parser.add_argument("--seed", type=int, default=42, metavar="N", help=default)
    parser.add_argument("--epochs", type=int, default=1, metavar="N", help=default)
    parser.add_argument("--batch-size", type=int, default=16, metavar="N", help=f"pairs per device ({default})")
    parser.add_argument("--learning-rate", type=float, default=2e-5, metavar="X", help=default)
    parser.add_argument("--weight-decay", type=float, default=0.01, metavar="X", help=default)
    parser.add_argument(
        "--loss",
        choices=("mnrl", "cosine"),
        help="default: mnrl for sentence-transformers models, cosine for plain encoders",
    )
    parser.add_argument(
        "--negatives",
        type=int,
        default=1,
        metavar="N",
        help=f"wrong meanings per pair for the cosine loss; 0 is the paper to the letter, and collapses ({default})",
    )
    parser.add_argument("--evaluations", type=int, default=4, metavar="N", help=f"per epoch ({default})")
    parser.add_argument(
        "--patience",
        type=int,
        default=3,
        metavar="N",
        help=f"evaluations without a new best before it stops ({default})",
    )
    parser.add_argument("--cached", action="store_true", help="mnrl with large batches in the memory of --mini-batch")
    parser.add_argument("--mini-batch", type=int, default=32, metavar="N", help=f"pairs at a time ({default})")
    parser.add_argument("--bf16", action="store_true", help="train in bfloat16 autocast")
    parser.add_argument("--gradient-checkpointing", action="store_true", help="less memory, a third more time")
    parser.add_argument(
        "--lora", type=int, nargs="?", const=16, default=0, metavar="RANK", help="train low-rank adapters (16 if bare)"
    )


def _retrieval(options: argparse.Namespace) -> int:
    use_data(options.data)
    from dataclasses import fields

    from turkic_idiom_tasks.finetuning.processes import is_first_process
    from turkic_idiom_tasks.finetuning.regimes import build_regime
    from turkic_idiom_tasks.finetuning.retrieval import RetrievalConfig, fine_tune_retrieval
    from turkic_idiom_tasks.finetuning.retrieval_card import check_new, save_tuned, tuning_record
    from turkic_idiom_tasks.finetuning.trainee import load_trainee
    from turkic_idiom_tasks.lexicon.entries import Lexicon
    from turkic_idiom_tasks.lexicon.sources import asked_data, open_data

    logging.getLogger("turkic_idiom_tasks").setLevel(logging.INFO if is_first_process() else logging.ERROR)
    config = RetrievalConfig(**{field.name: getattr(options, field.name) for field in fields(RetrievalConfig)})
    path, lexicon = open_data(asked_data())
    if not isinstance(lexicon, Lexicon):
        raise usage_error(f"{path}: this layout holds only the test queries; give --data a lexicon directory")
    data = build_regime(lexicon, options.regime, language=options.language)
    folder = options.out or _tuned_folder(options)
    check_new(folder)
    target = _push_target(options.push, models=[options.model])
    trainee = load_trainee(options.model, task=data.task, pooling=options.pooling, revision=options.revision)
    tuned = fine_tune_retrieval(trainee, data, config=config)
    if not is_first_process():
        return 0
    record = tuning_record(trainee, data, tuned, config=config, path=path, revision=lexicon.revision)
    save_tuned(tuned, folder, record)
    dropped = data.dropped_for_test + data.dropped_for_development
    sys.stdout.write(
        f"{data.regime}, {' '.join(data.languages)}: {len(data.pairs)} training pairs, {data.n_development} "
        f"development queries; {dropped} pairs left out, whose texts test or development concepts have\n"
        f"development nDCG untuned {tuned.untuned.ndcg:.4f}\n"
        f"development nDCG tuned   {f'{tuned.tuned.ndcg:.4f}' if tuned.tuned else 'undefined'}\n"
        f"{tuned.verdict}\n\nModel: {folder}\nScore it: turkic-idiom run -m {folder}\n"
    )
    if target:
        _push(folder, target)
    return 0


def _tuned_folder(options: argparse.Namespace) -> Path:
    """``tuned/MODEL-REGIME[-LANGUAGE][-POOLING]-SEED``."""
    model = options.model.rstrip("/").split("/")[-1].replace(" ", "-")
    parts = [model, options.regime, options.language, options.pooling, options.seed]
    return Path("tuned") / "-".join(str(part) for part in parts if part is not None)


def _span(options: argparse.Namespace) -> int:
    use_data(options.data)
    from turkic_idiom_tasks.experiments.span_grid import (
        SIZES,
        SpanGrid,
        read_results,
        run_grid,
        source_first,
    )
    from turkic_idiom_tasks.experiments.span_tables import span_tables
    from turkic_idiom_tasks.experiments.tables import write_tables
    from turkic_idiom_tasks.finetuning.processes import is_first_process
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
    _push_target(options.push, models=options.models)
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
    records = read_results(grid)
    if records:
        tables = [table for table in span_tables(records) if table.rows]
        write_tables(tables, options.out / "tables")
        sys.stdout.write("\n".join(table.to_markdown() for table in tables[:-1]))
        sys.stdout.write(f"\nTables: {options.out / 'tables'}\nCheckpoints: {options.out / 'checkpoints'}\n")
    for model, error in failed.items():
        sys.stderr.write(f"turkic-idiom: {model} failed: {error}\n")
    if options.push and not failed:
        checkpoints = {seed: grid.checkpoint_path(grid.models[0], seed) for seed in grid.seeds}
        for seed, folder in checkpoints.items():
            _push(folder, Target(options.push if len(checkpoints) == 1 else f"{options.push}-{seed}", MODEL))
    return 1 if failed else 0


def _push_target(repository: str | None, *, models: Sequence[str]) -> Target | None:
    """Where the model shall go; makes sure before the training that it is one, and that there is a token."""
    from turkic_idiom_tasks.finetuning.processes import is_first_process

    if repository and len(set(models)) > 1:
        raise usage_error(f"--push {repository}: goes with one --model; run the models one by one")
    target = Target(repository, MODEL) if repository else None
    if target and is_first_process():
        check_login(str(target))
    return target


def _push(folder: Path, target: Target) -> None:
    try:
        publish(folder_files(folder), target, message="Publish the model", confirmed=True, write=sys.stdout.write)
    except InputError as error:
        raise InputError(
            f"{folder}: is saved but not published: {error}. To send it alone: hf upload {target.name} {folder}"
        ) from error


def _known(asked: list[str], languages: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [code for code in asked if code not in languages]
    if unknown:
        raise usage_error(
            f"--target {unknown[0]}: no language of the data besides the source language; known: {', '.join(languages)}"
        )
    return tuple(dict.fromkeys(asked))
