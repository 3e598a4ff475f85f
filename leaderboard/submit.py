"""`turkic-idiom submit`: packs the predictions of finished runs and what is known of the models, without scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leaderboard.gold import Gold, Pool
from leaderboard.predictions import Positions, pack_ranks, pack_tags
from leaderboard.records import REGIMES, RETRIEVAL_TASKS, SPANS, TYPES, Metadata, Record
from leaderboard.rescore import rescore
from leaderboard.results import Found, find_predictions
from leaderboard.submission import METADATA_FILE, NAME, PREDICTION_FILES, metadata_json, read_submission, slug
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.files import whole_folder, write_bytes, write_text
from turkic_idiom_tasks.retrieval.ranking import Groups

_IDENTITY = ("name", "revision", "type", "regime", "pooling", "few_shot")
_ASKED = {
    "type": "--type: baseline, encoder, sentence-encoder, token-classifier or llm",
    "regime": "--regime: which supervision by idioms it had; pretrained if none",
    "training_data": "--training-data: what it was trained on, and whether idioms of the benchmark were among it",
    "contact": "--contact: how you want to be reached, as it may be shown",
}


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """What the submitter says; what is None is taken from the results."""

    out: Path
    contact: str | None = None
    training_data: str | None = None
    name: str | None = None
    type: str | None = None
    regime: str | None = None
    n_parameters: int | None = None
    poolings: tuple[str, ...] = ()
    seed: int | None = None


def submit(places: Sequence[Path], options: SubmitOptions, *, gold: Gold) -> list[tuple[Path, Record]]:
    """Writes a folder for each model, pooling and regime in the results; returns it with its scores.

    Raises:
        InputError: results that cannot be read, are of other data or stand twice; something that only the submitter can
            say is missing; a folder exists already.
    """
    for name, known in (("type", TYPES), ("regime", REGIMES)):
        said = getattr(options, name)
        if said not in (None, *known):
            raise usage_error(f"--{name} {said}: unknown; known: {', '.join(known)}")
    found = [_told(one, options) for one in _chosen(find_predictions(places), options)]
    for one in found:
        _check_data(one, gold)
    written = []
    for group in _groups(found):
        metadata = _metadata(group, options, gold=gold)
        files = _files(group, gold)
        folder = options.out / slug(metadata)
        if folder.exists():
            raise usage_error(f"{folder}: exists already; remove it or choose another --out")
        written.append((folder, _write(folder, metadata, files, gold=gold)))
    return written


def _chosen(found: list[Found], options: SubmitOptions) -> list[Found]:
    """The poolings that were asked for, and of several seeds one; retrieval results alone have poolings."""
    poolings = {one.pooling for one in found if one.pooling}
    unknown = sorted(set(options.poolings) - poolings)
    if unknown:
        raise usage_error(
            f"--pooling {unknown[0]}: not in the results; they have {', '.join(sorted(poolings)) or 'none'}"
        )
    chosen = [one for one in found if not options.poolings or one.pooling in (None, *options.poolings)]
    seeds = {one.seed for one in found if one.seed is not None}
    if options.seed is not None and options.seed not in seeds:
        have = ", ".join(map(str, sorted(seeds))) or "none"
        raise usage_error(f"--seed {options.seed}: not in the results; they have {have}")
    seed = options.seed if options.seed is not None else min(seeds, default=None)
    return [one for one in chosen if one.seed in (None, seed)]


def _told(one: Found, options: SubmitOptions) -> Found:
    """With what the submitter says in place of what the results say."""
    said = {name: getattr(options, name) for name in ("name", "type", "regime", "n_parameters")}
    return replace(one, **{name: value for name, value in said.items() if value is not None})


def _check_data(one: Found, gold: Gold) -> None:
    if one.dataset_revision != gold.revision:
        raise InputError(
            f"{one.path}: predictions for other data (revision {one.dataset_revision[:12]}; the data in use, "
            f"{gold.path}, has {gold.revision[:12]}); name the data with --data, or run the model again on the current"
        )
    if not re.fullmatch(NAME, one.name):
        raise usage_error(
            f"{one.path}: the model is called {one.name!r}; say with --name ORG/NAME how to call it publicly"
        )


def _groups(found: Iterable[Found]) -> list[list[Found]]:
    """What belongs into one submission: results of one model, run in one way.

    Span results say nothing of a pooling: they join the rankings of the model if they agree with those of one way alone
    in everything that both say. A token classifier has other weights than the encoder that ranks, even if both were
    tuned from one model in one regime: their revisions may differ, and that of the encoder is the submission's.
    """
    groups: dict[tuple[Any, ...], list[Found]] = {}
    for one in found:
        groups.setdefault(tuple(getattr(one, name) for name in _IDENTITY), []).append(one)
    rankings = [group for group in groups.values() if any(one.task != SPANS for one in group)]
    joined = list(rankings)
    for group in groups.values():
        if group in rankings:
            continue
        fitting = [other for other in rankings if _agree(group[0], other[0])]
        if len(fitting) == 1:
            fitting[0].extend(group)
        else:
            joined.append(group)
    return joined


def _agree(one: Found, other: Found) -> bool:
    is_classifier = one.seed is not None  # of a span grid
    names = [name for name in _IDENTITY if not (is_classifier and name == "revision")]
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _metadata(group: Sequence[Found], options: SubmitOptions, *, gold: Gold) -> Metadata:
    """What is known of a model.

    Raises:
        InputError: a field that only the submitter knows is missing; names all of them and their options.
    """
    known: dict[str, Any] = {
        name: next((value for one in group if (value := getattr(one, name)) is not None), None)
        for name in (*_IDENTITY, "n_parameters")
    }
    known |= {"contact": options.contact, "training_data": options.training_data}
    missing = [text for name, text in _ASKED.items() if known[name] is None]
    if missing:
        raise usage_error(
            f"{group[0].path}, {known['name']}: the results do not say everything; add {'; '.join(missing)}"
        )
    versions = {name: number for one in group for name, number in one.versions.items()}
    return Metadata(
        **known,
        dataset=gold.path,
        dataset_revision=gold.revision,
        versions=dict(sorted(versions.items())),
    )


def _files(group: Sequence[Found], gold: Gold) -> dict[str, bytes]:
    """File name -> content.

    Raises:
        InputError: two results of one subset or language, or a query or document that the data does not have.
    """
    paths: dict[tuple[str, str], Path] = {}
    predictions: dict[str, dict[str, Mapping[str, Any]]] = {}
    for one in group:
        for name, rows in one.predictions.items():
            if (one.task, name) in paths:
                both = f"{paths[one.task, name]} and {one.path}"
                raise InputError(
                    f"{one.name}: two results of {one.task}, {name}: {both}; name the files of one of them"
                )
            paths[one.task, name] = one.path
            predictions.setdefault(one.task, {})[name] = rows
    files = {}
    for task in (task for task in RETRIEVAL_TASKS if task in predictions):
        ranks = {
            subset: _positions(rows, gold.pools[task].get(subset), place=f"{paths[task, subset]}, {subset}")
            for subset, rows in predictions[task].items()
        }
        files[PREDICTION_FILES[task]] = pack_ranks(ranks, gold.pools[task])
    if SPANS in predictions:
        files[PREDICTION_FILES[SPANS]] = pack_tags(predictions[SPANS])
    return files


def _positions(rows: Mapping[str, Groups], pool: Pool | None, *, place: str) -> dict[str, Positions]:
    """Query -> the positions of its documents."""
    if pool is None:
        raise InputError(f"{place}: the data in use has no such subset; name the data with --data")
    column = pool.column
    try:
        return {
            query: [column[one] if isinstance(one, str) else sorted(column[each] for each in one) for one in ranking]
            for query, ranking in rows.items()
        }
    except KeyError as error:
        raise InputError(f"{place}: document {error} is not in the data; name the data with --data") from error


def _write(folder: Path, metadata: Metadata, files: Mapping[str, bytes], *, gold: Gold) -> Record:
    """Writes the folder and reads it as whoever receives it will; one with a fault is not left behind."""
    with whole_folder(folder) as unfinished:
        write_text(unfinished / METADATA_FILE, metadata_json(metadata))
        for name, content in files.items():
            write_bytes(unfinished / name, content)
        submission, faults = read_submission(unfinished, gold, name=folder.name)
        if submission is None:
            shown = "; ".join(f"{fault.path.name}: {fault.message}" for fault in faults[:3])
            raise InputError(f"{metadata.name}: these results make no whole submission: {shown}")
        return rescore(submission, gold)
