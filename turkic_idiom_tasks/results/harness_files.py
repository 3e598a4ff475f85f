"""Reading of everything that can be submitted: finished results of our commands, of mteb, lm-eval and Inspect."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, NATIVE, TR_ONLY
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import PIVOT
from turkic_idiom_tasks.results import inspect_files, lm_eval_files, mteb_files, people
from turkic_idiom_tasks.results.model_predictions import (
    ALL,
    FEW_SHOT,
    KNOWN_REGIMES,
    OTHER,
    TOKEN_CLASSIFIER,
    ModelPredictions,
    StatedScores,
    describe_encoder,
)
from turkic_idiom_tasks.results.predictions import OTHER_DATA_TASKS, SPANS
from turkic_idiom_tasks.results.record import SUFFIX, Training, read_header, read_record, without_variants


def find_predictions(places: Sequence[Path], dataset: Dataset, *, is_partial: bool = False) -> list[ModelPredictions]:
    """Return every prediction of the data in files and folders that can be submitted; none is an InputError.

    For a report (`is_partial`) language models may have been asked a part of the items, and each prompt counts, not
    only the first.
    """
    files = _all_files(places)
    metas = mteb_files.model_metas(files)
    results: list[ModelPredictions] = []
    # The files belong to the person who runs the command, so reading ends at the first mistake
    for path in files:
        if path.name.endswith(SUFFIX):
            results.extend(_from_record(path, dataset))
        elif path.name in mteb_files.PREDICTION_FILES:
            results.append(mteb_files.read_predictions(path, metas, dataset))
        elif lm_eval_files.SAMPLES.fullmatch(path.name):
            of_prompts = lm_eval_files.read_samples(path, dataset, is_partial=is_partial)
            results.extend(islice(of_prompts, None if is_partial else 1))
        elif inspect_files.LOG.fullmatch(path.name):
            from_log = inspect_files.read_log(path, dataset, is_partial=is_partial)
            results += [from_log] if from_log else []
        elif is_partial and people.FILE.fullmatch(path.name):
            results.append(people.read_person(path, dataset))
    if not results:
        raise InputError(
            f"{', '.join(map(str, places))}: no results; expected *{SUFFIX} of turkic-idiom run, finetune or "
            f"grid run, *{mteb_files.PREDICTIONS_SUFFIX} of mteb run --prediction-folder, "
            f"samples_turkic_idiom_*.jsonl of lm-eval run --log_samples, or *.eval or DATE_*.json of inspect eval "
            "turkic_idiom_tasks/..."
        )
    kept = []
    for item in results:
        if item.is_classifier and item.regime == CROSS_LINGUAL:
            run = (item.name, item.seed, CROSS_LINGUAL)
            same_run = [other for other in results if (other.name, other.seed, other.regime) == run]
            languages = {key for other in same_run for key in other.predictions}
            # Tags in the source language alone are no set of checkpoints, each trained on its own language.
            if languages == set(item.predictions):
                continue
        kept.append(item)
    return kept


def find_scores(place: Path) -> list[StatedScores]:
    """Return the retrieval scores that the records and the stock mteb results in a folder, or one file, state."""
    files = _all_files([place])
    scores: list[StatedScores] = []
    for path in [path for path in files if path.name.endswith(SUFFIX)]:
        header = read_header(path)
        for row in [row for row in header.subsets if row.task in TASKS]:
            stated = row.scores.get("ndcg")
            if stated is None:
                raise InputError(f"{path}: states no ndcg of {row.task}, {row.subset}; compute it again")
            about = (path, header.model.name, row.task, row.subset, header.data.revision)
            scores.append(StatedScores(*about, stated, row.scores.get("ndcg_floor")))
    # `turkic-idiom run` writes mteb's files from its records, so what both state is one result.
    of_records = {(score.path.parent, score.task, score.subset) for score in scores}
    for path in files:
        for score in mteb_files.read_scores(path) if path.name in mteb_files.SCORE_FILES else ():
            if (path.parent, score.task, score.subset) not in of_records:
                scores.append(score)
    return scores


def _all_files(places: Sequence[Path]) -> list[Path]:
    """Return the files that places are or hold, each once, without hidden ones and what `without_variants` drops."""
    files: dict[Path, None] = {}
    for place in places:
        if not place.exists():
            raise usage_error(f"{place}: no such file or folder; give the folder that a run has written")
        if not place.is_dir():
            files[place] = None
            continue
        inner = []
        for path in sorted(place.rglob("*")):
            # lm-eval and mteb write the results of the model ./MODEL to the folder .__MODEL, which is no hidden one
            names = path.relative_to(place).parts
            is_hidden = any(name.startswith(".") and not name.startswith(".__") for name in names)
            if path.is_file() and not is_hidden:
                inner.append(path)
        files |= dict.fromkeys(without_variants(inner))
    return list(files)


def _from_record(path: Path, dataset: Dataset) -> Iterator[ModelPredictions]:
    # Their data is not that of the leaderboard, whatever its revision says.
    if any(row.task in OTHER_DATA_TASKS for row in read_header(path).subsets):
        return
    record = read_record(path, dataset)
    header = record.header
    training, pooling = header.training, header.settings.get("pooling")
    # `run` states the longest text, and pools otherwise only under another name; the grid does not
    is_native = pooling in (None, NATIVE) or "max_length" in header.settings
    for key, prediction in record.predictions.items():
        model = replace(
            describe_encoder(path, header.model.name, header.model.revision, pooling=pooling, is_native=is_native),
            predictions={key: prediction},
            n_parameters=header.model.n_parameters,
            versions=header.versions,
        )
        if key[0] == SPANS:
            yield from _of_classifier(replace(model, name=header.model.name, pooling=None), training)
        elif training is None:
            yield replace(model, throughput=header.throughput)
        else:
            regime = training.regime if training.regime in KNOWN_REGIMES else OTHER
            yield replace(model, regime=regime, seed=training.seed, throughput=header.throughput)


def _of_classifier(tags: ModelPredictions, training: Training | None) -> Iterator[ModelPredictions]:
    """Yield the tags of a token classifier, once for each regime that they stand for."""
    described = replace(tags, type=TOKEN_CLASSIFIER, is_classifier=True, regime=None)
    if training is None:
        yield described
        return
    ((_, language),) = tags.predictions
    untouched = TR_ONLY if training.language in (None, PIVOT) else OTHER
    is_source = language == (training.language or PIVOT)
    # Tags in the language that was trained on stand for the checkpoint as it is (0 examples of other languages), and
    # for one of a set of checkpoints, each of which was trained on all sentences of its own language
    for size in (0, ALL) if is_source else (training.size,):
        if size == 0 or size is None:
            yield replace(described, regime=untouched, few_shot=size, seed=training.seed)
        elif size == ALL:
            yield replace(described, regime=CROSS_LINGUAL, seed=training.seed)
        else:
            yield replace(described, regime=FEW_SHOT, few_shot=int(size), seed=training.seed)
