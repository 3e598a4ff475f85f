"""Data of idiomaticity detection: sentences with a label, divided by idiom.

Label 0 is idiomatic and 1 is not, as in AStitchInLanguageModels. The sources are AStitch (Task 1), SemEval-2022 (Task 2
A), Dodiom, and a lexicon, whose entries have an example and a literal example. In the zero-shot setup no idiom of the
test is trained on. In the one-shot and few-shot setups training continues on a few sentences of the test and
development idioms, as in the paper (appendix B.1).
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.similarity import content_digest
from turkic_idiom_tasks.encoders.names import IDIOMATIC, NOT_IDIOMATIC
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, TRAIN, is_development_idiom, is_test_concept, retrieval_split
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_LANGUAGES, AStitchData, Labelled
from turkic_idiom_tasks.tasks.siblings.semeval import semeval_sentences
from turkic_idiom_tasks.training.regimes import text_key
from turkic_idiom_tasks.training.triplets import choose_languages

ASTITCH, SEMEVAL, LEXICON, DODIOM = "astitch", "semeval", "lexicon", "dodiom"
ZERO_SHOT, ONE_SHOT, FEW_SHOT = SETUPS = ("zero-shot", "one-shot", "few-shot")
CONTEXT, IDIOM = INPUTS = ("context", "idiom")
DODIOM_VARIABLE = "DODIOM_DATA"
DODIOM_SOURCE = "https://github.com/Dodiom/dodiom"
_SHOTS = {ZERO_SHOT: 0, ONE_SHOT: 1, FEW_SHOT: 4}  # sentences of each label and idiom; the paper has 1 to 4
_DODIOM_COLUMNS = ("idiom", "submission", "category")
_DODIOM_LABELS = {"idiom": IDIOMATIC, "nonidiom": NOT_IDIOMATIC}


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData:
    """Data of one training."""

    path: str  # name of the data in results
    revision: str  # 40 hexadecimal digits that are the same for the same rows
    stages: tuple[tuple[Labelled, ...], ...]  # rows to learn from; the second stage has sentences of the test idioms
    development: tuple[Labelled, ...]  # rows by which the best epoch is chosen
    test: tuple[Labelled, ...]  # rows to score


def build_labelled(
    data: str | Dataset,
    *,
    setup: str = ZERO_SHOT,
    inputs: Sequence[str] = (IDIOM,),
    subtask: str = "A",
    languages: Sequence[str] = (),
) -> LabelledData:
    """Return the rows that a name stands for.

    Data is ``astitch`` (the folder that ASTITCH_DATA names), ``semeval`` (SEMEVAL_IDIOM_DATA), ``dodiom`` (the table
    that DODIOM_DATA names), ``lexicon`` (the bundled one), a lexicon directory, or an opened dataset. A lexicon has the
    setup ``zero-shot`` alone. The input ``context`` adds the sentences before and after, which AStitch and SemEval
    have; subtask B is of AStitch; ``idiom`` gives the idiom as the second text. Languages are ``eng`` (the default) or
    ``por`` of AStitch and SemEval, or codes of a lexicon's.
    """
    problems = []
    for name in inputs:
        if name not in INPUTS:
            problems.append(f"--inputs {name}: choose one of {', '.join(INPUTS)}")
    if subtask == "B" and tuple(inputs) != (IDIOM,):
        problems.append("--subtask B: a sentence and a meaning are given, nothing else; leave out --inputs")
    if data in (ASTITCH, SEMEVAL):
        if len(languages) > 1 or not set(languages) <= set(ASTITCH_LANGUAGES):
            problems.append(f"--language {' '.join(languages)}: choose one of {', '.join(ASTITCH_LANGUAGES)}")
        if data == SEMEVAL and (setup == FEW_SHOT or subtask == "B"):
            problems.append(f"--data {SEMEVAL}: has subtask A in the setups {ZERO_SHOT} and {ONE_SHOT}")
    elif subtask == "B" or CONTEXT in inputs:
        place = data.path if isinstance(data, Dataset) else data
        problems.append(f"--data {place}: has neither subtask B nor the sentences around; only {ASTITCH} has them")
    elif data == DODIOM and tuple(languages) not in ((), (PIVOT,)):
        problems.append(f"--language {' '.join(languages)}: the table of Dodiom that is read is Turkish")
    elif data != DODIOM and setup != ZERO_SHOT:
        problems.append(f"--setup {setup}: a lexicon has one sentence of each use of an idiom; use {ZERO_SHOT}")
    if problems:
        raise usage_error("; ".join(problems))
    subset = languages[0] if languages else "eng"
    if data == ASTITCH:
        parts = dict.fromkeys(["train_zero_shot", f"train_{setup.replace('-', '_')}"])
        copy = AStitchData()
        rows = {}
        for part in (*parts, "dev", "test"):
            rows[part] = copy.labelled(
                subset, subtask=subtask, part=part, context=CONTEXT in inputs, idiom=IDIOM in inputs
            )
        return _checked(f"{ASTITCH}, {subset}", [rows[part] for part in parts], rows["dev"], rows["test"])
    if data == SEMEVAL:
        rows = {}
        for part in ("train_zero_shot", "train_one_shot", "dev"):
            rows[part] = []
            for label, sentence, idiom in semeval_sentences(subset, part, context=CONTEXT in inputs):
                rows[part].append(Labelled(label, sentence, idiom if IDIOM in inputs else "", idiom.lower()))
        # The labels of later parts are not public, so dev is the test, and a tenth of the idioms is for development
        train, shots = rows["train_zero_shot"], rows["train_one_shot"] if setup == ONE_SHOT else []
        held = [row for row in train if is_development_idiom(row.idiom)]
        kept = [row for row in train if not is_development_idiom(row.idiom)]
        return _checked(f"{SEMEVAL}, {subset}", [kept, shots], held, rows["dev"])
    path, splits = _dodiom() if data == DODIOM else _lexicon(data, languages)
    if IDIOM not in inputs:
        for split, of_split in splits.items():
            splits[split] = [row._replace(second="") for row in of_split]
    shots, development, test = _set_shots_aside(splits, _SHOTS[setup])
    return _checked(path, [splits[TRAIN], shots], development, test)


def _checked(
    path: str, stages: Sequence[Sequence[Labelled]], development: Sequence[Labelled], test: Sequence[Labelled]
) -> LabelledData:
    for name, rows in (("training", stages[0]), ("development", development), ("test", test)):
        if len({row.label for row in rows}) < 2:
            raise InputError(f"{path}: {len(rows)} {name} sentences; there must be some of both labels. Add sentences")
    records = []
    for part, rows in enumerate((*stages, development, test)):
        for row in rows:
            records.append([part, row.label, row.first, row.second, row.idiom])
    return LabelledData(
        path=path,
        revision=content_digest(records),
        stages=tuple(tuple(rows) for rows in stages if rows),
        development=tuple(development),
        test=tuple(test),
    )


def _lexicon(data: str | Dataset, languages: Sequence[str]) -> tuple[str, dict[str, list[Labelled]]]:
    """Return the name of the data, and the example and literal example of its entries by split."""
    dataset = data if isinstance(data, Dataset) else open_dataset("" if data == LEXICON else data)
    literal: dict[str, dict[str, Entry]] = {}
    for code in LANGUAGES:
        for concept, entry in sorted(dataset.lexicon.of(code).items()):
            if entry.example and entry.literal_example:
                literal.setdefault(code, {})[concept] = entry
    choose_languages(languages, literal, needed="literal examples")
    splits: dict[str, list[Labelled]] = {TRAIN: [], DEVELOPMENT: [], TEST: []}
    # Concepts that were judged to mean the same as a test concept are left out of the other splits
    like_test = dataset.lexicon.meaning_the_same(is_test_concept)
    # An idiom of several concepts is in the first of these splits alone, or it would be trained on and tested.
    taken: set[tuple[str, str]] = set()
    for split in (TEST, DEVELOPMENT, TRAIN):
        keys = set()
        for code in languages or literal:
            for concept, entry in literal[code].items():
                key = (code, text_key(entry.idiom, code))
                if retrieval_split(concept) != split or key in taken or (split != TEST and concept in like_test):
                    continue
                keys.add(key)
                splits[split].append(Labelled(IDIOMATIC, entry.example or "", entry.idiom, concept, code))
                splits[split].append(Labelled(NOT_IDIOMATIC, entry.literal_example or "", entry.idiom, concept, code))
        taken |= keys
    return dataset.path, splits


def _dodiom() -> tuple[str, dict[str, list[Labelled]]]:
    """Return the sentences of Dodiom's Turkish table by the split of their idiom; repeated ones are left out."""
    name = os.environ.get(DODIOM_VARIABLE, "")
    if not name:
        raise InputError(
            f"Dodiom is not part of this package; download its Turkish table from {DODIOM_SOURCE} and set "
            f"{DODIOM_VARIABLE} to the file"
        )
    splits: dict[str, list[Labelled]] = {TRAIN: [], DEVELOPMENT: [], TEST: []}
    seen = set()
    for record in read_table(Path(name), _DODIOM_COLUMNS):
        cells = record.cells
        if cells is None or cells["category"] not in _DODIOM_LABELS or not cells["submission"].strip():
            continue  # a row that the corpus itself has damaged or not judged
        idiom, sentence = cells["idiom"].strip(), cells["submission"].strip()
        key = text_key(idiom, PIVOT)
        if (key, sentence) not in seen:
            seen.add((key, sentence))
            label = _DODIOM_LABELS[cells["category"]]
            splits[retrieval_split(key)].append(Labelled(label, sentence, idiom, key, PIVOT))
    return DODIOM, splits


def _set_shots_aside(
    splits: dict[str, list[Labelled]], n_shots: int
) -> tuple[list[Labelled], list[Labelled], list[Labelled]]:
    """Return the shots, the development rows and the test rows."""
    # As many as the largest setup has are set aside in every setup, so that all have the same test rows; none of an
    # idiom and label that has no more sentences than that.
    most = max(_SHOTS.values())
    shots: list[Labelled] = []
    rest: dict[str, list[Labelled]] = {DEVELOPMENT: [], TEST: []}
    for split, kept in rest.items():
        groups: dict[tuple[str, int], list[Labelled]] = {}
        for row in splits[split]:
            groups.setdefault((row.idiom, row.label), []).append(row)
        for rows in groups.values():
            # by a hash, so that the shots are the same in whatever order a copy of the corpus has its rows
            ordered = sorted(
                rows, key=lambda row: hashlib.sha256(f"shots\n{row.first}".encode("utf-8", "surrogatepass")).digest()
            )
            held = ordered[:most] if len(ordered) > most else []
            shots += held[:n_shots]
            kept += ordered[len(held) :]
    return shots, rest[DEVELOPMENT], rest[TEST]
