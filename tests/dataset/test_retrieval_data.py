"""From entries to queries, documents and judgements, on a lexicon small enough to count by hand."""

import dataclasses

import numpy as np
import pytest

from tests.dataset.conftest import CONCEPTS, DEVELOPMENT, TEST, TRAIN
from turkic_idiom_tasks.dataset import LexiconDataset, open_dataset
from turkic_idiom_tasks.dataset.retrieval import Pool, build_retrieval
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.support import supported
from turkic_idiom_tasks.results.predictions import Rankings
from turkic_idiom_tasks.results.scored import score_subset


def changed(lexicon, language, *entries):
    rows = dict(lexicon.of(language)) | {entry.concept: entry for entry in entries}
    return dataclasses.replace(lexicon, entries=dict(lexicon.entries) | {language: rows})


def test_t1_and_t3_ask_turkish_idioms_and_t2_stays_in_one_language(lexicon):
    data = build_retrieval(lexicon, "T1", "tur-azj")
    assert set(data.queries.values()) == {lexicon.of("tr")[concept].idiom for concept in TEST}
    assert len(data.documents) == 18  # ALL entries of the target language, training concepts included
    for query, documents in data.qrels.items():
        concept = query.removeprefix("tur:")
        assert [data.documents[document] for document in documents] == [lexicon.of("az")[concept].idiom]
    monolingual, crossing = build_retrieval(lexicon, "T2", "azj"), build_retrieval(lexicon, "T3", "tur-azj")
    assert set(monolingual.queries.values()) == {lexicon.of("az")[concept].idiom for concept in TEST}
    assert crossing.queries == data.queries
    assert set(crossing.documents.values()) == {entry.meaning for entry in lexicon.of("az").values()}
    assert crossing.documents == monolingual.documents


@pytest.mark.parametrize(
    ("task", "subset", "change", "n_documents"),
    [
        ("T1", "tur-uzn", {}, 15),  # the target language lacks it, and two training concepts
        ("T1", "tur-azj", {"collocation": True}, 18),  # which is a document all the same
        ("T2", "tur", {"meaning": None}, 17),
    ],
)
def test_concepts_that_are_not_asked(lexicon, task, subset, change, n_documents):
    entry = dataclasses.replace(lexicon.of("tr")[TEST[0]], **change)
    data = build_retrieval(changed(lexicon, "tr", entry), task, subset)
    assert set(data.queries) == {f"tur:{concept}" for concept in TEST[1:]}
    assert len(data.documents) == n_documents


def test_development_queries_never_see_a_test_concept(lexicon):
    data = build_retrieval(lexicon, "T1", "tur-azj", split="development")
    assert set(data.queries) == {f"tur:{concept}" for concept in DEVELOPMENT}
    assert set(data.documents) == {f"azj:{concept}" for concept in CONCEPTS if concept not in TEST}


def test_concepts_judged_to_mean_the_same_answer_each_other(lexicon):
    """TEST[0] is interchangeable with a training concept, TEST[1] only near to one."""
    judged = {(TEST[0], TRAIN[0]): "same", (TEST[1], TRAIN[0]): "near"}
    data = build_retrieval(dataclasses.replace(lexicon, equivalents=judged), "T1", "tur-azj")
    assert set(data.qrels[f"tur:{TEST[0]}"]) == {f"azj:{TEST[0]}", f"azj:{TRAIN[0]}"}
    assert set(data.strict_qrels[f"tur:{TEST[0]}"]) == {f"azj:{TEST[0]}"}
    assert set(data.qrels[f"tur:{TEST[1]}"]) == {f"azj:{TEST[1]}"}
    pool = Pool("T1", "tur-azj", data)
    row = pool.row[f"tur:{TEST[0]}"]
    assert [pool.documents[column] for column in pool.strictly_relevant[row]] == [f"azj:{TEST[0]}"]
    assert len(pool.relevant[row]) == 2


def test_equal_texts_are_one_document_or_one_query_with_every_relevant_document(lexicon):
    test, train = TEST[0], TRAIN[0]
    # a test concept and a training concept with the same Azerbaijani idiom: one document, relevant for both
    twin = Entry(train, lexicon.of("az")[test].idiom, "başqa mənası")
    data = build_retrieval(changed(lexicon, "az", twin), "T1", "tur-azj")
    assert len(data.documents) == len(set(data.documents.values())) == 17
    (document,) = data.qrels[f"tur:{test}"]
    assert data.documents[document] == twin.idiom
    # one idiom with a sense in the test split and one in training, or two in the test split: both meanings answer it
    for other, n_queries in ((train, 6), (TEST[1], 5)):
        sense = Entry(other, lexicon.of("tr")[test].idiom, "öbür anlamı")
        data = build_retrieval(changed(lexicon, "tr", sense), "T2", "tur")
        relevant = {data.documents[document] for document in data.qrels[f"tur:{test}"]}
        assert relevant == {lexicon.of("tr")[test].meaning, "öbür anlamı"}
        assert len(data.queries) == n_queries


@pytest.fixture
def with_gagauz(lexicon):
    """The lexicon with Gagauz entries of all six test concepts and a training concept; each has another reason.

    TEST[0] is attested, TEST[1] has its image in Azerbaijani, TEST[2] in attested Uzbek, TEST[3] in Uzbek that is not
    attested, TEST[4] and TEST[5] in Turkish alone.
    """
    forms = ["ligaları akmaa", "baş sallamaa", "til tutmaa", "diş tutmaa", "burun tutmaa", "yüz tutmaa"]
    rows = {"tr": [], "az": [], "gag": [Entry(TRAIN[0], "göz yummaa", "maana göz")]}
    for number, (concept, form) in enumerate(zip(TEST, forms, strict=True)):
        turkish = f"söz {number}" if number < 4 else form.replace("maa", "mak")
        azerbaijani = "baş sallamaq" if number == 1 else "huşunu itirmək"
        rows["tr"].append(Entry(concept, turkish, f"anlam {form}"))
        rows["az"].append(Entry(concept, azerbaijani, f"mənası {number}"))
        rows["gag"].append(Entry(concept, form, f"maana {form}", attested=None if number else "a memoir, p. 2"))
    rows["uz"] = [Entry(TEST[2], "til tutmoq", "maʼno", attested="a book"), Entry(TEST[3], "tish tutmoq", "maʼno 3")]
    for code, changes in rows.items():
        lexicon = changed(lexicon, code, *changes)
    return lexicon


def test_gagauz_entries_without_support_are_documents_and_no_test_queries(with_gagauz):
    assert supported(with_gagauz, "gag") == set(TEST[:3])
    data = build_retrieval(with_gagauz, "T2", "gag")
    assert set(data.queries) == {f"gag:{concept}" for concept in TEST[:3]}
    assert len(data.documents) == 7
    for task in ("T1", "T3"):
        crossing = build_retrieval(with_gagauz, task, "tur-gag")
        assert set(crossing.queries) == {f"tur:{concept}" for concept in TEST[:3]}
        assert len(crossing.documents) == 7
    everything = build_retrieval(with_gagauz, "T2", "gag", with_unsupported=True)
    assert set(everything.queries) == {f"gag:{concept}" for concept in TEST}
    assert len(build_retrieval(with_gagauz, "T1", "tur-azj").queries) == 6  # only Gagauz needs support
    # and only where the lexicon records sources
    entry = dataclasses.replace(with_gagauz.of("gag")[TEST[0]], attested=None)
    without = build_retrieval(changed(with_gagauz, "gag", entry), "T2", "gag")
    assert set(without.queries) == {f"gag:{concept}" for concept in TEST}


def test_an_entry_judged_to_mean_the_same_lends_no_support(with_gagauz):
    judged = dataclasses.replace(with_gagauz, equivalents={(TEST[0], TEST[5]): "same"})
    data = build_retrieval(judged, "T1", "tur-gag")
    assert f"tur:{TEST[5]}" not in data.queries
    assert set(data.qrels[f"tur:{TEST[0]}"]) == {f"gag:{TEST[0]}", f"gag:{TEST[5]}"}


def test_t4_asks_a_sentence_for_its_paraphrase_among_sentences_with_the_same_words():
    words = {
        "example": "Bu habere kulak astı.",
        "paraphrase": "Bu habere önem verdi.",
        "literal_paraphrase": "Bu habere küpe taktı.",
        "literal_example": "Duvara kulak biçimli bir süs astı.",
    }
    complete = Entry(TEST[0], "kulak asmak", "önem vermek", **words)
    train = Entry(TRAIN[0], "göz atmak", "bakmak", example="Göz attı.", paraphrase="Baktı.", literal_paraphrase="Attı.")
    partial = Entry(TEST[1], "el atmak", "girişmek", example="El attı.", paraphrase="Başladı.")
    entries = {entry.concept: entry for entry in (complete, train, partial)}
    lexicon = Lexicon({concept: Concept(concept, "") for concept in entries}, {"tr": entries}, revision="0" * 40)
    data = build_retrieval(lexicon, "T4", "tur")
    assert data.queries == {f"tur:{TEST[0]}": "Bu habere kulak astı."}
    assert sorted(data.documents.values()) == sorted(
        [words["paraphrase"], words["literal_paraphrase"], words["literal_example"], "Baktı.", "Attı.", "Başladı."]
    )
    with_original = dataclasses.replace(complete, paraphrased_example="Onun sözüne kulak astı.")
    asked = build_retrieval(changed(lexicon, "tr", with_original), "T4", "tur").queries
    assert asked == {f"tur:{TEST[0]}": "Onun sözüne kulak astı."}  # what the paraphrases reword
    ((relevant, judgement),) = data.qrels[f"tur:{TEST[0]}"].items()
    assert (data.documents[relevant], judgement) == (words["paraphrase"], 1)
    literal = {data.documents[document] for document in data.documents if "/literal_" in document}
    assert literal == {words["literal_paraphrase"], words["literal_example"], "Attı."}
    assert build_retrieval(lexicon, "T4", "azj") is None


def test_the_share_of_literal_sentences_that_come_first_splits_ties():
    dataset = open_dataset()
    pool = dataset.pool("T4", "tur")
    literal = np.array(["/literal_" in document for document in pool.documents])
    everything_ties = Rankings.from_similarities(pool, np.zeros((len(pool.queries), len(pool.documents))))
    assert score_subset(everything_ties).scores["literal_first"] == pytest.approx(literal.mean())
    perfect = np.zeros((len(pool.queries), len(pool.documents)))
    for row, columns in enumerate(pool.relevant):
        perfect[row, columns] = 1.0
    scores = score_subset(Rankings.from_similarities(pool, perfect)).scores
    assert (scores["literal_first"], scores["ndcg"]) == (0.0, 1.0)


def test_a_dataset_has_the_subsets_that_its_lexicon_serves(lexicon):
    dataset = LexiconDataset(lexicon, "mine")
    assert (dataset.path, dataset.revision) == ("mine", lexicon.revision)
    assert dataset.subsets("T1") == ("tur-azj", "tur-uzn")
    assert dataset.subsets("T2") == ("tur", "azj", "uzn")
    assert (build_retrieval(lexicon, "T1", "tur-gag"), build_retrieval(lexicon, "T2", "gag")) == (None, None)
    with pytest.raises(InputError, match="mine: has no data for TurkicIdiomT2, gag"):
        dataset.retrieval("T2", "gag")
