"""Training pairs and development queries of the regimes of supervision.

A regime decides which idiom is trained to be near which meaning. No idiom or meaning of a test concept is ever used, in
any language. A tenth of the other concepts is the development split.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, RetrievalData, build_retrieval
from turkic_idiom_tasks.encoders.names import CROSS_LINGUAL, MONOLINGUAL, TR_ONLY
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, get_language, target_codes
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.splits import DEVELOPMENT, TEST, TRAIN, is_test_concept, retrieval_split

MIN_TRAINING_PAIRS = 16  # one batch of the paper
_WORD = re.compile(r"\w+")


class Pair(NamedTuple):
    """An idiom and a meaning that it has."""

    concept: str
    language: str  # of the meaning; that of the idiom is the same or, across languages, Turkish
    idiom: str
    meaning: str


@dataclass(frozen=True, slots=True)
class RegimeData:
    """Training pairs of a regime, and the development queries by which its best weights are chosen."""

    regime: str  # one of `names.TUNED_REGIMES`
    languages: tuple[str, ...]  # codes of the languages of the meanings
    task: str  # short name of the task whose prompts are used: T2, or T3 across languages
    pairs: tuple[Pair, ...]  # without repeats, sorted by concept and language
    # language of the meanings -> queries of the development concepts, over the meanings of all concepts outside the
    # test split; only languages with a query
    development: Mapping[str, RetrievalData]
    n_development: int  # development queries in all languages
    dropped_for_test: int  # training and development pairs left out because a test concept has one of their texts
    dropped_for_development: int  # training pairs left out because a development concept has one of their texts

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the data, for records."""
        return {
            "training_pairs": len(self.pairs),
            "development_queries": self.n_development,
            "dropped_for_test": self.dropped_for_test,
            "dropped_for_development": self.dropped_for_development,
        }


def build_regime(dataset: Dataset, regime: str, *, language: str | None = None) -> RegimeData:
    """Return the pairs and development queries of a regime, from a dataset with lexicon entries.

    ``tr-only``, which takes no language, has Turkish idioms and their meanings; ``monolingual`` those of `language`,
    which it needs; ``cross-lingual`` Turkish idioms with the meanings in `language`, or with those in each of the other
    languages.
    """
    code = _checked_language(regime, language)
    lexicon = dataset.lexicon
    source = (code or PIVOT) if regime == MONOLINGUAL else PIVOT
    targets = [code] if code is not None else [PIVOT] if regime == TR_ONLY else list(target_codes())
    candidates = {}
    for target in targets:
        pairs = _pairs(lexicon, source, target)
        # a language without any pair is left out of several; alone, it is named in the error below
        if pairs or len(targets) == 1:
            candidates[target] = pairs
    test_texts = _texts_of_split(lexicon, TEST)
    development_texts = _texts_of_split(lexicon, DEVELOPMENT)
    dropped_for_test = dropped_for_development = 0
    training: dict[tuple[str, str, str], Pair] = {}  # language, idiom and meaning -> the first pair that has them
    task = "T3" if regime == CROSS_LINGUAL else "T2"
    subset_of = {meanings.code: subset for subset, (_, meanings) in TASKS[task].subsets.items()}
    development: dict[str, RetrievalData] = {}
    for target, pairs in candidates.items():
        development_idioms = set()
        for pair in pairs:
            # Imported dictionaries repeat idioms under several concepts, also under those of other splits
            texts = {text_key(pair.idiom, source), text_key(pair.meaning, target)}
            if not test_texts.isdisjoint(texts):
                dropped_for_test += 1
            elif retrieval_split(pair.concept) != TRAIN:
                development_idioms.add(pair.idiom)
            elif not development_texts.isdisjoint(texts):
                dropped_for_development += 1
            else:
                training.setdefault((target, pair.idiom, pair.meaning), pair)
        data = build_retrieval(lexicon, task, subset_of[target], split=DEVELOPMENT)
        if data is not None:
            queries = {query: idiom for query, idiom in data.queries.items() if idiom in development_idioms}
            qrels = {query: data.qrels[query] for query in queries}
            if queries:
                development[target] = RetrievalData(queries, data.documents, qrels)
    n_queries = sum(len(data.queries) for data in development.values())
    if len(training) < MIN_TRAINING_PAIRS or not development:
        names = ", ".join(LANGUAGES[target].name for target in candidates) or "any other language"
        raise InputError(
            f"{dataset.path}: too few pairs for regime {regime} ({names}): {len(training)} to train on and {n_queries} "
            f"development queries, {dropped_for_test + dropped_for_development} left out for a text of a test or "
            f"development concept; needed are {MIN_TRAINING_PAIRS} and 1. Add entries with meanings, or choose another "
            "lexicon with --data, another regime or another language"
        )
    return RegimeData(
        regime=regime,
        languages=tuple(candidates),
        task=task,
        pairs=tuple(sorted(training.values(), key=lambda pair: (pair.concept, pair.language))),
        development=development,
        n_development=n_queries,
        dropped_for_test=dropped_for_test,
        dropped_for_development=dropped_for_development,
    )


def labelled_pairs(pairs: Sequence[Pair], *, negatives: int, rng: np.random.Generator) -> list[tuple[str, str, float]]:
    """Return (idiom, meaning, 1.0) of every pair, each followed by up to `negatives` wrong meanings with -1.0."""
    meanings: dict[str, dict[str, None]] = {}  # language -> distinct meanings, in the order of the pairs
    right_meanings: dict[tuple[str, str], set[str]] = {}  # language and idiom -> its meanings
    for pair in pairs:
        meanings.setdefault(pair.language, {})[pair.meaning] = None
        right_meanings.setdefault((pair.language, pair.idiom), set()).add(pair.meaning)
    pools = {language: list(texts) for language, texts in meanings.items()}
    rows = []
    for pair in pairs:
        rows.append((pair.idiom, pair.meaning, 1.0))
        pool = pools[pair.language]
        # Drawn in the language of the pair; what the idiom means in other pairs is not wrong
        excluded = set(right_meanings[pair.language, pair.idiom])
        for _ in range(min(negatives, len(pool) - len(excluded))):
            # Drawn again until it fits: a list without the excluded meanings for each pair would take quadratic time.
            drawn = pool[int(rng.integers(len(pool)))]
            while drawn in excluded:
                drawn = pool[int(rng.integers(len(pool)))]
            excluded.add(drawn)
            rows.append((pair.idiom, drawn, -1.0))
    return rows


def text_key(text: str, language: str) -> str:
    """Return a key that texts share if they differ only in case, circumflexes, punctuation and spaces."""
    # A text of signs alone is its own key: an empty one would make all such texts equal.
    return " ".join(_WORD.findall(fold(text, LANGUAGES[language]))) or text


def _checked_language(regime: str, language: str | None) -> str | None:
    """Return the code of the language, if it and the regime go together."""
    code = None if language is None else get_language(language).code
    problem = ""
    if regime == TR_ONLY and code not in (None, PIVOT):
        problem = f"trains on Turkish alone, not on {code}; use --regime {MONOLINGUAL}"
    elif regime == MONOLINGUAL and code is None:
        problem = f"needs a language: --language {'|'.join(LANGUAGES)}"
    elif regime == CROSS_LINGUAL and code == PIVOT:
        others = "|".join(target_codes())
        problem = f"goes from Turkish to another language: --language {others}, or none for all of them"
    if problem:
        raise usage_error(f"regime {regime} {problem}")
    return code


def _pairs(lexicon: Lexicon, source: str, target: str) -> list[Pair]:
    """Return the pairs of all concepts that have an idiom and a meaning, without test concepts."""
    # Also without concepts that were judged to mean the same: their meanings are answers of the test
    meanings = lexicon.of(target)
    like_test = lexicon.meaning_the_same(is_test_concept)
    pairs = []
    for concept, entry in sorted(lexicon.of(source).items()):
        meaning = meanings[concept].meaning if concept in meanings else None
        if meaning is not None and not is_test_concept(concept) and concept not in like_test:
            pairs.append(Pair(concept, target, entry.idiom, meaning))
    return pairs


def _texts_of_split(lexicon: Lexicon, split: str) -> set[str]:
    """Return the keys of every idiom, variant and meaning of the concepts of a split, in any language."""
    keys = set()
    for language, entries in lexicon.entries.items():
        for concept, entry in entries.items():
            if retrieval_split(concept) == split:
                texts = (entry.idiom, entry.meaning, *entry.variants)
                keys |= {text_key(text, language) for text in texts if text is not None}
    return keys
