"""Reader of SemEval-2022 Task 2 (Tayyar Madabushi et al., 2022), and writer of the submission form of subtask B.

The data has no licence that lets us bundle it. The reader takes a clone of its repository, or in subtask B the folder
of a part. A part is a table of pairs, such as ``dev.csv``; its gold file, such as ``dev.gold.csv``, states for each
scored pair a similarity or the pair whose similarity counts. Subsets are ``eng``, ``por`` and ``glg``.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from turkic_idiom_tasks.dataset.base import PairDataset
from turkic_idiom_tasks.dataset.similarity import (
    CORRECT,
    GENERAL,
    INCORRECT,
    REFERENCE,
    SEMEVAL_STS,
    SentencePair,
    SentencePairs,
    parse_score,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import csv_text, read_whole_table
from turkic_idiom_tasks.results.predictions import Similarities

SEMEVAL_VARIABLE = "SEMEVAL_IDIOM_DATA"
SEMEVAL_SOURCE = "https://github.com/H-TayyarMadabushi/SemEval_2022_Task2-idiomaticity"
SEMEVAL_LANGUAGES = {"eng": "EN", "por": "PT", "glg": "GL"}  # subset -> in the column Language
SETTINGS = ("pre_train", "fine_tune")
_PARTS = {"test": "TestData", "eval": "EvaluationData", "dev": "EvaluationData"}  # the most recent first
_PAIR_COLUMNS = ("id", "language", "mwe1", "sentence1", "sentence2")
_GOLD_COLUMNS = ("id", "dataid", "language", "sim", "otherid")
_SENTENCE_COLUMNS = ("language", "mwe", "previous", "target", "next")


def semeval_dataset(*, gold: bool = True) -> PairDataset:
    """Return the most recent part that has a gold file; without `gold` the most recent one, to be submitted."""
    name = os.environ.get(SEMEVAL_VARIABLE, "")
    places = [(Path(name, "SubTaskB", folder), part) for part, folder in _PARTS.items()]
    for folder, part in [*places, *((Path(name), part) for part in _PARTS)] if name else []:
        path, gold_path = folder / f"{part}.csv", folder / f"{part}.gold.csv"
        if path.is_file() and (gold_path.is_file() or not gold):
            return PairDataset(SEMEVAL_STS, str(path), dict(_read(path, gold_path if gold else None)))
    raise InputError(
        f"{SEMEVAL_VARIABLE} ({name or 'not set'}) names no folder with pairs{' and gold' if gold else ''}, such as "
        f"dev.csv{' and dev.gold.csv' if gold else ''}; set it to a clone of {SEMEVAL_SOURCE}"
    )


def _read(path: Path, gold_path: Path | None) -> Iterator[tuple[str, SentencePairs]]:
    # A repeated pair stays: the evaluator counts it as often as it is there
    rows = () if gold_path is None else read_whole_table(gold_path, _GOLD_COLUMNS)
    gold = {row["id"]: (place, row) for place, row in rows}
    by_language: dict[str, list[SentencePair]] = {}
    for _, cells in read_whole_table(path, _PAIR_COLUMNS):
        name, idiom = cells["id"], "" if cells["mwe1"].lower() == "none" else cells["mwe1"]
        # A pair without gold is there for other pairs to refer to; without a gold file all pairs are to be submitted
        kind, score, other = GENERAL if gold_path is None else REFERENCE, "0", None
        place = str(path)
        if name in gold:
            place, row = gold.pop(name)
            score, other = row["sim"], row["otherid"] or None
            kind = GENERAL if ".sts." in row["dataid"] else INCORRECT if other else CORRECT
        stated = None if other else parse_score(place, score)
        pair = SentencePair(name, cells["sentence1"], cells["sentence2"], kind, stated, other, idiom or name, idiom)
        by_language.setdefault(cells["language"], []).append(pair)
    if gold:
        raise InputError(f"{gold_path}: the pair {min(gold)} is not in {path}; take both files from the same release")
    for subset, language in SEMEVAL_LANGUAGES.items():
        # No part but the test has Galician
        if any(row.kind != REFERENCE for row in by_language.get(language, ())):
            yield subset, SentencePairs(subset, by_language[language])


def semeval_sentences(subset: str, part: str, *, context: bool) -> list[tuple[int, str, str]]:
    """Return label, sentence and expression of the rows of a part: `train_zero_shot`, `train_one_shot` or `dev`.

    This is subtask A, where label 0 is idiomatic.
    """
    name = os.environ.get(SEMEVAL_VARIABLE, "")
    folder = Path(name, "SubTaskA", "Data")
    if not name or not folder.is_dir():
        raise InputError(f"{SEMEVAL_VARIABLE} ({name or 'not set'}) has no SubTaskA/Data; clone {SEMEVAL_SOURCE}")
    gold, key = {}, "label"
    if part == "dev":
        labelled = read_whole_table(folder / "dev_gold.csv", ("id", "label"))
        # Here alone the labels stand in a file of their own
        gold, key = {row["id"]: row["label"] for _, row in labelled}, "id"
    sentences = []
    for place, cells in read_whole_table(folder / f"{part}.csv", (*_SENTENCE_COLUMNS, key)):
        label = gold.get(cells["id"], "") if key == "id" else cells["label"]
        if label not in ("0", "1"):
            raise InputError(f"{place}: the label is {label!r}; it must be 0 or 1, in dev_gold.csv for dev.csv")
        if cells["language"] == SEMEVAL_LANGUAGES[subset]:
            texts = (cells["previous"], cells["target"], cells["next"]) if context else (cells["target"],)
            sentences.append((int(label), " ".join(texts), cells["mwe"]))
    return sentences


def submission_form(predictions: list[Similarities], setting: str) -> str:
    """Return the submission form: a row for each pair and setting, whose similarity is empty in the other setting."""
    rows: list[tuple[str, str, str, float | None]] = []
    for name in SETTINGS:
        for prediction in predictions:
            language = SEMEVAL_LANGUAGES[prediction.pairs.subset]
            for row, value in zip(prediction.pairs.rows, prediction.values.tolist(), strict=True):
                rows.append((row.id, language, name, value if name == setting else None))
    return csv_text(pd.DataFrame(rows, columns=["ID", "Language", "Setting", "Sim"]))
