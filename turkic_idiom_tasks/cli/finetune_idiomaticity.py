"""``turkic-idiom finetune idiomaticity``: train classifiers that tell whether an idiom is meant or its words."""

import logging
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from turkic_idiom_tasks.cli.finetune import Model, Seeds, finetune_app, settings_of, settings_option
from turkic_idiom_tasks.cli.options import TrustRemoteCode
from turkic_idiom_tasks.cli.output import new_table, plain_console, print_line, score_text
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.files import check_writable
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.training.config import SEEDS, IdiomaticityConfig

log = logging.getLogger("turkic_idiom_tasks")


@finetune_app.command()
def idiomaticity(
    model: Model,
    data: Annotated[
        str,
        typer.Option(
            envvar=DATA_VARIABLE,
            metavar="astitch|semeval|dodiom|LEXICON",
            help="astitch (the folder that ASTITCH_DATA names), semeval (SEMEVAL_IDIOM_DATA), dodiom (the table that "
            "DODIOM_DATA names), or a lexicon directory.  [default: the bundled lexicon]",
        ),
    ] = "",
    setup: Annotated[
        Literal["zero-shot", "one-shot", "few-shot"],
        typer.Option(help="Sentences of the test idioms that are trained on: none, one or a few of each use."),
    ] = "zero-shot",
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="context|idiom|none",
            help="Given besides the sentence: those around it, the idiom, or nothing; may be repeated.  [idiom]",
        ),
    ] = None,
    subtask: Annotated[
        Literal["A", "B"], typer.Option(help="A: is the idiom meant? B of astitch: is this its meaning?")
    ] = "A",
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANG", help="Of AStitch (eng, por) or of the lexicon; may be repeated.  [default: eng; all]"
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the classifiers.")] = Path(
        "idiomaticity"
    ),
    seed: Seeds = None,
    values: Annotated[list[str] | None, settings_option(IdiomaticityConfig)] = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune classifiers that tell whether an idiom is meant or its words, and score them by macro F1.

    Finished seeds are kept, so the same command continues after an interruption. Epochs, learning rate and length are
    those of AStitchInLanguageModels.
    """
    from turkic_idiom_tasks.encoders.community import pinned_revision
    from turkic_idiom_tasks.metrics.classification import macro_f1
    from turkic_idiom_tasks.runs.cells import content_revision
    from turkic_idiom_tasks.training.siblings.labelled import build_labelled

    log.setLevel(logging.INFO)
    config = settings_of(IdiomaticityConfig, values)
    chosen = () if inputs == ["none"] else tuple(dict.fromkeys(inputs or ("idiom",)))
    rows = build_labelled(data, setup=setup, inputs=chosen, subtask=subtask, languages=language or ())
    check_writable(out)
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.training.siblings import idiomaticity as training

    pinned, model_revision = pinned_revision(model), content_revision(model)
    scores = []
    for number in dict.fromkeys(seed or SEEDS):
        folder = out / f"seed-{number}"
        declared: dict[str, Any] = {"model": model, "revision": model_revision, "config": config.model_dump()}
        declared |= {"data": rows.path, "data_revision": rows.revision, "setup": setup, "inputs": list(chosen)}
        declared |= {"subtask": subtask, "seed": number} | trust_setting(trust_remote_code)
        finished = training.finished_scores(folder, declared)
        if finished is None:
            classifier = training.load_classifier(
                model, seed=number, revision=pinned, trust_remote_code=trust_remote_code
            )
            finished, _ = training.train_seed(classifier, rows, config=config, seed=number)
            training.save_classifier(classifier, folder, finished, declared)
        log.info("seed %d: test macro F1 %s", number, score_text(finished["test_f1"]))
        scores.append(finished)
    console = plain_console(sys.stdout)
    sizes = " + ".join(str(len(stage)) for stage in rows.stages)
    console.print(
        f"{printable(rows.path)}: {sizes} training rows, {len(rows.development)} for development, {len(rows.test)} for "
        f"the test ({len({row.idiom for row in rows.test})} idioms)",
        soft_wrap=True,
    )
    table = new_table("macro F1", ["best epoch", "development", "test", "95% by idiom"])
    gold = [row.label for row in rows.test]
    # A classifier has to beat the better one of the two constant answers
    constant = max(macro_f1(gold, [label] * len(gold)) for label in (0, 1))
    table.add_row("one answer for all", "", "", score_text(constant), "")
    for row in scores:
        cells = [str(row["best_epoch"]), score_text(row["development_f1"]), score_text(row["test_f1"])]
        table.add_row(f"seed {row['seed']}", *cells, f"{score_text(row['low'])}-{score_text(row['high'])}")
    table.add_row("mean", "", "", score_text(sum(row["test_f1"] for row in scores) / len(scores)), "")
    console.print(table)
    print_line(f"\nClassifiers: {out}")
