"""Data of the training for idiomatic similarity: triplets, development pairs and test pairs.

A triplet is a sentence E with an idiom, E_c with the idiom replaced by what it means, and E_i with the idiom replaced
by what it does not mean. A tenth of the training idioms, chosen by a stable hash, are the development idioms; a lexicon
has a development split of its own. The test pairs are those of the similarity tasks. Their idioms must not be trained
on, unless the caller says so, as the protocol of AStitchInLanguageModels requires: it builds its training file from the
zero-shot and the few-shot sentences, and the latter have idioms of the test set.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import lower
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, TRAIN, is_development_idiom, is_test_concept
from turkic_idiom_tasks.tasks.siblings.astitch import ASTITCH_LANGUAGES, AStitchData, read_general_pairs, read_triplets
from turkic_idiom_tasks.tasks.siblings.chengyu import CHENGYU_SUBSET, chengyu_path, read_chengyu, read_chengyu_triplets
from turkic_idiom_tasks.training.regimes import text_key

ASTITCH, CHENGYU, LEXICON = "astitch", "chengyu", "lexicon"
REFUSE, LEAVE_OUT, KEEP = SEEN_IDIOMS = ("refuse", "leave-out", "keep")
MIN_TRIPLETS = 16
_FILE_SUBSET = "file"
_CHENGYU_COLUMNS = {"s", "a_c", "a_i", "sim"}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class TripletData:
    """Data of one training for similarity.

    Attributes:
        path: name of the data in results.
        revision: 40 hexadecimal digits that are the same for the same triplets and test pairs.
        training: triplets to learn from.
        development: pairs of other idioms, by which the best weights are chosen.
        test: subset -> the pairs of the similarity task; empty for a file of triplets.
        seen: names of the test idioms that are trained on, because the caller keeps them.
        n_left_out: triplets that were left out because of a test or development idiom.
        general: pairs without idioms and their gold scores, which the regression also learns from.
    """

    path: str
    revision: str
    training: tuple[Triplet, ...]
    development: SentencePairs
    test: Mapping[str, SentencePairs]
    seen: tuple[str, ...] = ()
    n_left_out: int = 0
    general: tuple[SentencePair, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """Triplets of one subset before its test idioms are looked for.

    Attributes:
        training: triplets of the training idioms.
        development: triplets of the development idioms; no idiom is in both.
        test: pairs of the task; None if there are none.
        n_left_out: triplets that the source has left out.
    """

    training: list[Triplet]
    development: list[Triplet]
    test: SentencePairs | None
    n_left_out: int = 0


def build_triplets(
    data: str | Dataset = "", *, languages: Sequence[str] = (), seen_idioms: str = REFUSE, general: Path | None = None
) -> TripletData:
    """Return the triplets, development pairs and test pairs that a name stands for.

    Args:
        data: ``astitch`` (the folder that ASTITCH_DATA names), ``chengyu`` (the folder that CHENGYU_STS_DATA names),
            ``lexicon`` or empty (the bundled lexicon), a lexicon directory, an opened dataset, or a table with the
            columns original, correct, incorrect and idiom, or S, A_c, A_i and sim.
        languages: subsets of AStitch (``eng``, ``por``) or codes of a lexicon's languages; empty for all of them.
        seen_idioms: what is done with triplets whose idiom is in the test pairs of their subset: ``refuse`` the data,
            ``leave-out`` the triplets, or ``keep`` them.
        general: table without a header line, with a score in [0, 1] and two sentences in each row; a pair that is also
            a test pair is left out.

    Raises:
        InputError: the data or a language is unknown, malformed or too small, or test idioms occur in training.
    """
    if seen_idioms not in SEEN_IDIOMS:
        raise usage_error(f"--seen-idioms {seen_idioms}: choose one of {', '.join(SEEN_IDIOMS)}")
    path, sources = _sources(data, languages)
    training: list[Triplet] = []
    seen: set[str] = set()
    n_left_out = 0
    development: dict[str, list[Triplet]] = {}
    for subset, source in sources.items():
        tested = {} if source.test is None else _idioms_of_pairs(source.test)
        kept, also_tested = _without_seen(source.training, tested, keep=seen_idioms == KEEP)
        development[subset], in_development = _without_seen(source.development, tested, keep=seen_idioms == KEEP)
        seen |= also_tested | in_development
        n_left_out += source.n_left_out + len(source.training) - len(kept)
        n_left_out += len(source.development) - len(development[subset])
        training += kept
    if seen and seen_idioms == REFUSE:
        raise InputError(
            f"{path}: {len(seen)} idioms of the test pairs occur in training: {', '.join(sorted(seen))}; train without "
            f"them (--seen-idioms {LEAVE_OUT}), or with them, as the protocol of AStitch 2B does (--seen-idioms {KEEP})"
        )
    rows = development_rows(development)
    if len(training) < MIN_TRIPLETS or not any(row.kind == INCORRECT for row in rows):
        raise InputError(
            f"{path}: too few triplets: {len(training)} to train on and {sum(map(len, development.values()))} of "
            f"development idioms; needed are {MIN_TRIPLETS}, and a complete one to choose by. Add sentences"
        )
    pairs = () if general is None else _general(general, sources)
    test = {subset: source.test for subset, source in sources.items() if source.test is not None}
    return TripletData(
        path=path,
        revision=_digest(training, [*rows, *pairs], test),
        training=tuple(training),
        development=SentencePairs(DEVELOPMENT, rows),
        test=test,
        seen=tuple(sorted(seen)) if seen_idioms == KEEP else (),
        n_left_out=n_left_out,
        general=pairs,
    )


def development_rows(triplets_by_subset: Mapping[str, Sequence[Triplet]]) -> list[SentencePair]:
    """Return the pairs by which weights are chosen, scored in the same way as the test pairs.

    A triplet gives the pair (E, E_c), the pair (E, E_i) with the model's own similarity of (E_c, E_i) as its gold
    score, and one control pair with the gold score 0, so that a model that finds all sentences alike loses: E with the
    next sentence of another idiom in the same subset.
    """
    rows = []
    for subset, triplets in triplets_by_subset.items():
        for number, triplet in enumerate(triplets):
            name = f"{subset}/{number}"
            idiom = (triplet.idiom, triplet.idiom)
            if triplet.correct:
                rows.append(
                    SentencePair(f"{name}/{CORRECT}", triplet.original, triplet.correct, CORRECT, 1.0, None, *idiom)
                )
            if triplet.correct and triplet.incorrect:
                reference = f"{name}/{REFERENCE}"
                rows.append(
                    SentencePair(
                        f"{name}/{INCORRECT}", triplet.original, triplet.incorrect, INCORRECT, None, reference, *idiom
                    )
                )
                rows.append(SentencePair(reference, triplet.correct, triplet.incorrect, REFERENCE, 0.0, None, *idiom))
            other = _next_of_another_idiom(triplets, number)
            if other is not None:
                rows.append(
                    SentencePair(f"{name}/{GENERAL}", triplet.original, other.original, GENERAL, 0.0, None, *idiom)
                )
    return rows


def _general(path: Path, sources: Mapping[str, _Source]) -> tuple[SentencePair, ...]:
    tested = set()
    for source in sources.values():
        if source.test is not None:
            tested |= {frozenset((row.sentence1, row.sentence2)) for row in source.test.rows}
    return tuple(row for row in read_general_pairs(path) if frozenset((row.sentence1, row.sentence2)) not in tested)


def _next_of_another_idiom(triplets: Sequence[Triplet], number: int) -> Triplet | None:
    for step in range(1, len(triplets)):
        candidate = triplets[(number + step) % len(triplets)]
        if idiom_key(candidate.idiom) != idiom_key(triplets[number].idiom):
            return candidate
    return None


def _sources(data: str | Dataset, languages: Sequence[str]) -> tuple[str, dict[str, _Source]]:
    """Return the name of the data in results, and subset -> its triplets."""
    if isinstance(data, Dataset):
        return data.path, _lexicon_sources(data, languages)
    if data == ASTITCH:
        copy = AStitchData()
        sources = {}
        for subset in _chosen(languages, ASTITCH_LANGUAGES):
            sources[subset] = _by_idiom(copy.triplets(subset), copy.pairs(subset))
        return ASTITCH, sources
    if data == CHENGYU:
        _chosen(languages, (CHENGYU_SUBSET,))
        triplets = read_chengyu_triplets(chengyu_path(TRAIN))
        return CHENGYU, {CHENGYU_SUBSET: _by_idiom(triplets, read_chengyu(chengyu_path(TEST)))}
    if Path(data).is_file():
        if languages:
            raise usage_error(f"--language {languages[0]}: {data} is a table of triplets, which states no language")
        return data, {_FILE_SUBSET: _by_idiom(_read_table_of_triplets(Path(data)), None)}
    dataset = open_dataset("" if data == LEXICON else data)
    return dataset.path, _lexicon_sources(dataset, languages)


def _lexicon_sources(dataset: Dataset, languages: Sequence[str]) -> dict[str, _Source]:
    sources = {}
    lexicon = dataset.lexicon
    subset_of = {SIMILARITY_TASKS[STS].languages[subset]: subset for subset in dataset.pair_subsets(STS)}
    for code in _chosen(languages, subset_of):
        sources[subset_of[code]] = _lexicon_source(lexicon, code, dataset.pairs(STS, subset_of[code]))
    return sources


def _chosen(languages: Sequence[str], known: Iterable[str]) -> list[str]:
    names = list(known)
    for name in languages:
        if name not in names:
            raise usage_error(f"--language {name}: the data has no triplets in it; known: {', '.join(names) or 'none'}")
    return [name for name in names if not languages or name in languages]


def _read_table_of_triplets(path: Path) -> list[Triplet]:
    first = next(read_table(path, ()), None)
    columns = set(first.cells or ()) if first is not None else set()
    return read_chengyu_triplets(path) if columns >= _CHENGYU_COLUMNS else read_triplets(path)


def _by_idiom(triplets: Sequence[Triplet], test: SentencePairs | None) -> _Source:
    """Return triplets divided by a stable hash of their idioms; a sentence without an idiom is for training."""
    training: list[Triplet] = []
    development: list[Triplet] = []
    for triplet in triplets:
        is_development = bool(triplet.idiom) and is_development_idiom(idiom_key(triplet.idiom))
        (development if is_development else training).append(triplet)
    return _Source(training, development, test)


def _lexicon_source(lexicon: Lexicon, language: str, test: SentencePairs) -> _Source:
    """Return the triplets of a language by the splits of its concepts.

    Left out are concepts that were judged to mean the same as a test concept, in any language, because one model is
    trained on all of them; and idioms that also stand for a test or development concept.
    """
    entries = {split: complete_entries(lexicon, language, split=split) for split in (TRAIN, DEVELOPMENT)}
    like_test = lexicon.meaning_the_same(is_test_concept)
    taken = {text_key(idiom, language) for idiom in _idioms_of_pairs(test).values()}
    kept: dict[str, list[Triplet]] = {}
    for split in (DEVELOPMENT, TRAIN):
        usable = []
        for concept, entry in sorted(entries[split].items()):
            if concept not in like_test and text_key(entry.idiom, language) not in taken:
                usable.append(entry)
        kept[split] = [_triplet(entry) for entry in usable]
        taken |= {text_key(entry.idiom, language) for entry in usable}
    n_left_out = sum(len(entries[split]) - len(kept[split]) for split in kept)
    return _Source(kept[TRAIN], kept[DEVELOPMENT], test, n_left_out)


def _triplet(entry: Entry) -> Triplet:
    return Triplet(entry.original or "", entry.paraphrase, entry.literal_paraphrase, entry.idiom)


def _idioms_of_pairs(pairs: SentencePairs) -> dict[str, str]:
    """Return key -> name of every idiom of the pairs."""
    return {idiom_key(row.idiom): row.idiom for row in pairs.rows if row.idiom}


def _without_seen(
    triplets: Sequence[Triplet], tested: Mapping[str, str], *, keep: bool
) -> tuple[list[Triplet], set[str]]:
    """Return the triplets whose idiom is not tested, or all of them, and the names of the idioms that are tested."""
    others = [triplet for triplet in triplets if idiom_key(triplet.idiom) not in tested]
    seen = {triplet.idiom for triplet in triplets if idiom_key(triplet.idiom) in tested}
    return (list(triplets) if keep else others), seen


@lru_cache(maxsize=4096)
def idiom_key(idiom: str) -> str:
    """Return a key that idioms share if they differ only in case, punctuation and spaces."""
    return " ".join(_WORD.findall(lower(unicodedata.normalize("NFC", idiom), None).casefold())) or idiom


def _digest(training: Sequence[Triplet], development: Sequence[SentencePair], test: Mapping[str, SentencePairs]) -> str:
    records: list[list[object]] = []
    for triplet in training:
        records.append([triplet.original, triplet.correct, triplet.incorrect, triplet.idiom])
    rows = list(development)
    for pairs in test.values():
        rows += pairs.rows
    for row in rows:
        records.append([row.sentence1, row.sentence2, row.kind, row.gold, row.other, row.concept, row.idiom])
    return content_digest(records)
