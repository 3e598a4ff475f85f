"""``turkic-idiom finetune similarity``: train an encoder for what sentences with idioms mean."""

import logging
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from turkic_idiom_tasks.cli.finetune import (
    Model,
    NewFolder,
    Seed,
    finetune_app,
    settings_of,
    settings_option,
    tuned_folder,
)
from turkic_idiom_tasks.cli.options import TrustRemoteCode
from turkic_idiom_tasks.cli.output import (
    SIMILARITY_HEAD,
    UNDEFINED,
    cells_of,
    new_table,
    plain_console,
    print_line,
    similarity_cells,
)
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.harnesses import DATA_VARIABLE
from turkic_idiom_tasks.training.config import (
    COSINE,
    IdiomTokenConfig,
    SimilarityConfig,
    SimilarityOptions,
    check_token_inputs,
    is_first_process,
)

log = logging.getLogger("turkic_idiom_tasks")


@finetune_app.command()
def similarity(
    model: Model,
    data: Annotated[
        str,
        typer.Option(
            envvar=DATA_VARIABLE,
            metavar="astitch|chengyu|LEXICON|FILE",
            help="astitch (the folder that ASTITCH_DATA names), chengyu (CHENGYU_STS_DATA), a lexicon directory, or a "
            "table with the columns original, correct, incorrect and idiom.  [default: the bundled lexicon]",
        ),
    ] = "",
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="LANG", help="Of AStitch (eng, por) or of the lexicon; may be repeated.  [default: all]"),
    ] = None,
    seen_idioms: Annotated[
        Literal["refuse", "leave-out", "keep"],
        typer.Option(help="Triplets whose idiom is in the test pairs; the protocol of AStitch 2B keeps them."),
    ] = "refuse",
    out: NewFolder = None,
    idiom_tokens: Annotated[
        Literal["all", "select"] | None,
        typer.Option(help="A new token in place of each idiom, or where a classifier says so."),
    ] = None,
    seed: Seed = 42,
    values: Annotated[list[str] | None, settings_option(SimilarityOptions)] = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Fine-tune an encoder so that a sentence with an idiom is like its paraphrase, not like a literal rewording.

    Save the weights that are best on the development idioms, which may be the untuned ones, and score both on the test
    pairs of the similarity tasks. Example: turkic-idiom finetune similarity -m ./my-encoder --data lexicon --out mine
    """
    log.setLevel(logging.INFO if is_first_process() else logging.ERROR)
    config = settings_of(SimilarityOptions, values, seed=seed)
    if config.general is not None and config.loss != COSINE:
        raise usage_error(f"general {config.general}: only loss=cosine learns from pairs with scores; leave it out")
    replacements = [] if idiom_tokens is None else [idiom_tokens]
    classifier, sentences_file = config.idiomaticity_classifier, config.pretrain_sentences
    check_token_inputs(replacements, classifier=classifier, sentences=sentences_file)
    token_config = None
    if idiom_tokens is not None:
        token_settings = config.model_dump(include={"idiom_token_init", "pretrain_epochs"})
        token_config = IdiomTokenConfig.model_validate({"idiom_tokens": idiom_tokens, **token_settings})
    # The record and the training have the settings that a cell of a grid has.
    trained_config = SimilarityConfig.model_validate(config.model_dump(include=set(SimilarityConfig.model_fields)))
    from turkic_idiom_tasks.encoders.siblings.idiom_tokens import make_tokens
    from turkic_idiom_tasks.training.siblings.known_idioms import known_idioms, read_sentences
    from turkic_idiom_tasks.training.triplets import build_triplets

    general = None if config.general is None else Path(config.general)
    triplets = build_triplets(data, languages=language or (), seen_idioms=seen_idioms, general=general)
    tokens = []
    if token_config is not None:
        tokens = make_tokens(known_idioms(data, triplets, languages=language or ()))
    sentences = [] if sentences_file is None else read_sentences(Path(sentences_file))
    # torch is loaded only after everything else is checked
    from turkic_idiom_tasks.metrics.similarity import similarity_scores
    from turkic_idiom_tasks.training.cards import check_new, save_tuned, tuning_record
    from turkic_idiom_tasks.training.siblings.token_training import grow_encoder
    from turkic_idiom_tasks.training.similarity import fine_tune_similarity, similarities_of_subsets
    from turkic_idiom_tasks.training.trainee import load_trainee

    tokens_part = None if idiom_tokens is None else f"tokens-{idiom_tokens}"
    folder = out or tuned_folder(model, ["similarity", config.loss, config.pooling, tokens_part, config.seed])
    check_new(folder)
    trainee = load_trainee(model, task="T2", pooling=config.pooling, trust_remote_code=trust_remote_code)
    grown = None
    if token_config is not None:
        grown = grow_encoder(
            trainee,
            tokens,
            triplets,
            config=token_config,
            classifier=None if classifier is None else Path(classifier),
            sentences=sentences,
            batch_size=config.batch_size,
            seed=config.seed,
        )
    untuned_similarities = similarities_of_subsets(trainee.model, triplets.test)
    tuned = fine_tune_similarity(trainee, triplets, config=trained_config)
    similarities = similarities_of_subsets(trainee.model, triplets.test)
    if not is_first_process():
        return
    untuned_scores, scores = {}, {}
    for subset, pairs in triplets.test.items():
        untuned_scores[subset] = similarity_scores(pairs, untuned_similarities[subset])
        scores[subset] = similarity_scores(pairs, similarities[subset])
    stated: dict[str, object] = {"path": triplets.path, "revision": triplets.revision, **triplets.sizes()}
    stated |= {"examples": tuned.n_examples, "test_idioms_seen": list(triplets.seen)}
    record = tuning_record(trainee, tuned, config=trained_config, data=stated, untuned_test=untuned_scores, test=scores)
    if grown is not None:
        record["idiom_tokens"] = grown
    save_tuned(tuned, folder, record)
    print_line(
        f"{triplets.path}: {len(triplets.training)} training triplets, "
        f"{int(triplets.development.is_scored.sum())} development pairs of other idioms; {triplets.n_left_out} "
        "triplets\nleft out: their idiom, or one that means the same, is in the test or development pairs"
    )
    if triplets.seen:
        print_line(f"Test idioms that were trained on: {', '.join(triplets.seen)}")
    if grown is not None:
        training, test, pretraining = grown["training"], grown["test"], grown["pretraining"]
        print_line(
            f"Idiom tokens: {grown['n_tokens']}; in {training['replaced']} of {training['sentences']} original "
            f"training sentences and {test['replaced']} of all {test['sentences']} test sentences"
        )
        if pretraining is not None:
            print_line(
                f"Masked-LM training: {pretraining['n_sentences']} sentences, {pretraining['n_with_token']} with a "
                f"token, mean loss {pretraining['loss']:.3f}"
            )
    print_line(f"{tuned.verdict}\n")
    console = plain_console(sys.stdout)
    if not scores:
        console.print("No test pairs: a table of triplets has none.")
    else:
        table = new_table("Spearman", SIMILARITY_HEAD, min_width=5)
        for subset, after in scores.items():
            for name, row in (("untuned", untuned_scores[subset]), ("tuned" if tuned.kept.step else "kept", after)):
                cells = similarity_cells(row, row["spearman_ci_low"], row["spearman_ci_high"])
                table.add_row(f"{subset} {name}", *cells)
        console.print(table)
        if "-" in cells_of(table):
            console.print(UNDEFINED)
    print_line(f"\nModel: {folder}")
