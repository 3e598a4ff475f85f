"""What models answer, read as tags: every format, strict and flexible, and whatever else may come."""

import itertools
import json
import math
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.dataset.conftest import ROW
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.harnesses import lm_eval_spans
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.model_answers import MAX_ANSWER
from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.tasks.spans.answers import read_answer
from turkic_idiom_tasks.tasks.spans.prompts import JSON, PROMPTS, XML, question, right_answer

O, B, I = LABELS  # noqa: E741
TR = LANGUAGES["tr"]
SENTENCE = "Komşusunun yaptıklarına göz yumdu."
TOKENS = ["Komşusunun", "yaptıklarına", "göz", "yumdu", "."]
FOUND, NOTHING = "OOBIO", "OOOOO"
FORMAT_ERROR = None


def read(response, sentence=SENTENCE, tokens=None, language=TR, *, strict=False):
    """The tags as OBI; None for a format error."""
    tokens = tokens or [word.of(sentence) for word in words(sentence)]
    tags = read_answer(response, sentence, tokens, language, strict=strict)
    return None if tags is None else "".join(tag[0] for tag in tags)


ALIKE = [
    ('  {"idioms":["göz yumdu"]}\n', FOUND),
    ('{"idioms": []}', NOTHING),
    ('{"idioms": ["göz yumdu", "el attı"]}', FOUND),
    ('{"idioms": ["yumdu göz"]}', NOTHING),
    ('{"idioms": ["\\u0067\\u00f6z yumdu"]}', FOUND),  # escaped, as json.dumps writes it
    ('{"idioms": ["' + unicodedata.normalize("NFD", "göz yumdu") + '"]}', FOUND),
    ('```json\n{"idioms": ["göz yumdu"]}\n```', FOUND),
    (SENTENCE, NOTHING),
    ("<think>göz boyamak mı?</think>\n" + '{"idioms": ["göz yumdu"]}', FOUND),
    # neither reading takes these
    ("", FORMAT_ERROR),
    ("lol", FORMAT_ERROR),
    ("<think>uzun uzun düşünüyorum: göz yumdu", FORMAT_ERROR),
    ('{"bio": ["O", "O", "B-IDIOM", "I-IDIOM", "O", "O"]}', FORMAT_ERROR),
    ('{"bio": ["O", "O", "B-LOC", "I-LOC", "O"]}', FORMAT_ERROR),
    ('{"bio": [null, [], {}, 1, "O"]}', FORMAT_ERROR),
    ("{}", FORMAT_ERROR),
    ('{"idioms": [1, 2]}', FORMAT_ERROR),
    ("O O B-IDIOM I-IDIOM", FORMAT_ERROR),
    *((no_text, FORMAT_ERROR) for no_text in (None, 5, b"{}", ["göz yumdu"], {"idioms": ["göz yumdu"]}, math.nan)),
]
DEVIATIONS = [  # which the strict reading calls format errors
    # prose around the JSON
    ('Tabii! İşte yanıt: {"idioms": ["göz yumdu"]} Umarım yardımcı olur.', FOUND),
    ('Örnek: {"idioms": ["el attı"]}. Yanıt: {"idioms": ["göz yumdu"]}', FOUND),  # the last one
    ('{"idioms": ["göz yumdu"]} {"idioms": []}', NOTHING),
    # other shapes
    ('["göz yumdu"]', FOUND),
    ('{"deyimler": ["göz yumdu"]}', FOUND),
    ('{"idioms": "göz yumdu"}', FOUND),
    ('{"idioms": [["göz yumdu"]]}', FOUND),
    ('{"idioms": null}', NOTHING),
    ('{"idioms": [{"text": "göz yumdu", "meaning": "görmezden gelmek"}]}', FOUND),
    ('{"bio": ["o", "o", "b-idiom", "i-idiom", "o"]}', FOUND),
    # a JSON text that breaks off
    ('{"idioms": ["göz yumdu", "el a', FOUND),
    # lists and bullets
    ("- göz yumdu", FOUND),
    ("Cümledeki deyim şudur:\n\n- göz yumdu", FOUND),
    ("1) “göz yumdu”", FOUND),
    ("**göz yumdu**", FOUND),
    ("göz yummak", FOUND),
    # none
    ("Yok", NOTHING),
    ("No idioms", NOTHING),
    # lines of tags
    ("O O B-IDIOM I-IDIOM O", FOUND),
    ("[O, O, B-IDIOM, I-IDIOM, O]", FOUND),
    ("Komşusunun\tO\nyaptıklarına\tO\ngöz\tB-IDIOM\n\nyumdu\tI-IDIOM\n.\tO\n", FOUND),
    # small slips in a copied sentence
    ("Komşusunun yaptıkların <idiom>göz yumdu</idiom>.", FOUND),
    ("Yanıt: Komşusunun yaptıklarına <IDIOM>göz yumdu</IDIOM>.", FOUND),
    ("Komşusunun yaptıklarına <idiom>göz yumdu", NOTHING),  # one that is never closed is none
    ("Komşusunun yaptıklarına </idiom>göz yumdu<idiom>.", NOTHING),
    ("Komşusunun <idiom>el attı</idiom>.", NOTHING),
    ("Komşusunun <idiom>yaptıklarına <idiom>göz</idiom> yumdu</idiom>.", "OOBOO"),  # a tag within a tag
]


@pytest.mark.parametrize(
    ("response", "flexible", "strict"),
    [
        *((response, expected, expected) for response, expected in ALIKE),
        *((response, expected, FORMAT_ERROR) for response, expected in DEVIATIONS),
        ('{"idioms": ["GÖZ YUMDU"]}', FOUND, NOTHING),
        ('{"idioms": ["Göz yumdu."]}', FOUND, NOTHING),
        ('{"idioms": ["göz yummak"]}', FOUND, NOTHING),
        ("Komşusunun yaptıklarına <idiom>göz yum</idiom>du.", FOUND, FOUND),  # models leave the ending outside
    ],
)
def test_what_the_two_readings_make_of_an_answer(response, flexible, strict):
    assert (read(response), read(response, strict=True)) == (flexible, strict)


@pytest.mark.parametrize(
    ("code", "sentence", "tags", "found", "citation", "shouted"),
    [
        ("tr", "Işık gözden ırak oldu.", "OBIIO", "gözden ırak oldu", "gözden ırak olmak", "GÖZDEN IRAK OLDU"),
        ("tr", "Bu işte İsmail'in parmağı var.", "OOOBIO", "parmağı var", "parmağı olmak", "PARMAĞI VAR"),
        ("az", "Müəllim onun səhvinə göz yumdu.", "OOOBIO", "göz yumdu", "göz yummaq", "GÖZ YUMDU"),
        ("az", "Qızı görəndə ürəyi getdi.", "OOBIO", "ürəyi getdi", "ürəyi getmək", "ÜRƏYİ GETDİ"),
        ("tk", "Ol maňa ýüz tutdy.", "OOBIO", "ýüz tutdy", "ýüz tutmak", "ÝÜZ TUTDY"),
        ("gag", "Kızın üreeni aldı.", "OBIO", "üreeni aldı", "üreeni almaa", "ÜREENİ ALDI"),
        ("uz", "Ustoz bunga koʻz yumdi.", "OOBIO", "koʻz yumdi", "koʻz yummoq", "KOʻZ YUMDI"),
    ],
)
def test_five_languages(code, sentence, tags, found, citation, shouted):
    language = LANGUAGES[code]
    assert read(json.dumps({"idioms": [found]}), sentence, language=language, strict=True) == tags
    tagged = sentence.replace(found, f"<idiom>{found}</idiom>")
    assert read(tagged, sentence, language=language, strict=True) == tags
    for flexible in (found, shouted, f"- {found}", json.dumps([shouted])):
        assert read(flexible, sentence, language=language) == tags
    if not citation.startswith("parmağı"):  # `olmak` for `var` is another word
        assert read(json.dumps({"idioms": [citation]}), sentence, language=language) == tags
        assert read(json.dumps({"idioms": [citation]}), sentence, language=language, strict=True) == "O" * len(tags)


@pytest.mark.parametrize(
    ("code", "none"),
    [
        ("tr", "Deyim yok."), ("tr", "DEYİM YOKTUR."), ("az", "yoxdur"), ("tk", "Ýok"), ("gag", "yok"),
        ("uz", "Yoʻq"), ("uz", "yo'q"), ("uz", "Yo‘q."),
    ],
)  # fmt: skip
def test_none_in_five_languages(code, none):
    assert read(none, "Ol keldi .", language=LANGUAGES[code]) == "OOO"


@pytest.mark.parametrize("apostrophe", list("ʻʼ'‘’`"))
def test_uzbek_apostrophes_are_equal_to_the_flexible_reading(apostrophe):
    uz, sentence = LANGUAGES["uz"], "Ustoz bunga koʻz yumdi."
    for answer in (f"ko{apostrophe}z yumdi", f"Ustoz bunga <idiom>ko{apostrophe}z yumdi</idiom>."):
        assert read(answer, sentence, language=uz) == "OOBIO"
    strict = read(json.dumps({"idioms": [f"ko{apostrophe}z yumdi"]}), sentence, language=uz, strict=True)
    assert strict == ("OOBIO" if apostrophe == "ʻ" else "OOOOO")


@pytest.mark.parametrize(
    ("code", "sentence", "answer", "tags"),
    [
        # I is the capital of ı in Turkish, and of i in Turkmen
        ("tr", "Evin ışığı söndü", "IŞIĞI SÖNDÜ", "OBI"),
        ("tk", "Ol iş başy boldy", "IŞ BAŞY", "OBIO"),
        # behind a word that holds or ends like the first word of the idiom
        ("tr", "Nihan için an meselesi.", "an meselesi", "OOBIO"),
        # citation forms, whose t becomes d before a vowel
        ("tr", "Bunu göz ardı ediyor.", "göz ardı etmek", "OBIIO"),
        ("az", "Onunla yola gedir.", "yola getmək", "OBIO"),
        # words that share two letters of five are not one stem
        ("tr", "Köşeyi kuruyor.", "köşe kurmak", "BIO"),
        ("tr", "Köşeyi kuruyor.", "köprü kurmak", "OOO"),
        # a sign within an idiom stands for itself
        ("tr", "Gökte ararken, yerde buldu.", "gökte ararken, yerde bulmak", "BIIIIO"),
        ("tr", "Gökte ararken, yerde buldu.", "gökte ararken: yerde bulmak", "OOOOOO"),
        # fragments of an interrupted idiom
        ("tr", "Adını ben sildim defterden.", "adını ... sildim defterden", "BOBIO"),
        ("tr", "Adını ben sildim defterden.", "Adını / sildim defterden", "BOBIO"),
    ],
)
def test_where_the_flexible_reading_finds_an_idiom(code, sentence, answer, tags):
    assert read(json.dumps({"idioms": [answer]}), sentence, language=LANGUAGES[code]) == tags


@pytest.mark.parametrize("strict", [True, False])
def test_the_same_idiom_twice(strict):
    sentence = "Ali göz yumdu, Veli de göz yumdu."  # Ali göz yumdu , Veli de göz yumdu .
    once, twice = json.dumps({"idioms": ["göz yumdu"]}), json.dumps({"idioms": ["göz yumdu"] * 2})
    assert read(once, sentence, strict=strict) == "OBIOOOOOO"
    assert read(twice, sentence, strict=strict) == "OBIOOOBIO"
    assert read(json.dumps({"idioms": ["göz yumdu"] * 3}), sentence, strict=strict) == "OBIOOOBIO"
    tagged = "Ali göz yumdu, Veli de <idiom>göz yumdu</idiom>."
    assert read(tagged, sentence, strict=strict) == "OOOOOOBIO"
    both = "Ali <idiom>göz yumdu</idiom>, Veli de <idiom>göz yumdu</idiom>."
    assert read(both, sentence, strict=strict) == "OBIOOOBIO"


@pytest.mark.parametrize("strict", [True, False])
def test_the_longest_idiom_comes_first_and_no_word_is_used_twice(strict):
    sentence = "El ele verdi, el açtı."  # El ele verdi , el açtı .
    for order in (["el", "el açtı"], ["el açtı", "el"]):
        # `el açtı` takes words 4 and 5; for `el` the strict reading has none left, the flexible one has `El`
        found = read(json.dumps({"idioms": order}), sentence, strict=strict)
        assert found == ("OOOOBIO" if strict else "BOOOBIO")
    for fragments in (
        json.dumps({"idioms": ["ele verdi", "El"]}),
        "<idiom>El</idiom> <idiom>ele verdi</idiom>, el açtı.",
    ):
        assert read(fragments, sentence, strict=strict) == "BBIOOOO"


@pytest.mark.parametrize("idiom", ["göz boyamak", "el yummak", "kulak asmak", "yüzü yumuşak", "ö", "g"])
def test_another_idiom_is_not_taken_for_this_one(idiom):
    assert read(json.dumps({"idioms": [idiom]})) == NOTHING


@pytest.mark.parametrize(
    "row",
    [
        ROW,
        ROW | {"tokens": ["Buna", "göz", "yumdu."], "ner_tags": [0, 1, 2]},
        ROW | {"sentence": "Ko‘z yumdi", "tokens": ["Ko", "‘", "z", "yumdi"], "ner_tags": [1, 2, 2, 2]},
        ROW | {"tokens": ["Bu", "na", "göz", "yum", "du", "."], "ner_tags": [0, 0, 1, 2, 2, 0]},
        ROW | {"tokens": ["Buna", "göz yumdu", "."], "ner_tags": [0, 1, 0]},
        ROW | {"tokens": ["Buna", "göz", "yum", "du", "."], "ner_tags": [0, 1, 2, 0, 0]},
        ROW | {"sentence": "  Buna göz  yumdu. \n"},
        json.loads(unicodedata.normalize("NFD", json.dumps(ROW, ensure_ascii=False))),
        ROW | {"sentence": "Nihan an meselesi", "tokens": ["Nihan", "an", "meselesi"], "ner_tags": [0, 1, 2]},
    ],
    ids=["plain", "attached", "apostrophe", "cut", "joined", "clitic outside", "white space", "NFD", "substring"],
)  # fmt: skip
def test_the_right_answer_scores_full_marks_whatever_the_tokenisation(hub_layout, row):
    (sentence,) = open_dataset(str(hub_layout({"test": [row]}))).sentences("tr")["test"]
    assert len(sentence.tokens) == len(row["tokens"])
    assert_right_answers_are_read(sentence)


def test_the_right_answers_about_the_bundled_sentences_are_read_as_their_tags(bundled):
    for _, sentence in bundled[::6]:
        assert_right_answers_are_read(sentence)


def assert_right_answers_are_read(sentence):
    for prompt, strict in itertools.product((JSON, XML), (True, False)):
        answer, language = right_answer(sentence, prompt=prompt), LANGUAGES[sentence.language]
        tags = read_answer(answer, sentence.sentence, sentence.tokens, language, strict=strict)
        assert tags == sentence.tags, (answer, strict)


def test_a_prompt_never_gives_away_the_answer_and_holds_the_sentence(bundled):
    for _, row in bundled[::10]:
        document = row.document()
        hidden = document | {"idiom": "", "ner_tags": [0] * len(row.tokens), "spans": []}
        for text in (lm_eval_spans.text_json, lm_eval_spans.text_xml, lm_eval_spans.text_native):
            assert text(document) == text(hidden)
            assert row.sentence in text(document)


@pytest.mark.parametrize("sign", ["—", "❤️", "***", "\u0301", "—/—", "😀 😀"])
def test_a_sign_is_no_idiom_and_no_part_of_one(sign):
    for sentence in (SENTENCE, "Komşusu, yaptıklarına göz yumdu!", f"Komşusu {sign} göz yumdu."):
        n_tokens = len(words(sentence))
        outside = "O" * n_tokens
        assert read(sign, sentence) == FORMAT_ERROR
        assert read(json.dumps([sign]), sentence) == outside
        assert read(f"{sign} göz yumdu {sign}", sentence) == outside[:-3] + "BIO"
        assert read(json.dumps({"idioms": [f"göz yumdu {sign}"]}), sentence) == outside[:-3] + "BIO"


SLIP = "Komşusunun yaptıkların göz yumdu"


@pytest.mark.parametrize("copy", [SENTENCE, SENTENCE.lower()[:-1] + "!", f"“{SENTENCE[:-1]}”", f"**{SENTENCE}**", SLIP])
def test_a_copied_sentence_without_tags_marks_nothing(copy):
    assert read(copy) == NOTHING
    assert read(f"{copy}\n- göz yumdu") == FOUND
    assert read('{"text": "' + copy + '"}') == FORMAT_ERROR
    # an idiom as long as the sentence must be named in the form that the prompt asks for
    everything = {"idioms": [copy.strip("*“”")]}
    assert set(read(json.dumps(everything))[:-1]) == {"B", "I"}


OWN = f"Sentence: {SENTENCE}"
OTHER = "Sentence: Veli bunu kulak arkası etti."
TASK = "Find the idioms (fixed figurative expressions) in the Turkish sentence. Answer with a JSON object."
GOOD, NONE = '{"idioms": ["göz yumdu"]}', '{"idioms": []}'


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        f"\n{OTHER}\nAnswer: {NONE}",
        f"\n\n{TASK}\n{OWN}\nAnswer: {NONE}",  # a model without reasoning that begins again
        f"\n\n{TASK[:40]}",
        "\nSentence:",
        f"\n\n{TASK}\n{OTHER}\nAnswer: {NONE}" * 500,  # and never ends
    ],
)
def test_what_a_model_asks_itself_after_the_answer_is_left_out(more, strict):
    for answer in (GOOD, "Komşusunun yaptıklarına <idiom>göz yumdu</idiom>."):
        assert read(answer + more, strict=strict) == FOUND


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("code", LANGUAGES)
def test_questions_of_its_own_in_thoughts_and_after_the_answer(code, strict, bundled):
    """Under every prompt, in every language; some chat templates write the first tag of a thought themselves."""
    row, other = [row for language, row in bundled if language.code == code][:2]
    expected = "".join(tag[0] for tag in row.tags)
    for prompt in PROMPTS:
        answer = right_answer(row, prompt=prompt)
        for asked in (question(other.sentence, code, prompt=prompt), question(row.sentence, code, prompt=prompt)):
            asks_again = f"{asked} {right_answer(other, prompt=JSON)}"
            for text in (f"{answer}\n\n{asks_again}", f"<think>\n{asks_again}\n</think>\n{answer}",
                         f"Let me see.\n\n{asked}\n\nSo it is that.</think>\n{answer}"):  # fmt: skip
                assert read(text, row.sentence, list(row.tokens), LANGUAGES[code], strict=strict) == expected, text


def test_an_answer_may_begin_with_the_question():
    for before in (OWN, f"{TASK}\n{OWN}", f"Let me see.\n{OWN}", f"Let me see.\n{OWN[:-1]}", f"{TASK}\n\n{OWN}\n"):
        assert read(f"{before}\nAnswer: {GOOD}") == FOUND
    tagged = "Sentence: Komşusunun yaptıklarına <idiom>göz yumdu</idiom>."
    assert read(tagged) == FOUND
    # the answer to another question is none to this one
    assert read(f"{OTHER}\nAnswer: {NONE}") == FORMAT_ERROR
    assert read(f"bilmiyorum\n{OTHER}\nAnswer: {NONE}") == FORMAT_ERROR
    assert read(f"{OWN}\nAnswer: <think>{GOOD}") == FORMAT_ERROR
    assert read(f"<think>The user says:\n{OWN}\nAnswer: {GOOD}") == FORMAT_ERROR  # a thought that never ends


N = MAX_ANSWER - 100  # what is longer is not read at all
HOSTILE = {
    "nested lists": "[" * N,
    "objects": "{}" * (N // 2),
    "open strings": '{"idioms": ["' * (N // 13),
    "spaces": "göz" + " " * N + "yumdu",
    "lines": "a\n" * (N // 2),
    "slashes": "a/" * (N // 2),
    "tags": "<idiom>göz</idiom>" * (N // 18),
    "tagged words": "<idiom>göz</idiom> " + "göz " * (N // 4 - 20),
    "many idioms": json.dumps({"idioms": ["a"] * (N // 5)}),
    "a hundred idioms": json.dumps({"idioms": ["göz yumdu yaptı"] * 100}),
    "large numbers": "[" + "1" * N + "]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_read_fast(name):
    """And what repeats a pattern for longer: tests/test_model_answers.py."""
    long_sentence = " ".join(f"kelime{number}" for number in range(100))
    for sentence, strict, seconds in ((SENTENCE, True, 0.7), (SENTENCE, False, 0.7), (long_sentence, False, 2)):
        began = time.process_time()
        tags = read(HOSTILE[name], sentence, strict=strict)
        assert time.process_time() - began < seconds  # what is quadratic in the answer takes two for the short one
        assert tags is None or len(tags) == len(words(sentence))


def test_an_answer_of_more_than_the_most_characters_is_a_format_error():
    answer = '{"idioms": ["göz yumdu"]}'
    prose = "a" * (MAX_ANSWER - len(answer))
    assert read(prose + answer) == FOUND
    assert read("a" + prose + answer) == FORMAT_ERROR
    for strict in (True, False):  # reasoning does not count
        assert read(f"<think>{'x' * 1_000_000}</think>{answer}", strict=strict) == FOUND


PARTS = ["göz", "yumdu", "yummak", "Nihan", " ", "\n", '{"idioms": [', '"', "]}", "[", "]", "{", "}", ",", "<idiom>",
         "</idiom>", "<think>", "</think>", "```json\n", "O", "B-IDIOM", "i-idiom", "- ", "1. ", "yok", "...", "/",
         "\\", '{"bio": ["O", ', "null", "İ", "ʻ", "\u0301", "\ud800", "\x00", "5", SENTENCE]  # fmt: skip
RESPONSES = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=12).map("".join),
    st.text(max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from([*LABELS, "göz yumdu", "göz", "", "."]),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["idioms", "bio", "text"]), inner),
        max_leaves=12,
    ).map(json.dumps),
    st.lists(st.sampled_from(LABELS), min_size=3, max_size=7).map(lambda tags: json.dumps({"bio": tags})),
    st.integers() | st.none() | st.binary(),
)
SENTENCES = st.sampled_from([SENTENCE, "Nihan için an meselesi.", "Koʻz yumdi, koʻz ochdi", "göz"]) | st.text(
    alphabet=st.sampled_from("gözyumduNİı .,ʻ'<>[]{}\"-"), min_size=1, max_size=40
).filter(str.strip)


@settings(max_examples=600, deadline=None)
@given(RESPONSES, SENTENCES, st.sampled_from(list(LANGUAGES.values())), st.booleans())
@example('{"bio": ["O"]}', "göz", TR, True)
def test_fuzz_never_raises_and_always_tags_every_token(response, sentence, language, strict):
    sentence = unicodedata.normalize("NFC", sentence)
    tokens = [word.of(sentence) for word in words(sentence)]
    tags = read_answer(response, sentence, tokens, language, strict=strict)
    if tags is not None:
        assert len(tags) == len(tokens)
        assert set(tags) <= set(LABELS)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "subwords",
    [
        "[" * 1_500,
        *(
            f'{{"labels": ["O"], "words": {owners}}}'
            for owners in ('["a"]', "[7]", "[null]", "[0.5]", "[-9]", '{"a": 1}')
        ),
        '{"labels": [["O"]], "words": [0]}',
        '{"labels": ["B-LOC"], "words": [0]}',
        '{"labels": ["O", "O"], "words": [0]}',
        '{"labels": 5, "words": 5}',
        "null",
    ],
)
def test_subwords_that_no_classifier_would_answer_stop_no_run(subwords, strict):
    response = '{"bio": ["O", "O", "O", "O", "O"], "subwords": ' + subwords + "}"
    document = {"id": "x", "concept": "turn-a-blind-eye", "lang": "tr", "idiom": "göz yummak", "sentence": SENTENCE,
                "tokens": TOKENS, "ner_tags": [0, 0, 1, 2, 0]}  # fmt: skip
    read_with = lm_eval_spans.filter_strict if strict else lm_eval_spans.filter_flexible
    ((read_as,),) = read_with([[response]], [document])
    assert 0 <= lm_eval_spans.process_results(document, [read_as])["f1"] <= 1


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_read_strictly_is_read_alike_flexibly(data):
    """Whatever is exact to the letter means the same in both readings, unless an idiom stands there in another form."""
    tags = data.draw(st.lists(st.sampled_from(LABELS), min_size=5, max_size=5))
    bio = json.dumps({"bio": tags})
    assert read(bio, strict=True) == read(bio) == "".join(tag[0] for tag in tags)
    start = data.draw(st.integers(0, 4))
    end = data.draw(st.integers(start + 1, 5))
    places = words(SENTENCE)
    part = SENTENCE[places[start].start : places[end - 1].end]
    gold = "".join("B" if n == start else "I" if start < n < end else "O" for n in range(5))
    tagged = SENTENCE[: places[start].start] + f"<idiom>{part}</idiom>" + SENTENCE[places[end - 1].end :]
    for answer in (json.dumps({"idioms": [part]}), tagged):
        assert read(answer, strict=True) == gold
        if part != ".":  # punctuation alone is no idiom to the flexible reading
            assert read(answer).rstrip("O") in (gold.rstrip("O"), gold[:4].rstrip("O"))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["an", "Nihan", "el", "ele", "güzel", "göz", "yumdu"]), min_size=1, max_size=8), st.data()
)
def test_what_stands_in_a_sentence_is_found_in_it(tokens, data):
    start = data.draw(st.integers(0, len(tokens) - 1))
    wanted = tokens[start : data.draw(st.integers(start + 1, len(tokens)))]
    for strict in (True, False):
        tags = read(json.dumps({"idioms": [" ".join(wanted)]}), " ".join(tokens), strict=strict)
        found = [token for token, tag in zip(tokens, tags, strict=True) if tag != "O"]
        assert (found, tags.count("B")) == (wanted, 1)
