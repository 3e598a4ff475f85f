"""Readers of ChengyuSTS (Qiu et al.) and of the files of SemEval-2022 Task 2 B."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from turkic_idiom_tasks.dataset.pair_dataset import PairDataset
from turkic_idiom_tasks.dataset.similarity import (
    CHENGYU_STS,
    CORRECT,
    GENERAL,
    INCORRECT,
    REFERENCE,
    SentencePair,
    SentencePairs,
    Triplet,
    parse_score,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_whole_table
from turkic_idiom_tasks.splits import TEST

CHENGYU_VARIABLE = "CHENGYU_STS_DATA"
CHENGYU_SUBSET = "cmn"
_COLUMNS = ("s", "a_c", "a_i", "sim")
_SEMEVAL_PAIRS = ("id", "language", "mwe1", "mwe2", "sentence1", "sentence2")
_SEMEVAL_GOLD = ("id", "dataid", "language", "sim", "otherid")
_SEMEVAL_LANGUAGES = {"EN": "eng", "PT": "por", "GL": "glg"}


def chengyu_dataset() -> PairDataset:
    """Return the test pairs in the folder that ``CHENGYU_STS_DATA`` names.

    Raises:
        InputError: they are not there, or malformed.
    """
    path = chengyu_path(TEST)
    return PairDataset(CHENGYU_STS, str(path.parent), {CHENGYU_SUBSET: read_chengyu(path)})


def chengyu_path(split: str) -> Path:
    """Return the file of a split in the folder that ``CHENGYU_STS_DATA`` names: ``test.csv`` or ``test.tsv``.

    Raises:
        InputError: the variable is not set, or the folder has no such file; says where the data is described.
    """
    folder = os.environ.get(CHENGYU_VARIABLE, "")
    for ending in ("csv", "tsv"):
        path = Path(folder) / f"{split}.{ending}"
        if folder and path.is_file():
            return path
    raise InputError(
        f"ChengyuSTS is not part of this package: {CHENGYU_VARIABLE} ({folder or 'not set'}) must name a folder with "
        f"{split}.csv, which has the columns S, A_c, A_i and sim; the paper (Qiu, Chersoni and Villavicencio, "
        "ChengyuSTS) says where the data is published"
    )


def read_chengyu(path: Path) -> SentencePairs:
    """Return the pairs of a file of ChengyuSTS.

    A row is a sentence S, its correct paraphrase A_c, its incorrect paraphrase A_i and a similarity. Where the
    similarity is empty, the pair (S, A_i) has the gold score of the model's own similarity of (A_c, A_i). A row with
    braces is an idiom pair. The braces mark the idiom, and are removed.

    Raises:
        InputError: the file cannot be read, or a row lacks a part.
    """
    rows: list[SentencePair] = []
    for place, cells in read_whole_table(path, _COLUMNS):
        rows += _chengyu_pairs(place, place.rpartition(":")[2], cells)
    return SentencePairs(CHENGYU_SUBSET, rows)


def read_chengyu_triplets(path: Path) -> list[Triplet]:
    """Return the training triplets of a file of ChengyuSTS: (S, A_c, A_i), of which A_c or A_i may be missing.

    A row with one of the two is left out if another row has the same sentence with both.

    Raises:
        InputError: the file cannot be read, or a row lacks a sentence.
    """
    triplets = []
    for place, cells in read_whole_table(path, _COLUMNS):
        sentence, correct, incorrect = (_without_braces(cells[column]) for column in ("s", "a_c", "a_i"))
        if not sentence or not (correct or incorrect):
            raise InputError(f"{place}: a row needs S, and A_c or A_i")
        triplets.append(Triplet(sentence, correct or None, incorrect or None, _in_braces(cells["s"])))
    complete = {row.original for row in triplets if row.correct and row.incorrect}
    return [row for row in triplets if (row.correct and row.incorrect) or row.original not in complete]


def _chengyu_pairs(place: str, name: str, cells: Mapping[str, str]) -> list[SentencePair]:
    sentence, correct, incorrect = (_without_braces(cells[column]) for column in ("s", "a_c", "a_i"))
    idiom = _in_braces(cells["s"])
    concept = idiom or f"sts/{name}"
    if not sentence or not (correct or incorrect):
        raise InputError(f"{place}: a row needs S, and A_c or A_i")
    if cells["sim"].strip():
        score = parse_score(place, cells["sim"])
        kind = GENERAL if not idiom else CORRECT if correct else INCORRECT
        return [SentencePair(name, sentence, correct or incorrect, kind, score, None, concept, idiom)]
    if not correct or not incorrect:
        raise InputError(f"{place}: a row without sim needs both A_c and A_i")
    reference = f"{name}/{REFERENCE}"
    return [
        SentencePair(name, sentence, incorrect, INCORRECT if idiom else GENERAL, None, reference, concept, idiom),
        SentencePair(reference, correct, incorrect, REFERENCE, 0.0, None, concept, idiom),
    ]


def read_semeval(pairs_path: Path, gold_path: Path, *, language: str) -> SentencePairs:
    """Return the pairs of one language of SemEval-2022 Task 2 B.

    The task's own evaluator gives the same correlations. A row of the gold file without ``sim`` has the gold score of
    the model's own similarity of the pair ``otherID``; ``sts`` as the third part of ``DataID`` marks general pairs.

    Args:
        pairs_path: columns ID, Language, MWE1, MWE2, sentence1, sentence2.
        gold_path: columns ID, DataID, Language, sim, otherID.
        language: ``EN``, ``PT`` or ``GL``.

    Raises:
        InputError: a file cannot be read, or the two do not fit together.
    """
    texts = _rows_by_id(pairs_path, _SEMEVAL_PAIRS)
    gold = {
        name: cells for name, cells in _rows_by_id(gold_path, _SEMEVAL_GOLD).items() if cells["language"] == language
    }
    others = {cells["otherid"] for cells in gold.values() if not cells["sim"]}
    rows = []
    for name in (*gold, *sorted(others - set(gold))):
        if name not in texts:
            raise InputError(f"{gold_path}: the pair {name!r} is not in {pairs_path}")
        text = texts[name]
        idiom = text["mwe1"] if text["mwe1"] not in ("", "None") else ""
        if name not in gold:
            sentences = (text["sentence1"], text["sentence2"])
            rows.append(SentencePair(name, *sentences, REFERENCE, 0.0, None, idiom or f"pair/{name}", idiom))
            continue
        rows.append(_semeval_pair(f"{gold_path}, ID {name}", name, text, gold[name], idiom))
    return SentencePairs(_SEMEVAL_LANGUAGES[language], rows)


def _semeval_pair(place: str, name: str, text: Mapping[str, str], gold: Mapping[str, str], idiom: str) -> SentencePair:
    parts = gold["dataid"].split(".")
    if len(parts) < 3:
        raise InputError(f"{place}: DataID is {gold['dataid']!r}; it needs at least three parts with points between")
    kind = CORRECT if gold["sim"] else INCORRECT
    if parts[2] == "sts":
        kind = GENERAL
    score = parse_score(place, gold["sim"]) if gold["sim"] else None
    other = None if gold["sim"] else gold["otherid"]
    concept = idiom or f"pair/{name}"
    return SentencePair(name, text["sentence1"], text["sentence2"], kind, score, other, concept, idiom)


def _rows_by_id(path: Path, columns: tuple[str, ...]) -> dict[str, Mapping[str, str]]:
    rows: dict[str, Mapping[str, str]] = {}
    for place, cells in read_whole_table(path, columns):
        name = cells["id"]
        if name in rows:
            raise InputError(f"{place}: the ID {name!r} appears twice")
        rows[name] = cells
    return rows


def _without_braces(text: str) -> str:
    return text.replace("{", "").replace("}", "").strip()


def _in_braces(text: str) -> str:
    _, brace, after = text.partition("{")
    return after.partition("}")[0] if brace else ""
