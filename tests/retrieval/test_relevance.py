import dataclasses

import pytest

from tests.retrieval.conftest import TEST, TRAIN
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, build_retrieval, find_task
from turkic_idiom_tasks.splits import retrieval_split


def changed(lexicon, language, *entries):
    rows = dict(lexicon.entries[language]) | {entry.concept: entry for entry in entries}
    return dataclasses.replace(lexicon, entries=dict(lexicon.entries) | {language: rows})


def test_subsets_are_those_of_the_paper():
    assert SUBSETS == {
        "T1": ("tur-azj", "tur-tuk", "tur-gag", "tur-uzn"),
        "T2": ("tur", "azj", "tuk", "gag", "uzn"),
        "T3": ("tur-azj", "tur-tuk", "tur-gag", "tur-uzn"),
    }


def test_t1_asks_turkish_idioms_for_idioms_of_the_other_language(lexicon):
    data = build_retrieval(lexicon, "T1", "tur-azj")
    assert set(data.queries.values()) == {lexicon.of("tr")[concept].idiom for concept in TEST}
    assert len(data.documents) == 18  # ALL entries of the target language, training concepts included
    for query, documents in data.qrels.items():
        concept = query.removeprefix("tur:")
        assert [data.documents[document] for document in documents] == [lexicon.of("az")[concept].idiom]


def test_t2_stays_in_one_language_and_t3_crosses(lexicon):
    monolingual = build_retrieval(lexicon, "T2", "azj")
    assert "qulaq tutmaq" in monolingual.queries.values()
    assert "mənası qulaqqulaq" in monolingual.documents.values()
    crossing = build_retrieval(lexicon, "T3", "tur-azj")
    assert "kulak tutmak" in crossing.queries.values()
    assert crossing.documents == monolingual.documents


def test_concepts_that_the_target_language_lacks_are_no_queries(lexicon):
    data = build_retrieval(lexicon, "T1", "tur-uzn")
    assert f"tur:{TEST[0]}" not in data.queries
    assert len(data.queries) == 5
    assert len(data.documents) == 15
    assert build_retrieval(lexicon, "T1", "tur-gag") is None
    assert build_retrieval(lexicon, "T2", "gag") is None


def test_queries_are_test_concepts_only(lexicon):
    for query in build_retrieval(lexicon, "T2", "tur").queries:
        assert retrieval_split(query.removeprefix("tur:")) == "test"


def test_equal_documents_are_one_document(lexicon):
    # a test concept and a training concept with the same Azerbaijani idiom: one document, relevant for both
    test, train = TEST[0], TRAIN[0]
    twin = Entry(train, lexicon.of("az")[test].idiom, "başqa mənası")
    data = build_retrieval(changed(lexicon, "az", twin), "T1", "tur-azj")
    assert len(data.documents) == 17
    assert len(set(data.documents.values())) == 17
    (document,) = data.qrels[f"tur:{test}"]
    assert data.documents[document] == twin.idiom


def test_equal_queries_are_one_query_with_every_relevant_document(lexicon):
    # one idiom with a sense in the test split and one in training: both meanings answer it
    test, train = TEST[0], TRAIN[0]
    sense = Entry(train, lexicon.of("tr")[test].idiom, "öbür anlamı")
    data = build_retrieval(changed(lexicon, "tr", sense), "T2", "tur")
    relevant = {data.documents[document] for document in data.qrels[f"tur:{test}"]}
    assert relevant == {lexicon.of("tr")[test].meaning, "öbür anlamı"}
    both = Entry(TEST[1], lexicon.of("tr")[test].idiom, "öbür anlamı")
    data = build_retrieval(changed(lexicon, "tr", both), "T2", "tur")
    assert len(data.queries) == 5


def test_entries_without_a_meaning_are_neither_asked_nor_found(lexicon):
    silent = dataclasses.replace(lexicon.of("tr")[TEST[0]], meaning=None)
    data = build_retrieval(changed(lexicon, "tr", silent), "T2", "tur")
    assert len(data.documents) == 17
    assert f"tur:{TEST[0]}" not in data.queries


def test_unknown_task():
    assert find_task("t3").name == "TurkicIdiomT3"
    with pytest.raises(InputError, match=r"unknown task 'T4'; known: TurkicIdiomT1 \(T1\)") as caught:
        find_task("T4")
    assert caught.value.exit_code == 2
