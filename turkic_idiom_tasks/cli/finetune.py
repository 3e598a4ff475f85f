"""``turkic-idiom finetune``: fine-tune encoders for retrieval and for idiom spans, also under torchrun."""

from __future__ import annotations

import logging
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turkic_idiom_tasks.cli.main import app
from turkic_idiom_tasks.cli.options import Data, Models, Revision, TrustRemoteCode
from turkic_idiom_tasks.encoders.names import TRUST_OPTION
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from turkic_idiom_tasks.dataset import Dataset
    from turkic_idiom_tasks.io.hub_upload import Target
    from turkic_idiom_tasks.runs.grid import Grid
    from turkic_idiom_tasks.runs.spans import SpanCells

log = logging.getLogger("turkic_idiom_tasks")

finetune_app = typer.Typer(name="finetune", help="Fine-tune encoders.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(finetune_app)

BatchSize = Annotated[int, typer.Option("--batch-size", metavar="N", help="Per device.")]
Epochs = Annotated[int, typer.Option("--epochs", metavar="N", help="Passes over the training data.")]
LearningRate = Annotated[float, typer.Option("--learning-rate", metavar="X", help="Learning rate of AdamW.")]
WeightDecay = Annotated[float, typer.Option("--weight-decay", metavar="X", help="Weight decay of AdamW.")]
Bf16 = Annotated[bool, typer.Option("--bf16", help="Train in bfloat16 autocast.")]
Push = Annotated[
    str | None,
    typer.Option(
        "--push",
        metavar="ORG/NAME",
        help="Publish the model on the Hub. With several seeds of finetune span, each goes to ORG/NAME-SEED.",
    ),
]


@finetune_app.command()
def span(
    model: Models,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the results.")] = Path(
        "span-results"
    ),
    data: Data = "",
    language: Annotated[str, typer.Option("--language", metavar="LANG", help="Language to train on.")] = "tr",
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="LANG", help="Other language to test on; may be repeated.  [default: all of the data]"
        ),
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="N", help="May be repeated.  [default: 42 43 44]")
    ] = None,
    epochs: Epochs = 5,
    batch_size: BatchSize = 8,
    learning_rate: LearningRate = 5e-5,
    weight_decay: WeightDecay = 0.01,
    labelling: Annotated[
        str, typer.Option("--labelling", metavar="all|first", help="Sub-words of a word that carry its label.")
    ] = "all",
    max_length: Annotated[
        int | None,
        typer.Option("--max-length", metavar="N", help="Sub-words of a training sentence.  [default: the model's]"),
    ] = None,
    bf16: Bf16 = False,
    pad_to_max: Annotated[bool, typer.Option("--pad-to-max", help="Pad every batch to --max-length.")] = False,
    group_by_length: Annotated[
        bool, typer.Option("--group-by-length", help="Put sentences of similar length into a batch.")
    ] = False,
    trust_remote_code: TrustRemoteCode = False,
    push: Push = None,
) -> None:
    """Fine-tune token classifiers on one language with every seed, and test them on every language.

    Finished seeds are kept, so the same command continues after an interruption. `turkic-idiom grid run` also adapts
    the checkpoints to the other languages. Defaults are the paper's.
    """
    from turkic_idiom_tasks.cli.span_output import print_span_tables
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.runs.grid import open_grid, run_here
    from turkic_idiom_tasks.runs.spans import SpanCells
    from turkic_idiom_tasks.training.config import SEEDS, SpanConfig, checked, is_first_process

    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    settings: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    settings |= {"weight_decay": weight_decay, "labelling": labelling, "max_length": max_length}
    settings |= {"bf16": bf16, "pad_to_max": pad_to_max, "group_by_length": group_by_length}
    declared: dict[str, Any] = {"models": tuple(model), "language": language, "adapt": False}
    declared |= {"seeds": tuple(seed or SEEDS), "targets": None if target is None else tuple(target)}
    part = checked(SpanCells, declared | {"training": checked(SpanConfig, settings)})
    dataset = open_dataset(data)
    _check_targets(part, dataset)
    repository = push_target(push, part.models)
    grid = open_grid([part], dataset, out, writes=is_first_process(), trust_remote_code=trust_remote_code)
    failures: dict[str, str] = {}
    for outcome in grid.run(run_here, retry_failed=True):
        ending = "done" if outcome.error is None else f"failed: {outcome.error}"
        log.info("%s: %s", printable(str(outcome.cell)), printable(ending))
        if outcome.error is not None:
            failures.setdefault(outcome.cell.model, outcome.error)
    if is_first_process():
        print_span_tables(grid, part)
        for name, error in failures.items():
            sys.stderr.write(f"turkic-idiom: {printable(f'{name} failed: {error}')}\n")
        if repository is not None and not failures:
            _push_checkpoints(grid, part, repository)
    if failures:
        raise typer.Exit(1)


@finetune_app.command()
def retrieval(
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint."),
    ],
    regime: Annotated[
        str,
        typer.Option(
            "--regime",
            metavar="REGIME",
            help="tr-only (Turkish idioms and meanings), monolingual (those of --language) or cross-lingual (Turkish "
            "idioms, meanings in --language, or in all other languages).",
        ),
    ],
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="LANG", help="Language of the meanings: tr, az, tk, gag or uz."),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            "--pooling",
            metavar="POOLING",
            help="cls, mean, max, first_last or last_four.  [default: the model's own, mean for a plain encoder]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder to save to.  [default: tuned/MODEL-REGIME-…-SEED]"),
    ] = None,
    data: Data = "",
    revision: Revision = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of everything random.")] = 42,
    epochs: Epochs = 1,
    batch_size: BatchSize = 16,
    learning_rate: LearningRate = 2e-5,
    weight_decay: WeightDecay = 0.01,
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="mnrl|cosine",
            help="[default: mnrl for sentence-transformers models, cosine for plain encoders]",
        ),
    ] = None,
    negatives: Annotated[
        int,
        typer.Option(
            "--negatives",
            metavar="N",
            help="Wrong meanings per pair for the cosine loss; 0 is the paper to the letter, and collapses.",
        ),
    ] = 1,
    evaluations: Annotated[
        int, typer.Option("--evaluations", metavar="N", help="On the development queries, per epoch.")
    ] = 4,
    patience: Annotated[
        int, typer.Option("--patience", metavar="N", help="Evaluations without a new best before training stops.")
    ] = 3,
    cached: Annotated[
        bool, typer.Option("--cached", help="mnrl with large batches in the memory of --mini-batch.")
    ] = False,
    mini_batch: Annotated[int, typer.Option("--mini-batch", metavar="N", help="Pairs at a time.")] = 32,
    bf16: Bf16 = False,
    gradient_checkpointing: Annotated[
        bool, typer.Option("--gradient-checkpointing", help="Less memory, a third more time.")
    ] = False,
    lora: Annotated[
        int, typer.Option("--lora", metavar="RANK", help="Train low-rank adapters, such as 16; 0 trains all weights.")
    ] = 0,
    trust_remote_code: TrustRemoteCode = False,
    push: Push = None,
) -> None:
    """Fine-tune an encoder on idioms and their meanings, in one of the paper's regimes.

    Save the weights that are best on the development concepts, which may be the untuned ones. Defaults are the paper's.
    Under torchrun every GPU is used. Example: turkic-idiom finetune retrieval -m FacebookAI/xlm-roberta-base --regime
    monolingual --language uz --out xlmr-uz && turkic-idiom run -m ./xlmr-uz
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.training.config import RetrievalConfig, checked, is_first_process
    from turkic_idiom_tasks.training.regimes import build_regime

    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    settings: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    settings |= {"weight_decay": weight_decay, "seed": seed, "loss": loss, "negatives": negatives}
    settings |= {"pooling": pooling, "evaluations": evaluations, "patience": patience, "cached": cached}
    settings |= {"mini_batch": mini_batch, "bf16": bf16, "lora": lora}
    config = checked(RetrievalConfig, settings | {"gradient_checkpointing": gradient_checkpointing})
    dataset = open_dataset(data)
    pairs = build_regime(dataset, regime, language=language)
    repository = push_target(push, (model,))
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.training.cards import check_new, save_tuned, tuning_record
    from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
    from turkic_idiom_tasks.training.trainee import load_trainee

    folder = out or tuned_folder(model, [regime, language, pooling, seed])
    check_new(folder)
    trainee = load_trainee(
        model, task=pairs.task, pooling=pooling, revision=revision, trust_remote_code=trust_remote_code
    )
    tuned = fine_tune_retrieval(trainee, pairs, config=config)
    if not is_first_process():
        return
    record = tuning_record(trainee, pairs, tuned, config=config, path=dataset.path, revision=dataset.revision)
    save_tuned(tuned, folder, record)
    command = ["turkic-idiom", "run", "-m", str(folder), *([TRUST_OPTION] if trust_remote_code else [])]
    dropped = pairs.dropped_for_test + pairs.dropped_for_development
    sys.stdout.write(
        f"{pairs.regime}, {' '.join(pairs.languages)}: {len(pairs.pairs)} training pairs, {pairs.n_development} "
        f"development queries; {dropped} pairs left out, because test or development concepts have one of their texts\n"
        f"development nDCG untuned {tuned.untuned.ndcg:.4f}\n"
        f"development nDCG tuned   {f'{tuned.tuned.ndcg:.4f}' if tuned.tuned else 'undefined'}\n"
        f"{tuned.verdict}\n\nModel: {printable(str(folder))}\nScore it: {printable(shlex.join(command))}\n"
    )
    if repository is not None:
        push_folder(folder, repository)


def tuned_folder(model: str, parts: list[str | int | None]) -> Path:
    """Return ``tuned/MODEL-REGIME[-LANGUAGE][-POOLING]-SEED``."""
    names = [re.sub(r"[^\w.]+", "-", model.rstrip("/").split("/")[-1]).strip("-")]
    for part in parts:
        if part is not None:
            names.append(str(part))
    return Path("tuned") / "-".join(names)


def _check_targets(part: SpanCells, dataset: Dataset) -> None:
    """Check that the data has sentences in the languages of a `finetune span` command.

    Raises:
        InputError: it has none in one of the languages.
    """
    from turkic_idiom_tasks.errors import usage_error

    part.check_source(dataset)
    others = [code for code in dataset.span_languages if code != part.language]
    for target in part.targets or ():
        if target not in others:
            raise usage_error(
                f"--target {target}: no language of the data besides the source language; known: "
                f"{', '.join(others) or 'none'}"
            )


def push_target(repository: str | None, models: tuple[str, ...]) -> Target | None:
    """Return the repository that a model is published in, after checking that there is one model, and a token."""
    from turkic_idiom_tasks.errors import usage_error
    from turkic_idiom_tasks.io.hub_client import check_login
    from turkic_idiom_tasks.io.hub_upload import MODEL, Target
    from turkic_idiom_tasks.training.config import is_first_process

    if repository is None:
        return None
    if len(set(models)) > 1:
        raise usage_error(f"--push {repository}: goes with one --model; run the models one by one")
    target = Target(repository, MODEL)
    if is_first_process():
        check_login(str(target))
    return target


def _push_checkpoints(grid: Grid, part: SpanCells, repository: Target) -> None:
    """Publish the checkpoint of every seed; with several seeds, each under its own name."""
    from turkic_idiom_tasks.io.hub_upload import MODEL, Target

    for seed in part.seeds:
        folder = part.checkpoint_folder(
            part.models[0],
            seed,
            dataset=grid.dataset,
            folder=grid.folder,
            trust_remote_code=grid.trust_remote_code,
        )
        name = repository.name if len(part.seeds) == 1 else f"{repository.name}-{seed}"
        push_folder(folder, Target(name, MODEL))


def push_folder(folder: Path, target: Target) -> None:
    """Publish a saved model.

    Raises:
        InputError: it could not be sent; says how to send it alone.
    """
    from turkic_idiom_tasks.errors import InputError
    from turkic_idiom_tasks.io.hub_upload import folder_files, publish

    try:
        publish(folder_files(folder), target, message="Publish the model", confirmed=True, write=sys.stdout.write)
    except InputError as error:
        raise InputError(
            f"{folder}: is saved but not published: {error}. To send it alone: hf upload {target.name} {folder}"
        ) from error
