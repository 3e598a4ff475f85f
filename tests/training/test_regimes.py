import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from turkic_idiom_tasks.dataset import LexiconDataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.splits import retrieval_split
from turkic_idiom_tasks.training.regimes import MIN_TRAINING_PAIRS, Pair, build_regime, labelled_pairs

IDS = [f"t-{n}" for n in range(400)]
TEST = [key for key in IDS if retrieval_split(key) == "test"]
DEVELOPMENT = [key for key in IDS if retrieval_split(key) == "development"]
TRAIN = [key for key in IDS if retrieval_split(key) == "train"]
LETTERS = "abcdefghjklmnoprst"
SETTINGS = [("tr-only", None), ("monolingual", "uz"), ("cross-lingual", "az"), ("cross-lingual", None)]


def name(number):
    """A word of letters that stands for a number: 0 -> a, 1 -> b, 18 -> ba."""
    word = LETTERS[number % 18]
    return word if number < 18 else name(number // 18) + word


def entry(concept, idiom=None, meaning=None, **more):
    """An entry whose texts are the concept's own unless they are given."""
    own = name(IDS.index(concept))
    return Entry(concept, idiom or f"x {own}", meaning or f"y {own}", **more)


def dataset(**entries):
    by_language = {code: {one.concept: one for one in rows} for code, rows in entries.items()}
    return LexiconDataset(Lexicon({}, by_language, "0" * 40), "lexicon")


def turkish(*special):
    """Two test, one development and 22 training concepts, some of them replaced."""
    rows = {key: entry(key) for key in (*TEST[:2], DEVELOPMENT[0], *TRAIN[:22])}
    return list((rows | {one.concept: one for one in special}).values())


def plain(text):
    return text.lower().replace(".", "").strip()


def texts_of(made, split):
    return {
        plain(text)
        for entries in made.lexicon.entries.values()
        for concept, one in entries.items()
        if retrieval_split(concept) == split
        for text in (one.idiom, one.meaning)
        if text
    }


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32 - 1), st.integers(500, 3000), st.sampled_from(SETTINGS), st.sampled_from(["", ".", " ."]))
def test_no_test_concept_and_none_of_its_texts_is_ever_trained_on(seed, n_texts, setting, ending):
    """Lexica whose texts repeat, in other case and punctuation too, within and across languages."""
    rng = np.random.default_rng(seed)

    def text():
        word = f"söz {name(int(rng.integers(n_texts)))}{ending if rng.random() < 0.3 else ''}"
        return word.capitalize() if rng.random() < 0.3 else word

    made = dataset(**{
        code: [Entry(key, text(), text() if rng.random() < 0.9 else None) for key in IDS[:150] if rng.random() < 0.8]
        for code in LANGUAGES
    })  # fmt: skip
    regime, language = setting
    try:
        found = build_regime(made, regime, language=language)
    except InputError:
        assume(False)
    test_texts, held_texts = texts_of(made, "test"), texts_of(made, "development")
    queries = {text for data in found.development.values() for text in data.queries.values()}
    for pair in found.pairs:
        assert retrieval_split(pair.concept) == "train"
        assert {plain(pair.idiom), plain(pair.meaning)}.isdisjoint(test_texts | held_texts)
        assert pair.idiom not in queries
        assert made.lexicon.of(pair.language)[pair.concept].meaning == pair.meaning
    assert {plain(query) for query in queries}.isdisjoint(test_texts)
    assert len(set(found.pairs)) == len(found.pairs) >= MIN_TRAINING_PAIRS


def test_counts_by_hand():
    # 25 Turkish concepts: 2 test, 1 development, 22 training, of which 4 repeat a text that they must not
    special = [
        entry(TRAIN[0], idiom=f"X {name(IDS.index(TEST[0]))}!"),  # a test idiom, written otherwise
        entry(TRAIN[1], meaning=f"y {name(IDS.index(TEST[1]))}"),  # a test meaning
        entry(TRAIN[2], meaning="eski söz"),  # a variant of a test idiom
        entry(TEST[0], variants=("eski söz",)),
        entry(TRAIN[3], idiom=f"x {name(IDS.index(DEVELOPMENT[0]))}"),  # a development idiom
        entry(TRAIN[5], idiom="aynı", meaning="bir"),
        entry(TRAIN[6], idiom="aynı", meaning="bir"),  # the same pair again: trained on once
    ]
    found = build_regime(dataset(tr=turkish(*special)), "tr-only")
    assert found.dropped_for_test == 3
    assert found.dropped_for_development == 1
    assert len(found.pairs) == 22 - 3 - 1 - 1
    assert found.n_development == 1
    assert found.task == "T2"
    data = found.development["tr"]
    assert len(data.documents) == 22  # 23 training and development concepts, two of them with one meaning
    own, other = f"tur:{DEVELOPMENT[0]}", f"tur:{TRAIN[3]}"
    assert data.qrels == {own: {own: 1, other: 1}}  # whatever the query's idiom means, in any concept


def test_a_test_text_of_another_language_counts_and_a_development_query_may_not_have_one():
    azerbaijani = [entry(TEST[0], idiom=f"x {name(IDS.index(TRAIN[0]))}", meaning="başqa söz")]
    alone = build_regime(dataset(tr=turkish()), "tr-only")
    found = build_regime(dataset(tr=turkish(), az=azerbaijani), "tr-only")
    assert {pair.concept for pair in alone.pairs} - {pair.concept for pair in found.pairs} == {TRAIN[0]}
    assert found.dropped_for_test == 1
    rows = turkish(entry(DEVELOPMENT[0], idiom=f"x {name(IDS.index(TEST[0]))}"), entry(DEVELOPMENT[1]))
    found = build_regime(dataset(tr=rows), "tr-only")
    assert list(found.development["tr"].queries) == [f"tur:{DEVELOPMENT[1]}"]
    assert found.dropped_for_test == 1


def test_each_regime_pairs_the_right_languages():
    made = dataset(**{
        code: [entry(key, idiom=f"{code} x {name(n)}", meaning=f"{code} y {name(n)}") for n, key in enumerate(IDS)]
        for code in LANGUAGES
    })  # fmt: skip

    def languages(regime, language=None):
        found = build_regime(made, regime, language=language)
        assert set(found.development) == {pair.language for pair in found.pairs} == set(found.languages)
        return {(pair.idiom.split()[0], pair.meaning.split()[0]) for pair in found.pairs}, found.task

    assert languages("tr-only") == ({("tr", "tr")}, "T2")
    assert languages("monolingual", "gag") == ({("gag", "gag")}, "T2")
    assert languages("cross-lingual", "uzn") == ({("tr", "uz")}, "T3")
    assert languages("cross-lingual") == ({("tr", code) for code in LANGUAGES if code != "tr"}, "T3")


def test_the_development_pool_of_a_pair_of_languages_is_the_pool_of_the_task_without_its_test_concepts():
    """A meaning is a document although Turkish lacks its concept, as in T3."""
    azerbaijani = [entry(key, idiom=f"az x {name(n)}", meaning=f"az y {name(n)}") for n, key in enumerate(IDS[:200])]
    absent = [*DEVELOPMENT[:2], *TRAIN[:5]]  # from the Turkish entries
    found = build_regime(dataset(tr=[entry(key) for key in IDS[:200] if key not in absent], az=azerbaijani),
                         "cross-lingual", language="az")  # fmt: skip
    data = found.development["az"]
    assert list(data.documents) == sorted(f"azj:{key}" for key in IDS[:200] if key not in TEST)
    assert set(data.queries) == {f"tur:{key}" for key in IDS[:200] if key in DEVELOPMENT and key not in absent}
    assert {pair.concept for pair in found.pairs} == {key for key in IDS[:200] if key in TRAIN and key not in absent}


def test_concepts_that_mean_the_same_as_a_test_concept_are_neither_trained_on_nor_asked_for():
    """Judged so in the lexicon; those that mean nearly the same are used."""
    same = {(TEST[0], TRAIN[0]): "same", (DEVELOPMENT[0], TEST[1]): "same", (TEST[0], TRAIN[1]): "near"}
    entries = {one.concept: one for one in turkish(entry(DEVELOPMENT[1]))}
    lexicon = Lexicon(
        {}, {"tr": entries}, "0" * 40, equivalents={tuple(sorted(pair)): how for pair, how in same.items()}
    )
    found = build_regime(LexiconDataset(lexicon, "lexicon"), "tr-only")
    assert {pair.concept for pair in found.pairs} == set(TRAIN[1:22])
    assert list(found.development["tr"].queries) == [f"tur:{DEVELOPMENT[1]}"]


def test_negatives_are_never_a_meaning_of_the_idiom_nor_of_another_language():
    pairs = [Pair(f"c-{n}", "tr", f"idiom {n % 6}", f"anlam {n % 9}") for n in range(18)]
    pairs += [Pair(f"c-{n}", "az", f"idiom {n % 6}", f"məna {n % 9}") for n in range(18)]
    true = {(pair.idiom, pair.meaning) for pair in pairs}
    rows = labelled_pairs(pairs, negatives=3, rng=np.random.default_rng(1))
    assert [row[2] for row in rows] == [1.0, -1.0, -1.0, -1.0] * 36
    for start in range(0, len(rows), 4):
        (idiom, meaning, _), *wrong = rows[start : start + 4]
        assert {row[0] for row in wrong} == {idiom}
        assert len({row[1] for row in wrong}) == 3
        assert all((row[0], row[1]) not in true and row[1].split()[0] == meaning.split()[0] for row in wrong)
    assert rows == labelled_pairs(pairs, negatives=3, rng=np.random.default_rng(1))
    assert rows != labelled_pairs(pairs, negatives=3, rng=np.random.default_rng(2))
    assert [row[2] for row in labelled_pairs(pairs, negatives=0, rng=np.random.default_rng(1))] == [1.0] * 36
    few = [Pair("a", "tr", "bir", "anlam"), Pair("b", "tr", "iki", "anlam")]  # there is no other meaning
    assert [row[2] for row in labelled_pairs(few, negatives=1, rng=np.random.default_rng(1))] == [1.0, 1.0]


def test_too_few_pairs_are_refused_with_their_number():
    made = dataset(tr=[entry(key) for key in (TEST[0], DEVELOPMENT[0], *TRAIN[:10])])
    with pytest.raises(InputError, match="10 to train on and 1 development queries"):
        build_regime(made, "tr-only")
