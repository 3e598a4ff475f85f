"""What `turkic-idiom compare` reads: retrieval results with their rankings, and results of the span grid.

Every score is computed again from the rankings or tags and the data in use, and must be the one in the file.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.metrics.spans import span_counts
from turkic_idiom_tasks.retrieval.ranking import Groups, SubsetRanking
from turkic_idiom_tasks.retrieval.relevance import TASKS, RetrievalData, concept_of, find_task
from turkic_idiom_tasks.retrieval.results import RANKINGS_FORMAT, ResultFiles
from turkic_idiom_tasks.retrieval.source import SPLIT, current_source
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence, current_spans
from turkic_idiom_tasks.spans import LABELS

SPANS = "spans"  # the name of span detection among the tasks

Key = tuple[str, str]  # task, subset
_ROUNDED = 1e-5  # mteb rounds scores to six places
_LABEL_OF_LETTER = {label[0]: label for label in LABELS}


@dataclass(frozen=True, slots=True, eq=False)
class ResultFile:
    """A result file that has been found, not yet scored.

    Attributes:
        path: the JSON file.
        task: full name of a retrieval task, or `SPANS`.
        revision: of the data it was computed on.
        record: its content.
    """

    path: Path
    task: str
    revision: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """What one system scored on one subset.

    Attributes:
        path: a file it was read from.
        model: its name.
        clusters: item (query or sentence) -> concept.
        sums: item -> what it adds to numerator and denominator of the score.
        settings: how the model was run, where that is known.
        seeds: those whose tags are counted together, in order.
    """

    path: Path
    model: str
    clusters: Mapping[str, str]
    sums: Mapping[str, tuple[float, float]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()


def find_results(place: Path, tasks: Sequence[str] = ()) -> list[ResultFile]:
    """The result files of a folder, at any depth, or the one that `place` is.

    Args:
        place: a result file, or a folder that `turkic-idiom run` or `turkic-idiom finetune span` wrote.
        tasks: T1, T2, T3, full names, or ``spans``; empty for all.

    Raises:
        InputError: nothing there that can be compared, an unknown task, or two results of one task.
    """
    wanted = {SPANS if name.lower() == SPANS else find_task(name).name for name in tasks}
    if not place.exists():
        raise usage_error(f"{place}: no such file or folder; give a result file or the folder of one model")
    candidates = sorted(_candidates(place)) if place.is_dir() else [place]
    found = [result for path in candidates if (result := open_result(path, required=path == place)) is not None]
    chosen = [result for result in found if not wanted or result.task in wanted]
    if not chosen:
        have = ", ".join(dict.fromkeys(result.task for result in found))
        what = f"; it has {have}" if have else "; turkic-idiom run and turkic-idiom finetune span write them"
        raise InputError(f"{place}: no result{' of ' + ', '.join(sorted(wanted)) if wanted else ''}{what}")
    for task in TASKS.values():
        paths = [result.path for result in chosen if result.task == task.name]
        if len(paths) > 1:
            raise _ambiguous(place, task.name, paths)
    return chosen


def _candidates(folder: Path) -> set[Path]:
    """Files that may be results; checkpoints hold large JSON files that are not worth opening."""
    named = {path for task in TASKS.values() for path in folder.rglob(f"{task.name}.json")}
    return named | set(folder.glob("*.json")) | set(folder.rglob("cells/*.json"))


def open_result(path: Path, *, required: bool) -> ResultFile | None:
    """A result file; None, or with `required` an error, if it is something else.

    Raises:
        InputError: it cannot be read, or it is required and something else.
    """
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it and run the same command again") from error
    names = [task.name for task in TASKS.values()]
    if isinstance(record, dict) and record.get("task_name") in names and "dataset_revision" in record:
        return ResultFile(path, record["task_name"], str(record["dataset_revision"]), record)
    if isinstance(record, dict) and {"tags", "language", "data", "scores"} <= set(record):
        return ResultFile(path, SPANS, str(record["data"]["revision"]), record)
    if required:
        raise InputError(
            f"{path}: neither a result of {', '.join(names)} nor of the span grid; give a file that turkic-idiom run "
            "or turkic-idiom finetune span wrote"
        )
    return None


def check_revisions(first: Sequence[ResultFile], second: Sequence[ResultFile]) -> None:
    """Makes sure that all results are of the data in use.

    Raises:
        InputError: they are not; names the revisions.
    """
    revisions = [{result.revision for result in results} for results in (first, second)]
    if revisions[0] != revisions[1]:
        shown = " and ".join(", ".join(sorted(r[:12] for r in found)) for found in revisions)
        raise InputError(f"A and B were scored on different data (revisions {shown}); run both again on the same data")
    for result in first:
        source = current_spans() if result.task == SPANS else current_source()
        if result.revision != source.revision:
            raise InputError(
                f"{result.path}: scores of other data (revision {result.revision[:12]}; the data in use, "
                f"{source.path}, has {source.revision[:12]}); name the data that was scored with --data"
            )


def read_scores(results: Sequence[ResultFile], *, by_size: bool) -> dict[Key, Scored]:
    """(task, subset) -> what was scored there; results of the span grid that differ in the seed alone are one.

    Args:
        results: of one system.
        by_size: whether span results with other numbers of training sentences are other tasks.

    Raises:
        InputError: a file is damaged, cut, or does not give the score that it names.
    """
    scored: dict[Key, Scored] = {}
    cells: dict[Key, list[ResultFile]] = {}
    for result in results:
        with _damage_named(result.path):
            if result.task == SPANS:
                name = f"{SPANS}-{result.record['size']}" if by_size else SPANS
                cells.setdefault((name, result.record["language"]), []).append(result)
            else:
                scored |= _read_retrieval(result)
    return scored | {key: _read_spans(found, key) for key, found in cells.items()}


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: damaged ({type(error).__name__}: {error}); compute it again") from error


def _read_retrieval(result: ResultFile) -> dict[Key, Scored]:
    files = ResultFiles(result.path)
    header, groups = read_rankings(files.rankings)
    if header["top_k"] is not None:
        raise InputError(
            f"{files.rankings}: cut at {header['top_k']} documents per query, so that nDCG cannot be computed from it; "
            "run it again without --top-k and with --overwrite"
        )
    source, spec = current_source(), find_task(result.task)
    stored = {row["hf_subset"]: float(row["ndcg"]) for row in result.record["scores"][SPLIT]}
    found = {}
    for subset, score in stored.items():
        data = source.load(spec.short, subset)
        ranking = _ranking(groups.get(subset, {}), data, place=f"{files.rankings}, {subset}")
        ndcg = ranking.per_query.ndcg
        _check_score(float(ndcg.mean()), score, place=f"{files.rankings}, {subset}")
        found[result.task, subset] = Scored(
            result.path,
            str(header["model"]),
            clusters={query: concept_of(query) for query in ranking.queries},
            sums={query: (float(value), 1.0) for query, value in zip(ranking.queries, ndcg, strict=True)},
            settings=header["settings"],
        )
    return found


def read_rankings(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Groups]]]:
    """The head of a ranking file, and subset -> query -> ranking.

    Raises:
        InputError: there is none, or it is of another format or damaged.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, but scoring needs the rankings; turkic-idiom run writes them")
    groups: dict[str, dict[str, Groups]] = {}
    try:
        header, *lines = map(json.loads, gzip.decompress(path.read_bytes()).decode("utf-8").splitlines())
        if header["format"] != RANKINGS_FORMAT:
            raise InputError(f"{path}: format {header['format']!r}, not {RANKINGS_FORMAT}; run it with --overwrite")
        for row in lines:
            groups.setdefault(row["subset"], {})[row["query"]] = row["documents"]
    except InputError:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a ranking file ({error}); run it again with --overwrite") from error
    return header, groups


def _ranking(groups: Mapping[str, Groups], data: RetrievalData, *, place: str) -> SubsetRanking:
    differing = sorted(set(groups) ^ set(data.qrels))
    if differing:
        where = "in the rankings" if differing[0] in groups else "in the data"
        raise InputError(f"{place}: query {differing[0]!r} is only {where}; run it again with --overwrite")
    try:
        return SubsetRanking.from_groups(groups, list(data.documents), qrels=data.qrels)
    except KeyError as error:
        raise InputError(f"{place}: document {error} is not in the data; run it again with --overwrite") from error


def _read_spans(results: Sequence[ResultFile], key: Key) -> Scored:
    """Results of the span grid that differ in the seed alone, as one: the counts of a sentence are added up."""
    test = current_spans().load(key[1])["test"]
    total = np.zeros((len(test), 2))
    by_seed: dict[int, Path] = {}
    for result in results:
        with _damage_named(result.path):
            seed = int(result.record["seed"])
            if seed in by_seed:
                what = f"{', '.join(key)}, seed {seed}"
                raise _ambiguous(result.path.parent, what, [by_seed[seed], result.path])
            by_seed[seed] = result.path
            total += _span_sums(result, test)
    return Scored(
        results[0].path,
        str(results[0].record["model"]),
        clusters=idiom_clusters(test),
        sums={sentence.id: (above, below) for sentence, (above, below) in zip(test, total.tolist(), strict=True)},
        seeds=tuple(sorted(by_seed)),
    )


def _span_sums(result: ResultFile, test: Sequence[TaggedSentence]) -> npt.NDArray[np.float64]:
    """(sentences, 2): what each adds to numerator and denominator of the span F1."""
    correct, predicted, gold = span_counts(
        [sentence.tags for sentence in test], _tags(result.record["tags"], test, place=result.path)
    ).T.astype(np.float64)
    if not gold.any():
        raise InputError(f"{result.path}: the test sentences of the data have no idiom to be found; nothing to compare")
    sums = np.stack([2 * correct, predicted + gold], axis=1)
    numerator, denominator = sums.sum(axis=0)
    _check_score(float(numerator / denominator), float(result.record["scores"]["span_f1"]), place=str(result.path))
    return sums


def _tags(tags: Mapping[str, str], test: Sequence[TaggedSentence], *, place: Path) -> list[list[str]]:
    """The predicted tags of the test sentences."""
    differing = sorted(set(tags) ^ {sentence.id for sentence in test})
    if differing:
        where = "in the result" if differing[0] in tags else "in the data"
        raise InputError(f"{place}: sentence {differing[0]!r} is only {where}; delete the file and compute it again")
    for sentence in test:
        letters = tags[sentence.id]
        if len(letters) != len(sentence.tags) or set(letters) - set(_LABEL_OF_LETTER):
            raise InputError(
                f"{place}: sentence {sentence.id!r} has {len(sentence.tags)} words, but the tags {letters!r}; delete "
                "the file and compute it again"
            )
    return [[_LABEL_OF_LETTER[letter] for letter in tags[sentence.id]] for sentence in test]


def idiom_clusters(test: Sequence[TaggedSentence]) -> dict[str, str]:
    """Sentence -> its idiom, named by its first sentence: in a lexicon the concept, the same in every language."""
    first: dict[str, str] = {}
    for sentence in test:
        first[sentence.idiom] = min(sentence.id, first.get(sentence.idiom, sentence.id))
    return {sentence.id: first[sentence.idiom] for sentence in test}


def _check_score(computed: float, stored: float, *, place: str) -> None:
    if not abs(computed - stored) <= _ROUNDED:
        raise InputError(
            f"{place}: gives the score {computed:.5f}, but the result file says {stored:.5f}; the two do not belong "
            "together: compute both again"
        )


def _ambiguous(place: Path, what: str, paths: Sequence[Path]) -> InputError:
    shown = " and ".join(str(path) for path in paths[:2])
    return InputError(f"{place}: several results of {what}: {shown}; give the folder or file of one model")


def models(scored: Mapping[Key, Scored]) -> Iterator[str]:
    """The names of the models, each once; a comparison is of one."""
    yield from dict.fromkeys(entry.model for entry in scored.values())
