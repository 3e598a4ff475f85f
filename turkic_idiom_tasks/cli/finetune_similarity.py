"""``turkic-idiom finetune similarity`` and ``idiomaticity``: train encoders for what sentences with idioms mean."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from turkic_idiom_tasks.cli.finetune import (
    BatchSize,
    Bf16,
    Epochs,
    LearningRate,
    Push,
    WeightDecay,
    finetune_app,
    push_folder,
    push_target,
    tuned_folder,
)
from turkic_idiom_tasks.cli.options import Revision, TrustRemoteCode
from turkic_idiom_tasks.cli.output import UNDEFINED, score_text, similarity_cells, similarity_table
from turkic_idiom_tasks.encoders.names import trust_setting
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.io.reading import printable

if TYPE_CHECKING:
    from turkic_idiom_tasks.training.idiom_tokens import GrownEncoder
    from turkic_idiom_tasks.training.idiomaticity import SeedScores
    from turkic_idiom_tasks.training.labelled import LabelledData
    from turkic_idiom_tasks.training.similarity import TunedSimilarity

log = logging.getLogger("turkic_idiom_tasks")


@finetune_app.command()
def similarity(
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="MODEL", help="mteb or Hugging Face name, or a local checkpoint."),
    ],
    data: Annotated[
        str,
        typer.Option(
            "--data",
            envvar=DATA_VARIABLE,
            metavar="astitch|chengyu|LEXICON|FILE",
            help="astitch (the folder that ASTITCH_DATA names), chengyu (CHENGYU_STS_DATA), a lexicon directory, or a "
            "table with the columns original, correct, incorrect and idiom.  [default: the bundled lexicon]",
        ),
    ] = "",
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            metavar="simcse|cosine",
            help="Supervised SimCSE over triplets, or regression on the similarity of pairs.",
        ),
    ] = "simcse",
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="LANG",
            help="eng or por of AStitch, or a language of the lexicon; may be repeated.  [default: all]",
        ),
    ] = None,
    seen_idioms: Annotated[
        str,
        typer.Option(
            "--seen-idioms",
            metavar="refuse|leave-out|keep",
            help="Triplets whose idiom is in the test pairs: refuse the data, leave them out, or keep them, as the "
            "protocol of AStitch 2B does.",
        ),
    ] = "refuse",
    general: Annotated[
        Path | None,
        typer.Option(
            "--general",
            metavar="FILE",
            help="General pairs for the regression (score in [0, 1], two sentences; no header line); "
            "the paper mixes in those of the STS benchmark.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Folder to save to.  [default: tuned/MODEL-similarity-…]"),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            "--pooling", metavar="POOLING", help="cls, mean, max, first_last or last_four.  [default: the model's own]"
        ),
    ] = None,
    revision: Revision = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of everything random.")] = 42,
    epochs: Epochs = 4,
    batch_size: BatchSize = 32,
    learning_rate: LearningRate = 2e-5,
    weight_decay: WeightDecay = 0.01,
    temperature: Annotated[float, typer.Option("--temperature", metavar="X", help="Temperature of simcse.")] = 0.05,
    bf16: Bf16 = False,
    idiom_tokens: Annotated[
        str | None,
        typer.Option(
            "--idiom-tokens",
            metavar="all|select",
            help="One new token per idiom, in place of the idiom everywhere, or where a classifier calls it idiomatic.",
        ),
    ] = None,
    initial_vector: Annotated[
        str,
        typer.Option(
            "--idiom-token-init",
            metavar="mean|random",
            help="Vector of a new token: the mean of the idiom's sub-words, or random, as in the AStitch paper.",
        ),
    ] = "mean",
    idiomaticity_classifier: Annotated[
        Path | None,
        typer.Option(
            "--idiomaticity-classifier",
            metavar="DIR",
            help="Classifier for select: a folder that finetune idiomaticity has made; of several seeds the best one.",
        ),
    ] = None,
    pretrain_sentences: Annotated[
        Path | None,
        typer.Option(
            "--pretrain-sentences",
            metavar="FILE",
            help="Sentences with the idioms, one a line, for masked-LM training before the training for similarity.",
        ),
    ] = None,
    pretrain_epochs: Annotated[
        int, typer.Option("--pretrain-epochs", metavar="N", help="Passes over these sentences.")
    ] = 5,
    trust_remote_code: TrustRemoteCode = False,
    push: Push = None,
) -> None:
    """Fine-tune an encoder so that a sentence with an idiom is like its paraphrase, not like a literal rewording.

    Save the weights that are best on the development idioms, which may be the untuned ones, and score both on the test
    pairs of the similarity tasks. Example: turkic-idiom finetune similarity -m ./my-encoder --data lexicon --out mine
    """
    from turkic_idiom_tasks.errors import usage_error
    from turkic_idiom_tasks.training.config import (
        IdiomTokenConfig,
        SimilarityConfig,
        check_token_inputs,
        checked,
        is_first_process,
    )

    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    settings: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    settings |= {"weight_decay": weight_decay, "seed": seed, "loss": loss, "temperature": temperature}
    config = checked(SimilarityConfig, settings | {"pooling": pooling, "bf16": bf16})
    if general is not None and loss != "cosine":
        raise usage_error(f"--general {general}: only --loss cosine learns from pairs with scores; leave it out")
    replacements = () if idiom_tokens is None else (idiom_tokens,)
    check_token_inputs(replacements, classifier=idiomaticity_classifier, sentences=pretrain_sentences)
    token_config = None
    if idiom_tokens is not None:
        token_settings: dict[str, Any] = {"idiom_tokens": idiom_tokens, "idiom_token_init": initial_vector}
        token_settings |= {"pretrain_epochs": pretrain_epochs}
        token_config = checked(IdiomTokenConfig, token_settings)
    repository = push_target(push, (model,))
    from turkic_idiom_tasks.encoders.idiom_tokens import make_tokens
    from turkic_idiom_tasks.training.known_idioms import known_idioms, read_sentences
    from turkic_idiom_tasks.training.triplets import build_triplets

    triplets = build_triplets(data, languages=language or (), seen_idioms=seen_idioms, general=general)
    tokens = []
    if token_config is not None:
        tokens = make_tokens(known_idioms(data, triplets, languages=language or ()))
    sentences = [] if pretrain_sentences is None else read_sentences(pretrain_sentences)
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.training.cards import check_new, save_similarity, similarity_record
    from turkic_idiom_tasks.training.idiom_tokens import grow_encoder
    from turkic_idiom_tasks.training.similarity import fine_tune_similarity
    from turkic_idiom_tasks.training.trainee import load_trainee

    tokens_part = None if idiom_tokens is None else f"tokens-{idiom_tokens}"
    folder = out or tuned_folder(model, ["similarity", loss, pooling, tokens_part, seed])
    check_new(folder)
    trainee = load_trainee(model, task="T2", pooling=pooling, revision=revision, trust_remote_code=trust_remote_code)
    grown = None
    if token_config is not None:
        grown = grow_encoder(
            trainee,
            tokens,
            triplets,
            config=token_config,
            classifier=idiomaticity_classifier,
            sentences=sentences,
            batch_size=batch_size,
            seed=seed,
        )
    tuned = fine_tune_similarity(trainee, triplets, config=config)
    if not is_first_process():
        return
    record = similarity_record(trainee, triplets, tuned, config=config)
    if grown is not None and token_config is not None:
        record["idiom_tokens"] = grown.record(token_config)
    save_similarity(tuned, folder, record)
    n_pairs = int(triplets.development.is_scored.sum())
    sys.stdout.write(
        f"{printable(triplets.path)}: {len(triplets.training)} training triplets, "
        f"{n_pairs} development pairs of other idioms; {triplets.n_left_out} triplets\n"
        "left out: their idiom, or one that means the same, is in the test or development pairs\n"
    )
    if triplets.seen:
        sys.stdout.write(f"Test idioms that were trained on: {printable(', '.join(triplets.seen))}\n")
    if grown is not None:
        _print_replacements(grown)
    sys.stdout.write(f"{tuned.verdict}\n\n")
    _print_scores(tuned)
    sys.stdout.write(f"\nModel: {printable(str(folder))}\n")
    if repository is not None:
        push_folder(folder, repository)


@finetune_app.command()
def idiomaticity(
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="MODEL", help="Encoder on the Hub, or a local checkpoint.")
    ],
    data: Annotated[
        str,
        typer.Option(
            "--data",
            envvar=DATA_VARIABLE,
            metavar="astitch|dodiom|LEXICON",
            help="astitch (the folder that ASTITCH_DATA names), dodiom (the table that DODIOM_DATA names), or a "
            "lexicon directory.  [default: the bundled lexicon]",
        ),
    ] = "",
    setup: Annotated[
        str,
        typer.Option(
            "--setup",
            metavar="zero-shot|one-shot|few-shot",
            help="Sentences of the test idioms that are trained on: none, one or a few of each use.",
        ),
    ] = "zero-shot",
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--inputs",
            metavar="context|idiom",
            help="What is given besides the sentence: those around it, the idiom; may be repeated.  [default: idiom]",
        ),
    ] = None,
    only_sentence: Annotated[bool, typer.Option("--only-sentence", help="Give nothing besides the sentence.")] = False,
    subtask: Annotated[
        str,
        typer.Option("--subtask", metavar="A|B", help="A: is the idiom meant? B of astitch: is this its meaning?"),
    ] = "A",
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="LANG",
            help="eng or por of AStitch, or languages of the lexicon; may be repeated.  [default: eng; all]",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the classifiers.")] = Path(
        "idiomaticity"
    ),
    revision: Revision = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="N", help="May be repeated.  [default: 42 43 44]")
    ] = None,
    epochs: Epochs = 9,
    batch_size: BatchSize = 32,
    learning_rate: LearningRate = 2e-5,
    weight_decay: WeightDecay = 0.01,
    max_length: Annotated[int, typer.Option("--max-length", metavar="N", help="Sub-words that are used.")] = 128,
    bf16: Bf16 = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune classifiers that tell whether an idiom is meant or its words, and score them by macro F1.

    Finished seeds are kept, so the same command continues after an interruption. Epochs, learning rate and length are
    those of AStitchInLanguageModels.
    """
    from turkic_idiom_tasks.errors import usage_error
    from turkic_idiom_tasks.io.files import check_writable
    from turkic_idiom_tasks.runs.cells import content_revision, pinned_commit
    from turkic_idiom_tasks.training.config import IdiomaticityConfig, TrainingSeeds, checked
    from turkic_idiom_tasks.training.labelled import build_labelled

    log.setLevel(logging.INFO)
    settings: dict[str, Any] = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    settings |= {"weight_decay": weight_decay, "max_length": max_length, "bf16": bf16}
    config = checked(IdiomaticityConfig, settings)
    seeds = checked(TrainingSeeds, {"seeds": tuple(seed)} if seed else {}).seeds
    if only_sentence and inputs:
        raise usage_error("--only-sentence does not go with --inputs; leave one of them out")
    chosen = () if only_sentence else tuple(dict.fromkeys(inputs or ("idiom",)))
    rows = build_labelled(data, setup=setup, inputs=chosen, subtask=subtask, languages=language or ())
    check_writable(out)
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.training.idiomaticity import finished_scores, load_classifier, save_classifier, train_seed

    pinned, model_revision = revision or pinned_commit(model), revision or content_revision(model)
    scores = []
    for number in seeds:
        folder = out / f"seed-{number}"
        declared: dict[str, Any] = {"model": model, "revision": model_revision, "config": config.model_dump()}
        declared |= {"seed": number} | trust_setting(trust_remote_code)
        declared |= {"data": rows.path, "data_revision": rows.revision, "setup": setup, "inputs": list(chosen)}
        declared["subtask"] = subtask
        finished = finished_scores(folder, declared)
        if finished is None:
            classifier = load_classifier(model, seed=number, revision=pinned, trust_remote_code=trust_remote_code)
            finished, _ = train_seed(classifier, rows, config=config, seed=number)
            save_classifier(classifier, folder, finished, declared)
        log.info("seed %d: test macro F1 %s", number, score_text(finished.test_f1))
        scores.append(finished)
    _print_seeds(rows, scores)
    sys.stdout.write(f"\nClassifiers: {printable(str(out))}\n")


def _print_replacements(grown: GrownEncoder) -> None:
    """Print how many idioms have a token, where tokens stand, and what the masked-LM training saw."""
    training, test = grown.training, grown.test
    sys.stdout.write(
        f"Idiom tokens: {grown.n_tokens}; in {training.replaced} of {training.sentences} original training sentences "
        f"and {test.replaced} of all {test.sentences} test sentences\n"
    )
    if grown.pretraining is not None:
        sys.stdout.write(
            f"Masked-LM training: {grown.pretraining.n_sentences} sentences, {grown.pretraining.n_with_token} with a "
            f"token, mean loss {grown.pretraining.loss:.3f}\n"
        )


def _print_seeds(rows: LabelledData, scores: Sequence[SeedScores]) -> None:
    """Print a table with macro F1 of every seed, their mean, and the best constant answer."""
    from turkic_idiom_tasks.metrics.classification import macro_f1

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    sizes = " + ".join(str(len(stage)) for stage in rows.stages)
    console.print(
        f"{printable(rows.path)}: {sizes} training rows, {len(rows.development)} for development, {len(rows.test)} for "
        f"the test ({len({row.idiom for row in rows.test})} idioms)",
        soft_wrap=True,
    )
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), collapse_padding=True)
    table.add_column("macro F1")
    for heading in ("best epoch", "development", "test", "95% by idiom"):
        table.add_column(heading, justify="right", no_wrap=True)
    gold = [row.label for row in rows.test]
    constant = max(macro_f1(gold, [label] * len(gold)) for label in (0, 1))
    table.add_row("one answer for all", "", "", score_text(constant), "")
    for row in scores:
        cells = [str(row.best_epoch), score_text(row.development_f1), score_text(row.test_f1)]
        table.add_row(f"seed {row.seed}", *cells, f"{score_text(row.low)}-{score_text(row.high)}")
    table.add_row("mean", "", "", score_text(sum(row.test_f1 for row in scores) / len(scores)), "")
    console.print(table)


def _print_scores(tuned: TunedSimilarity) -> None:
    """Print a table with the scores of the test pairs, before and after training."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if not tuned.scores:
        console.print("No test pairs: a table of triplets has none.")
        return
    table = similarity_table("Spearman")
    for subset, scores in tuned.scores.items():
        table.add_row(f"{subset} untuned", *_cells(tuned.untuned_scores[subset]))
        table.add_row(f"{subset} {'tuned' if tuned.kept.epoch else 'kept'}", *_cells(scores))
    console.print(table)
    console.print(UNDEFINED)


def _cells(scores: Mapping[str, float]) -> list[str]:
    return similarity_cells(scores, scores["spearman_ci_low"], scores["spearman_ci_high"])
