"""``turkic-idiom finetune``: fine-tune encoders for retrieval and for idiom spans, also under torchrun."""

import json
import logging
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from pydantic import BaseModel

from turkic_idiom_tasks.cli.main import command_group
from turkic_idiom_tasks.cli.options import Data, Models, TrustRemoteCode, assigned
from turkic_idiom_tasks.cli.output import print_experiment, print_line
from turkic_idiom_tasks.encoders.names import TRUST_OPTION
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.files import check_folder
from turkic_idiom_tasks.io.models import SettingsKind, checked
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.training.config import (
    MAX_SEED,
    SEEDS,
    RetrievalConfig,
    SpanConfig,
    is_first_process,
)

log = logging.getLogger("turkic_idiom_tasks")

finetune_app = command_group("finetune", "Fine-tune encoders.")
Model = Annotated[
    str, typer.Option("--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint.")
]
Seeds = Annotated[
    list[int] | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="May be repeated.  [default: 42 43 44]")
]
NewFolder = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="DIR", help="Folder to save to.  [default: tuned/MODEL-…-SEED]")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of everything random.")]


def settings_option(kind: type[BaseModel]) -> Any:
    """Return the option ``--set``, whose help names the settings of a training with their defaults."""
    settings = []
    for name, field in kind.model_fields.items():
        if name != "seed" and get_args(field.annotation) != (False,):  # those cannot be set at all
            remark = f" ({field.description})" if field.description else ""
            settings.append(f"{name}={json.dumps(field.default)}{remark}")
    return typer.Option("--set", metavar="NAME=VALUE", help=f"May be repeated. Defaults: {', '.join(settings)}.")


def settings_of(kind: type[SettingsKind], values: Iterable[str] | None, **options: object) -> SettingsKind:
    """Return what ``--set`` and the options of the same names state."""
    return checked(kind, assigned(values, options=options) | options)


@finetune_app.command()
def span(
    model: Models,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the results.")] = Path(
        "span-results"
    ),
    data: Data = "",
    language: Annotated[str, typer.Option(metavar="LANG", help="Language to train on.")] = "tr",
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="LANG", help="Other language to test on; may be repeated.  [default: all of the data]"),
    ] = None,
    seed: Seeds = None,
    values: Annotated[list[str] | None, settings_option(SpanConfig)] = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune token classifiers on one language with every seed, and test them on every language.

    Finished seeds are kept, so the same command continues after an interruption. `turkic-idiom grid run` also adapts
    the checkpoints to the other languages. Defaults are the paper's.
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.report.grid_tables import TABLES, write_span_tables
    from turkic_idiom_tasks.runs.cells import CHECKPOINTS
    from turkic_idiom_tasks.runs.grid import open_grid
    from turkic_idiom_tasks.runs.spans import SpanCells

    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    # The cells are those of a grid without adaptation, so that `grid run` goes on from the same checkpoints.
    declared: dict[str, Any] = {"models": tuple(model), "language": language, "adapt": False}
    declared |= {"seeds": tuple(seed or SEEDS), "targets": None if target is None else tuple(target)}
    part = checked(SpanCells, declared | {"training": settings_of(SpanConfig, values).model_dump()})
    # Everything that can be wrong is looked at before a model is downloaded and trained.
    dataset = open_dataset(data)
    others = [code for code in dataset.span_languages if code != part.language]
    for code in part.targets or ():
        if code not in others:
            raise usage_error(
                f"--target {code}: no language of the data besides the source language; known: "
                f"{', '.join(others) or 'none'}"
            )
    grid = open_grid([part], dataset, out, writes=is_first_process(), trust_remote_code=trust_remote_code)
    check_folder(grid.folder / TABLES, {}, kind=TABLES)
    failures: dict[str, str] = {}
    for outcome in grid.run(retry_failed=True):
        # A model that cannot be loaded fails in every cell for one reason, which is said once
        if outcome.error is None or failures.get(outcome.cell.model) != outcome.error:
            ending = "done" if outcome.error is None else f"failed: {outcome.error}"
            log.info("%s: %s", printable(str(outcome.cell)), printable(ending))
        if outcome.error is not None:
            failures.setdefault(outcome.cell.model, outcome.error)
    if is_first_process():
        if grid.record_paths():
            print_experiment(write_span_tables(grid, part))
            print_line(f"Tables: {grid.folder / TABLES}\nCheckpoints: {grid.folder / CHECKPOINTS}")
        for name, error in failures.items():
            sys.stderr.write(f"turkic-idiom: {printable(f'{name} failed: {error}')}\n")
    if failures:
        raise typer.Exit(1)


@finetune_app.command()
def retrieval(
    model: Model,
    regime: Annotated[
        Literal["tr-only", "monolingual", "cross-lingual"],
        typer.Option(
            metavar="REGIME",
            help="tr-only (Turkish idioms and meanings), monolingual (those of --language) or cross-lingual (Turkish "
            "idioms, meanings in --language, or in all other languages).",
        ),
    ],
    language: Annotated[str | None, typer.Option(metavar="LANG", help="Language of the meanings.")] = None,
    out: NewFolder = None,
    data: Data = "",
    seed: Seed = 42,
    values: Annotated[list[str] | None, settings_option(RetrievalConfig)] = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune an encoder on idioms and their meanings, in one of the paper's regimes.

    Save the weights that are best on the development concepts, which may be the untuned ones. Defaults are the paper's.
    Under torchrun every GPU is used. Example: turkic-idiom finetune retrieval -m FacebookAI/xlm-roberta-base --regime
    monolingual --language uz --out xlmr-uz && turkic-idiom run -m ./xlmr-uz
    """
    from turkic_idiom_tasks.dataset import open_dataset
    from turkic_idiom_tasks.training.regimes import build_regime

    # Otherwise each process of torchrun would print the same lines.
    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    config = settings_of(RetrievalConfig, values, seed=seed)
    dataset = open_dataset(data)
    pairs = build_regime(dataset, regime, language=language)
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.training.cards import check_new, save_tuned, tuning_record
    from turkic_idiom_tasks.training.retrieval import fine_tune_retrieval
    from turkic_idiom_tasks.training.trainee import load_trainee

    folder = out or tuned_folder(model, [regime, language, config.pooling, config.seed])
    check_new(folder)
    trainee = load_trainee(model, task=pairs.task, pooling=config.pooling, trust_remote_code=trust_remote_code)
    tuned = fine_tune_retrieval(trainee, pairs, config=config)
    # The other processes of torchrun have the same weights; one of them writes.
    if not is_first_process():
        return
    record = tuning_record(
        trainee,
        tuned,
        config=config,
        data={"path": dataset.path, "revision": dataset.revision} | pairs.sizes(),
        regime=pairs.regime,
        languages=list(pairs.languages),
        prompts=dict(trainee.prompts),
    )
    save_tuned(tuned, folder, record)
    command = ["turkic-idiom", "run", "-m", str(folder), *([TRUST_OPTION] if trust_remote_code else [])]
    dropped = pairs.dropped_for_test + pairs.dropped_for_development
    print_line(
        f"{pairs.regime}, {' '.join(pairs.languages)}: {len(pairs.pairs)} training pairs, {pairs.n_development} "
        f"development queries; {dropped} pairs left out, because test or development concepts have one of their texts\n"
        f"development nDCG untuned {tuned.history[0].score:.4f}\n"
        f"development nDCG tuned   {f'{tuned.tuned.score:.4f}' if tuned.tuned else 'undefined'}\n"
        f"{tuned.verdict}\n\nModel: {folder}\nScore it: {shlex.join(command)}"
    )


def tuned_folder(model: str, parts: list[str | int | None]) -> Path:
    """Return ``tuned/MODEL-REGIME[-LANGUAGE][-POOLING]-SEED``."""
    name = re.sub(r"[^\w.]+", "-", model.rstrip("/").split("/")[-1]).strip("-")
    return Path("tuned") / "-".join([name, *(str(part) for part in parts if part is not None)])
