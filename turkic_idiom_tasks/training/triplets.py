"""Data of the training for idiomatic similarity: triplets, development pairs and test pairs.

A triplet is a sentence E with an idiom, E_c with the idiom replaced by what it means, and E_i with the idiom replaced
by what it does not mean. A tenth of the training idioms are the development idioms; a lexicon has a development split
of its own. The test pairs are those of the similarity tasks.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from turkic_idiom_tasks.dataset import Dataset, open_dataset
from turkic_idiom_tasks.dataset.similarity import (
    CORRECT,
    GENERAL,
    INCORRECT,
    REFERENCE,
    SIMILARITY_TASKS,
    STS,
    SentencePair,
    SentencePairs,
    Triplet,
    complete_entries,
    content_digest,
)
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.io.csv_files import read_table
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, TRAIN, is_development_idiom, is_test_concept
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_LANGUAGES, AStitchData, read_general_pairs, read_triplets
from turkic_idiom_tasks.tasks.siblings.chengyu import CHENGYU_SUBSET, chengyu_path, read_chengyu, read_chengyu_triplets
from turkic_idiom_tasks.training.regimes import text_key

ASTITCH, CHENGYU, LEXICON = "astitch", "chengyu", "lexicon"
# Idioms of the test pairs must not be trained on, unless the caller says so: AStitch builds its training file also from
# the few-shot sentences, which have idioms of the test set.
REFUSE, LEAVE_OUT, KEEP = SEEN_IDIOMS = ("refuse", "leave-out", "keep")  # the data, the triplets, the triplets
MIN_TRIPLETS = 16
_FILE_SUBSET = "file"
_CHENGYU_COLUMNS = {"s", "a_c", "a_i", "sim"}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class TripletData:
    """Data of one training for similarity."""

    path: str  # name of the data in results
    revision: str  # 40 hexadecimal digits that are the same for the same triplets and test pairs
    training: tuple[Triplet, ...]
    development: SentencePairs  # pairs of other idioms, by which the best weights are chosen
    test: Mapping[str, SentencePairs]  # subset -> the pairs of the similarity task; empty for a file of triplets
    seen: tuple[str, ...] = ()  # names of the test idioms that are trained on, because the caller keeps them
    n_left_out: int = 0  # triplets that were left out because of a test or development idiom
    general: tuple[SentencePair, ...] = ()  # pairs without idioms and their gold scores, for the regression

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the data, for records."""
        return {
            "triplets": len(self.training),
            "general_pairs": len(self.general),
            "development_pairs": int(self.development.is_scored.sum()),
            "left_out": self.n_left_out,
        }


class _Source(NamedTuple):
    """Triplets of one subset before its test idioms are looked for."""

    training: list[Triplet]
    development: list[Triplet]  # of other idioms
    test: SentencePairs | None  # pairs of the task; None if there are none
    n_left_out: int = 0  # triplets that the source itself has left out


def build_triplets(
    data: str | Dataset = "", *, languages: Sequence[str] = (), seen_idioms: str = REFUSE, general: Path | None = None
) -> TripletData:
    """Return the triplets, development pairs and test pairs that a name stands for.

    Data is ``astitch`` (the folder that ASTITCH_DATA names), ``chengyu`` (that of CHENGYU_STS_DATA), ``lexicon`` or
    empty (the bundled one), a lexicon directory, an opened dataset, or a table with the columns original, correct,
    incorrect and idiom, or S, A_c, A_i and sim. Languages are subsets of AStitch or of a lexicon; empty for all. Of
    `seen_idioms`, triplets whose idiom is in the test pairs of their subset, see `SEEN_IDIOMS`. The general table has
    no header line, and in each row a score in [0, 1] and two sentences; a test pair in it is left out.
    """
    path, sources = _sources(data, languages)
    training: list[Triplet] = []
    development: dict[str, list[Triplet]] = {}
    test: dict[str, SentencePairs] = {}
    seen: set[str] = set()
    n_left_out = 0
    for subset, source in sources.items():
        tested: set[str] = set()
        if source.test is not None:
            test[subset] = source.test
            tested = {idiom_key(row.idiom) for row in source.test.rows if row.idiom}
        for triplets, kept in ((source.training, training), (source.development, development.setdefault(subset, []))):
            for triplet in triplets:
                is_tested = idiom_key(triplet.idiom) in tested
                if is_tested:
                    seen.add(triplet.idiom)
                if is_tested and seen_idioms != KEEP:
                    n_left_out += 1
                else:
                    kept.append(triplet)
        n_left_out += source.n_left_out
    rows = development_rows(development)
    if seen and seen_idioms == REFUSE:
        raise InputError(
            f"{path}: {len(seen)} idioms of the test pairs occur in training: {', '.join(sorted(seen))}; train without "
            f"them (--seen-idioms {LEAVE_OUT}), or with them, as the protocol of AStitch 2B does (--seen-idioms {KEEP})"
        )
    if len(training) < MIN_TRIPLETS or not any(row.kind == INCORRECT for row in rows):
        raise InputError(
            f"{path}: too few triplets: {len(training)} to train on and {sum(map(len, development.values()))} of "
            f"development idioms; needed are {MIN_TRIPLETS}, and a complete one to choose by. Add sentences"
        )
    # general pairs have gold scores: with one of the test pairs among them, its answer would be trained on
    general_pairs = []
    if general is not None:
        tested_pairs = {frozenset((row.sentence1, row.sentence2)) for pairs in test.values() for row in pairs.rows}
        for row in read_general_pairs(general):
            if frozenset((row.sentence1, row.sentence2)) not in tested_pairs:
                general_pairs.append(row)
    records: list[list[object]] = []
    for triplet in training:
        records.append([triplet.original, triplet.correct, triplet.incorrect, triplet.idiom])
    for row in (*rows, *general_pairs, *(row for pairs in test.values() for row in pairs.rows)):
        records.append([row.sentence1, row.sentence2, row.kind, row.gold, row.other, row.concept, row.idiom])
    return TripletData(
        path=path,
        revision=content_digest(records),
        training=tuple(training),
        development=SentencePairs(DEVELOPMENT, rows),
        test=test,
        seen=tuple(sorted(seen)) if seen_idioms == KEEP else (),
        n_left_out=n_left_out,
        general=tuple(general_pairs),
    )


def development_rows(triplets_by_subset: Mapping[str, Sequence[Triplet]]) -> list[SentencePair]:
    """Return the pairs by which weights are chosen, scored in the same way as the test pairs."""
    rows = []
    for subset, triplets in triplets_by_subset.items():
        for number, triplet in enumerate(triplets):
            original, correct, incorrect = triplet.original, triplet.correct, triplet.incorrect
            name, idiom = f"{subset}/{number}", triplet.idiom
            reference = f"{name}/{REFERENCE}"
            if correct:
                rows.append(SentencePair(f"{name}/{CORRECT}", original, correct, CORRECT, 1.0, None, idiom, idiom))
            if correct and incorrect:
                rows.append(
                    SentencePair(f"{name}/{INCORRECT}", original, incorrect, INCORRECT, None, reference, idiom, idiom)
                )
                rows.append(SentencePair(reference, correct, incorrect, REFERENCE, 0.0, None, idiom, idiom))
            # As a control, the sentence with the next one of another idiom
            for step in range(1, len(triplets)):
                other = triplets[(number + step) % len(triplets)]
                if idiom_key(other.idiom) != idiom_key(idiom):
                    rows.append(
                        SentencePair(f"{name}/{GENERAL}", original, other.original, GENERAL, 0.0, None, idiom, idiom)
                    )
                    break
    return rows


def _sources(data: str | Dataset, languages: Sequence[str]) -> tuple[str, dict[str, _Source]]:
    """Return the name of the data in results, and subset -> its triplets."""
    if data == ASTITCH:
        copy, chosen = AStitchData(), choose_languages(languages, ASTITCH_LANGUAGES)
        return ASTITCH, {subset: _by_idiom(copy.triplets(subset), copy.pairs(subset)) for subset in chosen}
    if data == CHENGYU:
        choose_languages(languages, (CHENGYU_SUBSET,))
        triplets = read_chengyu_triplets(chengyu_path(TRAIN))
        return CHENGYU, {CHENGYU_SUBSET: _by_idiom(triplets, read_chengyu(chengyu_path(TEST)))}
    if not isinstance(data, Dataset) and Path(data).is_file():
        choose_languages(languages, ())  # a table states no language
        first = next(read_table(Path(data), ()), None)
        columns = set(first.cells or ()) if first is not None else set()
        read = read_chengyu_triplets if columns >= _CHENGYU_COLUMNS else read_triplets
        return data, {_FILE_SUBSET: _by_idiom(read(Path(data)), None)}
    dataset = data if isinstance(data, Dataset) else open_dataset("" if data == LEXICON else data)
    sources = {}
    # Left out in every language, because one model is trained on all of them
    like_test = dataset.lexicon.meaning_the_same(is_test_concept)
    subset_of = {SIMILARITY_TASKS[STS].languages[subset]: subset for subset in dataset.pair_subsets(STS)}
    for language in choose_languages(languages, subset_of):
        test = dataset.pairs(STS, subset_of[language])
        # An idiom of several concepts belongs to the first of their splits, in the order test, development, training.
        taken = {text_key(row.idiom, language) for row in test.rows if row.idiom}
        kept: dict[str, list[Triplet]] = {}
        n_left_out = 0
        for split in (DEVELOPMENT, TRAIN):
            entries = complete_entries(dataset.lexicon, language, split=split)
            usable = []
            for concept, entry in sorted(entries.items()):
                if concept not in like_test and text_key(entry.idiom, language) not in taken:
                    usable.append(entry)
            taken |= {text_key(entry.idiom, language) for entry in usable}
            n_left_out += len(entries) - len(usable)
            kept[split] = []
            for entry in usable:
                triplet = Triplet(entry.original or "", entry.paraphrase, entry.literal_paraphrase, entry.idiom)
                kept[split].append(triplet)
        sources[subset_of[language]] = _Source(kept[TRAIN], kept[DEVELOPMENT], test, n_left_out)
    return dataset.path, sources


def choose_languages(languages: Sequence[str], known: Collection[str], *, needed: str = "triplets") -> list[str]:
    """Return the known languages that were chosen, all if none was; InputError if the data does not have one."""
    for name in languages:
        if name not in known:
            raise usage_error(f"--language {name}: the data has no {needed} in it; known: {', '.join(known) or 'none'}")
    return [name for name in known if not languages or name in languages]


def _by_idiom(triplets: Sequence[Triplet], test: SentencePairs | None) -> _Source:
    """Return triplets divided by a stable hash of their idioms; a sentence without an idiom is for training."""
    source = _Source([], [], test)
    for triplet in triplets:
        is_development = bool(triplet.idiom) and is_development_idiom(idiom_key(triplet.idiom))
        (source.development if is_development else source.training).append(triplet)
    return source


# Every pair of triplets is compared in search of a sentence of another idiom.
@lru_cache(maxsize=4096)
def idiom_key(idiom: str) -> str:
    """Return a key that idioms share if they differ only in case, punctuation and spaces."""
    return " ".join(_WORD.findall(lower(unicodedata.normalize("NFC", idiom), None).casefold())) or idiom
