"""From a lexicon to the training pairs and the development queries of one regime of supervision.

A regime says which idiom is trained to be near which meaning. Concepts of the test split never enter, in any language;
nor does a pair whose idiom or meaning also stands in a test concept, because imported dictionaries repeat idioms under
several concepts. A tenth of the training concepts is the development set: a pair that repeats one of its texts is not
trained on either.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, TARGETS, get_language
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.retrieval.relevance import RetrievalData
from turkic_idiom_tasks.splits import SENSE_SEPARATOR, retrieval_split

TR_ONLY, MONOLINGUAL, CROSS_LINGUAL = REGIMES = ("tr-only", "monolingual", "cross-lingual")
DEVELOPMENT_SHARE = 0.10  # of the training concepts; the paper does not say how large its development set is
MIN_TRAINING_PAIRS = 16  # one batch of the paper
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pair:
    """An idiom and a meaning that it has.

    Attributes:
        concept: id of the concept.
        language: code of the language of the meaning; the idiom's is that or, across languages, Turkish.
        idiom: text that queries.
        meaning: text to be found.
    """

    concept: str
    language: str
    idiom: str
    meaning: str


@dataclass(frozen=True, slots=True)
class RegimeData:
    """What a regime trains on and is chosen by.

    Attributes:
        regime: one of `REGIMES`.
        languages: codes of the languages of the meanings.
        task: short name of the task that the pairs are like, whose prompts are used: ``T2``, across languages ``T3``.
        pairs: to train on, sorted by concept and language; no two alike.
        development: language of the meanings -> queries of the development concepts, over the meanings of all training
            and development concepts; only languages with a query.
        dropped_for_test: training and development pairs left out because a test concept has one of their texts.
        dropped_for_development: training pairs left out because a development concept has one of their texts.
    """

    regime: str
    languages: tuple[str, ...]
    task: str
    pairs: tuple[Pair, ...]
    development: Mapping[str, RetrievalData]
    dropped_for_test: int
    dropped_for_development: int

    @property
    def n_development(self) -> int:
        """How many development queries there are in all languages."""
        return sum(len(data.queries) for data in self.development.values())


def build_regime(lexicon: Lexicon, regime: str, *, language: str | None = None) -> RegimeData:
    """The pairs and development queries of a regime.

    Args:
        lexicon: the entries.
        regime: ``tr-only``: Turkish idioms and their meanings; ``monolingual``: those of `language`; ``cross-lingual``:
            Turkish idioms with the meanings in `language`, or with those in each of the other languages.
        language: a code; required by monolingual, refused by tr-only.

    Raises:
        InputError: an unknown regime or language, or too few pairs; says what to do.
    """
    languages = _languages(lexicon, regime, language)
    source = languages[0] if regime == MONOLINGUAL else PIVOT
    candidates = [pair for target in languages for pair in _pairs(lexicon, source, target)]
    test_texts = _texts(lexicon, (concept for concept in _concepts(lexicon) if retrieval_split(concept) == "test"))
    held_texts = _texts(lexicon, (concept for concept in _concepts(lexicon) if is_development(concept)))
    clean = [pair for pair in candidates if test_texts.isdisjoint(_keys(pair, source))]
    training = [pair for pair in clean if not is_development(pair.concept)]
    kept = [pair for pair in training if held_texts.isdisjoint(_keys(pair, source))]
    distinct = {(pair.language, pair.idiom, pair.meaning): pair for pair in reversed(kept)}
    found = RegimeData(
        regime=regime,
        languages=languages,
        task="T3" if regime == CROSS_LINGUAL else "T2",
        pairs=tuple(sorted(distinct.values(), key=lambda pair: (pair.concept, pair.language))),
        development=dict(_development(candidates, {pair for pair in clean if is_development(pair.concept)}, source)),
        dropped_for_test=len(candidates) - len(clean),
        dropped_for_development=len(training) - len(kept),
    )
    _check_sizes(found, lexicon)
    return found


def is_development(concept: str) -> bool:
    """Whether a concept is of the development set: a tenth of the training concepts, by a stable hash of the id.

    Senses of one idiom share the id up to ``--``, and so the answer.
    """
    digest = hashlib.sha256(f"retrieval/development\n{concept.split(SENSE_SEPARATOR)[0]}".encode()).digest()
    return retrieval_split(concept) == "train" and int.from_bytes(digest[:8], "big") / 2**64 < DEVELOPMENT_SHARE


def labelled_pairs(pairs: Sequence[Pair], *, negatives: int, rng: np.random.Generator) -> list[tuple[str, str, float]]:
    """(idiom, meaning, 1.0) of every pair, each followed by `negatives` other meanings with -1.0.

    Args:
        pairs: that are true.
        negatives: drawn without repeats from the meanings in the pair's language, never one that its idiom has in any
            of the pairs; fewer where there are not so many.
        rng: what draws them.
    """
    meanings: dict[str, dict[str, None]] = {}
    own: dict[tuple[str, str], set[str]] = {}
    for pair in pairs:
        meanings.setdefault(pair.language, {})[pair.meaning] = None
        own.setdefault((pair.language, pair.idiom), set()).add(pair.meaning)
    pools = {language: list(texts) for language, texts in meanings.items()}
    rows = []
    for pair in pairs:
        rows.append((pair.idiom, pair.meaning, 1.0))
        pool, wrong = pools[pair.language], set(own[pair.language, pair.idiom])
        for _ in range(min(negatives, len(pool) - len(wrong))):
            while (drawn := pool[int(rng.integers(len(pool)))]) in wrong:
                pass
            wrong.add(drawn)
            rows.append((pair.idiom, drawn, -1.0))
    return rows


def text_key(text: str, language: str) -> str:
    """What two texts have in common that are the same but for case, circumflexes, punctuation and spaces."""
    return " ".join(_WORD.findall(fold(text, LANGUAGES[language]))) or text


def _languages(lexicon: Lexicon, regime: str, language: str | None) -> tuple[str, ...]:
    """The languages of the meanings."""
    if regime not in REGIMES:
        raise usage_error(f"unknown regime {regime!r}; known: {', '.join(REGIMES)}")
    code = None if language is None else get_language(language).code
    if regime == TR_ONLY:
        if code not in (None, PIVOT):
            raise usage_error(f"regime {TR_ONLY} trains on Turkish alone, not on {code}; use --regime {MONOLINGUAL}")
        return (PIVOT,)
    if regime == MONOLINGUAL:
        if code is None:
            raise usage_error(f"regime {MONOLINGUAL} needs a language: --language {'|'.join(LANGUAGES)}")
        return (code,)
    if code == PIVOT:
        raise usage_error(
            f"regime {CROSS_LINGUAL} goes from Turkish to another language: --language {'|'.join(TARGETS)}, "
            "or none for all of them"
        )
    return (code,) if code else tuple(code for code in TARGETS if any(_pairs(lexicon, PIVOT, code)))


def _concepts(lexicon: Lexicon) -> list[str]:
    return sorted({concept for entries in lexicon.entries.values() for concept in entries})


def _pairs(lexicon: Lexicon, source: str, target: str) -> Iterator[Pair]:
    """The pairs of all concepts outside the test split that have an idiom and a meaning."""
    meanings = lexicon.of(target)
    for concept, entry in sorted(lexicon.of(source).items()):
        meaning = meanings[concept].meaning if concept in meanings else None
        if meaning is not None and retrieval_split(concept) == "train":
            yield Pair(concept, target, entry.idiom, meaning)


def _keys(pair: Pair, source: str) -> set[str]:
    return {text_key(pair.idiom, source), text_key(pair.meaning, pair.language)}


def _texts(lexicon: Lexicon, concepts: Iterable[str]) -> set[str]:
    """The keys of every idiom, variant and meaning of some concepts, in any language."""
    chosen = set(concepts)
    return {
        text_key(text, language)
        for language, entries in lexicon.entries.items()
        for concept, entry in entries.items()
        if concept in chosen
        for text in _texts_of(entry)
    }


def _texts_of(entry: Entry) -> Iterator[str]:
    yield entry.idiom
    yield from entry.variants
    if entry.meaning is not None:
        yield entry.meaning


def _development(candidates: list[Pair], queries: set[Pair], source: str) -> Iterator[tuple[str, RetrievalData]]:
    """(language, data) as `retrieval.relevance.build_retrieval` makes them of the test concepts.

    Equal meanings are one document and equal idioms one query; to a query every concept is relevant that it expresses.

    Args:
        candidates: whose meanings are the pool, those that are not trained on included.
        queries: those of them whose idioms are queries.
        source: language of the idioms.
    """
    prefix = LANGUAGES[source].subset
    for language in dict.fromkeys(pair.language for pair in candidates):
        pool = [pair for pair in candidates if pair.language == language]
        document_of: dict[str, str] = {}
        for pair in pool:
            document_of.setdefault(pair.meaning, f"{LANGUAGES[language].subset}:{pair.concept}")
        idioms: dict[str, str] = {}
        for pair in pool:
            if pair in queries:
                idioms.setdefault(pair.idiom, f"{prefix}:{pair.concept}")
        relevant: dict[str, dict[str, int]] = {query: {} for query in idioms.values()}
        for pair in pool:
            if pair.idiom in idioms:
                relevant[idioms[pair.idiom]][document_of[pair.meaning]] = 1
        if idioms:
            documents = {document: meaning for meaning, document in document_of.items()}
            yield language, RetrievalData({query: idiom for idiom, query in idioms.items()}, documents, relevant)


def _check_sizes(found: RegimeData, lexicon: Lexicon) -> None:
    if len(found.pairs) >= MIN_TRAINING_PAIRS and found.development:
        return
    names = ", ".join(LANGUAGES[code].name for code in found.languages) or "any other language"
    dropped = found.dropped_for_test + found.dropped_for_development
    raise InputError(
        f"{lexicon.source or 'the lexicon'}: too few pairs for regime {found.regime} ({names}): {len(found.pairs)} to "
        f"train on and {found.n_development} development queries, {dropped} left out for a text of a test or "
        f"development concept; needed are {MIN_TRAINING_PAIRS} and 1. Add entries with meanings, or choose another "
        "lexicon with --data or another regime or language"
    )
