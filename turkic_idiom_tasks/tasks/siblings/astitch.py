"""Reader of AStitchInLanguageModels (Tayyar Madabushi et al., 2021): sentence pairs, triplets and labelled sentences.

The data has the licence GPL-3 and is not part of this package. The reader takes a copy of its repository,
https://github.com/H-TayyarMadabushi/AStitchInLanguageModels, or the folder ``Dataset`` in it. Subsets are ``eng`` and
``por``. A file that is missing or malformed is an `InputError` that names it.
"""

import os
from pathlib import Path
from typing import NamedTuple

from turkic_idiom_tasks.dataset.base import PairDataset
from turkic_idiom_tasks.dataset.similarity import (
    ASTITCH_STS,
    CORRECT,
    GENERAL,
    INCORRECT,
    REFERENCE,
    SentencePair,
    SentencePairs,
    Triplet,
    parse_score,
    repeats_row,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_records, read_text, read_whole_table

ASTITCH_VARIABLE = "ASTITCH_DATA"
ASTITCH_LANGUAGES = {"eng": "EN", "por": "PT"}  # subset -> the folder's name
ASTITCH_SOURCE = "https://github.com/H-TayyarMadabushi/AStitchInLanguageModels"
_MISSING = ("", "none")  # a cell without a value is empty or has the word None
_PAIR_COLUMNS = ("sent_idiom", "sent_other", "sim", "idiom", "correct", "incorrect")
_TRIPLET_COLUMNS = ("original", "correct", "incorrect", "idiom")
_LABEL_COLUMNS = ("label", "sentence1", "sentence2")


class Labelled(NamedTuple):
    """A sentence, or a pair of texts, with its label."""

    label: int  # 0 if the idiom is meant, 1 if not; in subtask B 1 if the second text is what the expression means
    first: str  # the sentence, with its neighbours where the context is included
    second: str  # the idiom or, in subtask B, a candidate for its meaning; empty if there is none
    idiom: str  # for intervals; the sentence itself where it is not known
    language: str = ""  # code of a language of the benchmark; empty for others


def astitch_dataset() -> PairDataset:
    """Return the test pairs of Task 2 in the folder that ``ASTITCH_DATA`` names."""
    data = AStitchData()
    pairs = {subset: data.pairs(subset) for subset in ASTITCH_LANGUAGES}
    return PairDataset(ASTITCH_STS, os.environ[ASTITCH_VARIABLE], pairs)


class AStitchData:
    """A local copy of AStitchInLanguageModels; its `root` holds ``Task1`` and ``Task2``."""

    def __init__(self, path: Path | str | None = None) -> None:
        """Find a copy of the repository, by default in ``ASTITCH_DATA``; an InputError says where to obtain it."""
        name = path if path is not None else os.environ.get(ASTITCH_VARIABLE, "")
        roots = [root for root in (Path(name), Path(name, "Dataset")) if str(name) and (root / "Task2").is_dir()]
        if not roots:
            raise InputError(
                "AStitchInLanguageModels is not part of this package (licence GPL-3): "
                f"{ASTITCH_VARIABLE} ({name or 'not set'}) must name a clone of {ASTITCH_SOURCE}, which has the folder "
                "Task2 or Dataset/Task2"
            )
        self.root = roots[0]

    def pairs(self, subset: str) -> SentencePairs:
        """Return the idiom pairs and general pairs in the test split of Task 2, without repeated rows."""
        folder = ASTITCH_LANGUAGES[subset]
        data = self.root / "Task2" / "CreateEvaluationData"
        rows: list[SentencePair] = []
        references: dict[tuple[str, str], str] = {}  # (E_c, E_i) -> id of the pair
        earlier: dict[tuple[str | None, ...], tuple[str, object]] = {}  # see `repeats_row`
        path = data / folder / "NoResults" / "evalData" / "test_rawSimData.csv"
        for place, cells in read_whole_table(path, _PAIR_COLUMNS):
            name = place.rpartition(":")[2]
            sentence, other, idiom = cells["sent_idiom"], cells["sent_other"], cells["idiom"]
            both = (cells["correct"], cells["incorrect"])
            score = None if _is_missing(cells["sim"]) else parse_score(place, cells["sim"])
            if repeats_row(place, (sentence, other), both if score is None else score, earlier):
                continue
            if score is not None:
                rows.append(SentencePair(name, sentence, other, CORRECT, score, None, idiom, idiom))
                continue
            if any(map(_is_missing, both)):
                raise InputError(f"{place}: a pair without sim needs a correct and an incorrect sentence")
            # The gold score of an incorrect pair is the model's own similarity of (E_c, E_i), which many rows share
            if both not in references:
                references[both] = f"{name}/{REFERENCE}"
                rows.append(SentencePair(references[both], *both, REFERENCE, 0.0, None, idiom, idiom))
            rows.append(SentencePair(name, sentence, other, INCORRECT, None, references[both], idiom, idiom))
        rows += read_general_pairs(data / "EvalSTSData" / f"{folder.lower()}_test_Eval_STS_Data.csv")
        return SentencePairs(subset, rows)

    def triplets(self, subset: str) -> list[Triplet]:
        """Return the training triplets of Task 2 B."""
        folder = self.root / "Task2" / "SubtaskB-Fine_Tune" / "CreateFineTuneData" / ASTITCH_LANGUAGES[subset]
        return read_triplets(folder / "trainData" / "trainToPredict.csv")

    def labelled(self, subset: str, *, subtask: str, part: str, context: bool, idiom: bool = True) -> list[Labelled]:
        """Return the rows of a file of Task 1.

        Subtask ``A`` asks whether the expression is idiomatic, ``B`` whether the second sentence says what it means.
        The parts are ``dev``, ``test``, ``train_zero_shot``, ``train_one_shot`` and ``train_few_shot``. In subtask A
        the neighbouring sentences can be included as context, and the expression is the second sentence unless `idiom`
        is False.
        """
        around = "ContextIncluded" if context and subtask == "A" else "ContextExcluded"
        folder = self.root / "Task1" / "SubTaskA" / ASTITCH_LANGUAGES[subset]
        # Only this file of subtask A says which expression a sentence is about
        idiom_of = {}
        for _, cells in read_whole_table(folder / f"{around}_IdiomIncluded" / f"{part}.csv", _LABEL_COLUMNS):
            idiom_of[cells["sentence1"]] = cells["sentence2"]
        if subtask == "B":
            folder = self.root / "Task1" / "SubTaskB" / ASTITCH_LANGUAGES[subset] / around
        else:
            folder /= f"{around}_IdiomIncluded" if idiom else f"{around}_IdiomExcluded"
        required = _LABEL_COLUMNS if subtask == "B" or idiom else _LABEL_COLUMNS[:2]
        sentences = []
        for place, cells in read_whole_table(folder / f"{part}.csv", required):
            label, sentence = cells["label"].strip(), cells["sentence1"]
            if label not in ("0", "1"):
                raise InputError(f"{place}: the label is {label!r}; it must be 0 or 1")
            expression = idiom_of.get(sentence, sentence)
            sentences.append(Labelled(int(label), sentence, cells.get("sentence2", ""), expression))
        return sentences


def read_triplets(path: Path) -> list[Triplet]:
    """Return the triplets of a table with the columns original, correct, incorrect and idiom."""
    triplets = []
    for place, cells in read_whole_table(path, _TRIPLET_COLUMNS):
        if not cells["original"].strip():
            raise InputError(f"{place}: the column original is empty; it needs a sentence")
        correct, incorrect = (None if _is_missing(cells[key]) else cells[key] for key in ("correct", "incorrect"))
        triplets.append(Triplet(cells["original"], correct, incorrect, cells["idiom"]))
    return triplets


def read_general_pairs(path: Path) -> list[SentencePair]:
    """Return the general pairs of a file: a score in [0, 1] and two sentences in each row."""
    rows = []
    # Not as a table, because the file has no header line
    for line, _, cells in read_records(path, read_text(path), ","):
        if len(cells) != 3:
            raise InputError(f"{path}:{line}: {len(cells)} cells; a row has a score and two sentences")
        name = f"sts/{line}"
        score = parse_score(f"{path}:{line}", cells[0])
        rows.append(SentencePair(name, cells[1], cells[2], GENERAL, score, None, name))
    return rows


def _is_missing(text: str) -> bool:
    return text.strip().lower() in _MISSING
