"""Reader of ChengyuSTS (Qiu et al.).

A row is a sentence S, its correct paraphrase A_c, its incorrect paraphrase A_i and a similarity. Braces mark the idiom,
and are removed. A file that cannot be read, or a row that lacks a part, is an `InputError` that names it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from turkic_idiom_tasks.dataset.base import PairDataset
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
    repeats_row,
)
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.csv_files import read_whole_table
from turkic_idiom_tasks.splits import TEST

CHENGYU_VARIABLE = "CHENGYU_STS_DATA"
CHENGYU_SUBSET = "cmn"
_COLUMNS = ("s", "a_c", "a_i", "sim")


def chengyu_dataset() -> PairDataset:
    """Return the test pairs in the folder that ``CHENGYU_STS_DATA`` names."""
    path = chengyu_path(TEST)
    return PairDataset(CHENGYU_STS, str(path.parent), {CHENGYU_SUBSET: read_chengyu(path)})


def chengyu_path(split: str) -> Path:
    """Return the file of a split in the folder that ``CHENGYU_STS_DATA`` names: ``test.csv`` or ``test.tsv``."""
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
    """Return the pairs of a file of ChengyuSTS, without repeated rows."""
    pairs: list[SentencePair] = []
    earlier: dict[tuple[str | None, ...], tuple[str, object]] = {}  # see `repeats_row`
    for place, row, similarity in _rows(path):
        name, idiom = place.rpartition(":")[2], row.idiom
        concept = idiom or f"sts/{name}"
        score = parse_score(place, similarity) if similarity else None
        if repeats_row(place, (row.original, row.correct, row.incorrect), score, earlier):
            continue
        if score is not None:
            # Only the rows of idiom pairs have braces
            kind = GENERAL if not idiom else CORRECT if row.correct else INCORRECT
            other = row.correct or row.incorrect or ""
            pairs.append(SentencePair(name, row.original, other, kind, score, None, concept, idiom))
            continue
        if row.correct is None or row.incorrect is None:
            raise InputError(f"{place}: a row without sim needs both A_c and A_i")
        # Without a stated similarity, that of (S, A_i) should be the model's own of (A_c, A_i)
        kind, reference = INCORRECT if idiom else GENERAL, f"{name}/{REFERENCE}"
        pairs.append(SentencePair(name, row.original, row.incorrect, kind, None, reference, concept, idiom))
        pairs.append(SentencePair(reference, row.correct, row.incorrect, REFERENCE, 0.0, None, concept, idiom))
    return SentencePairs(CHENGYU_SUBSET, pairs)


def read_chengyu_triplets(path: Path) -> list[Triplet]:
    """Return the training triplets of a file of ChengyuSTS: (S, A_c, A_i), of which A_c or A_i may be missing.

    A row with one of the two is left out if another row has the same sentence with both.
    """
    triplets = [row for _, row, _ in _rows(path)]
    complete = {row.original for row in triplets if row.correct and row.incorrect}
    return [row for row in triplets if (row.correct and row.incorrect) or row.original not in complete]


def _rows(path: Path) -> Iterator[tuple[str, Triplet, str]]:
    """Yield the place of each row (file and line), its sentences without braces, and its similarity; may be empty."""
    for place, cells in read_whole_table(path, _COLUMNS):
        texts = [cells[column].replace("{", "").replace("}", "").strip() for column in ("s", "a_c", "a_i")]
        sentence, correct, incorrect = texts
        idiom = cells["s"].partition("{")[2].partition("}")[0]
        if not sentence or not (correct or incorrect):
            raise InputError(f"{place}: a row needs S, and A_c or A_i")
        yield place, Triplet(sentence, correct or None, incorrect or None, idiom), cells["sim"].strip()
