"""Items of the bundled lexicon: what their options are, never are, and how they stand."""

import itertools
import json
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.items.conftest import small_lexicon
from turkic_idiom_tasks.dataset import LexiconDataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.orthography import content_stems, fold
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split
from turkic_idiom_tasks.tasks.items.baselines import NAMES, baseline_accuracy, baseline_rows
from turkic_idiom_tasks.tasks.items.item_types import Item, Option, balanced
from turkic_idiom_tasks.tasks.items.items import HARD_TASKS, KINDS, build_items, item_sets, items_of_set, kind_of
from turkic_idiom_tasks.tasks.items.likeness import SharedWords, SimilarSpelling, letter_overlap
from turkic_idiom_tasks.tasks.items.rivals import NEAREST
from turkic_idiom_tasks.tasks.items.scoring import image_of, right_shares
from turkic_idiom_tasks.tasks.items.traps import TOO_CLOSE, Relations
from turkic_idiom_tasks.tasks.items.written import BLANK

SETS = (("meaning", "tr"), ("meaning", "gag"), ("equivalent", "tr", "uz"), ("cloze", "az"))
FIVE_POINTS = 0.05


def assert_options_differ(item, lexicon, *, n):
    """An item has n different texts, of which the right one is of its concept, and none is judged like another."""
    concepts = [option.concept for option in item.options]
    assert len({fold(option.text, LANGUAGES[item.target]) for option in item.options}) == n
    assert concepts[item.gold] == item.concept
    assert [option.trap is None for option in item.options] == [place == item.gold for place in range(n)]
    assert lexicon.equivalents.keys().isdisjoint(itertools.combinations(sorted(concepts), 2))


@pytest.mark.parametrize("name", SETS)
def test_options_are_four_texts_of_one_part_of_speech_none_judged_like_another(dataset, name):
    concepts = dataset.lexicon.concepts
    judged, same = dataset.lexicon.equivalents, dataset.lexicon.judged("same")
    for item in build_items(dataset, *name):
        assert_options_differ(item, dataset.lexicon, n=4)
        assert len({concepts[option.concept].pos for option in item.options}) == 1
        assert retrieval_split(item.concept) == "test"
        # nor over one concept with the same meaning
        traps = {option.concept for option in item.options} - {item.concept}
        pairs = itertools.product(same.get(item.concept, ()), traps)
        assert judged.keys().isdisjoint(tuple(sorted(pair)) for pair in pairs)


def test_knowing_no_idiom_does_not_help(dataset):
    """The demand of the task: within five points of chance, for each language with enough items."""
    for kind, *languages in (*SETS, ("usage", "tr")):
        items = build_items(dataset, kind, *languages)
        chance = 0.5 if kind == "usage" else 0.25
        names = ("longest", "shortest", "position") if kind == "equivalent" else (*NAMES[:3], "overlap")
        for name in names:
            assert abs(baseline_accuracy(name, items) - chance) <= FIVE_POINTS, (kind, name)
    n_highest = 0  # the right option alone shares the most letters with the idiom: in a quarter of the items
    meanings = build_items(dataset, "meaning", "tr")
    for item in meanings:
        shared = [letter_overlap(item.text, option.text, "tr", "tr") for option in item.options]
        n_highest += shared.index(max(shared)) == item.gold and shared.count(max(shared)) == 1
    assert abs(n_highest - len(meanings) / 4) < 1


@pytest.mark.parametrize("name", [("meaning_rivals", "uz"), ("equivalent_rivals", "az", "uz")])
def test_rivals_are_ten_near_options_none_judged_like_another_and_no_twins(dataset, name):
    nearest = {row["concept"]: row["nearest"] for row in map(json.loads, NEAREST.read_text("utf-8").splitlines())}
    items = build_items(dataset, *name)
    assert len(items) > 140
    for item in items:
        assert_options_differ(item, dataset.lexicon, n=10)
        assert {option.concept for option in item.options} - {item.concept} <= set(nearest[item.concept])
        assert {option.trap for option in item.options} == {None, "near"}
    names = ("longest", "shortest", "position", "middle", *(["overlap"] if len(name) == 2 else []))
    for baseline in names:
        assert abs(baseline_accuracy(baseline, items) - 0.1) <= FIVE_POINTS + 0.02, baseline
    if len(name) == 3:
        free = [item for item in items if not item.shares_stem]
        assert baseline_accuracy("overlap", free) <= 0.1 + FIVE_POINTS + 0.02
        assert "twins" not in {image_of(item) for item in items}
    unjudged = LexiconDataset(replace(dataset.lexicon, equivalents={}), "unjudged")
    assert build_items(unjudged, *name) == ()  # the nearest concept may be right too


@pytest.mark.parametrize("languages", [("tr", "gag"), ("az", "tk")])
def test_at_most_a_tenth_of_the_equivalents_are_the_same_word_for_word(dataset, languages):
    images = Counter(image_of(item) for item in build_items(dataset, "equivalent", *languages))
    assert images["twins"] > 0
    assert images["twins"] <= images.total() / 10 < images["twins"] + 1.2  # as many as there may be


def test_spelling_helps_only_where_words_are_shared(dataset):
    rows = baseline_rows("equivalent_tr_uz", build_items(dataset, "equivalent", "tr", "uz"))
    assert [row["set"].partition(", ")[2] for row in rows] == ["", "shared stem", "other stems"]
    assert rows[0]["items"] == rows[1]["items"] + rows[2]["items"]
    assert rows[1]["overlap"] > 0.6
    assert rows[2]["overlap"] < 0.35


def test_types_of_traps(dataset):
    """A near trap has a word of gloss or meaning in common, a lexical one a word of the idiom, a random one neither."""
    relations = Relations(dataset.lexicon)
    idioms = dataset.lexicon.of("tr")
    counts = Counter()
    for item in build_items(dataset, "meaning", "tr"):
        close = relations.closeness(item.concept)
        for option in item.options:
            counts[option.trap] += 1
            if option.trap == "near":
                assert close[option.concept] > 0
            if option.trap == "random":
                assert option.concept not in close
        lexical = [option for option in item.options if option.trap == "lexical"]
        if item.concept == "act-as-one":  # baş başa vermek
            assert "baş" in idioms[lexical[0].concept].idiom
    assert counts["near"] > 150
    assert counts["lexical"] > 100
    equivalents = build_items(dataset, "equivalent", "tr", "uz")
    n_false_friends = sum("lexical" in [option.trap for option in item.options] for item in equivalents)
    assert n_false_friends > 0.6 * len(equivalents)


def test_likeness_of_real_words():
    # tr göz and az göz, uz koʻz (the common orthography has köz); tr el and uz el; nothing like it in `til`
    uzbek = SimilarSpelling({"a": "koʻz tikmoq", "b": "tilini topmoq", "c": "el ogʻziga tushmoq"}, language="uz")
    assert uzbek.to_words_of("göz koymak", "tr").keys() == {"a"}
    assert uzbek.to_words_of("el açmak", "tr") == {"c": 1.0}
    azerbaijani = SimilarSpelling({"a": "göz qoymaq", "b": "gözü götürməmək"}, language="az")
    likeness = azerbaijani.to_words_of("göz koymak", "tr")
    assert likeness["a"] == 2.0  # both words are spelt alike
    assert 0 < likeness["b"] <= 1
    # Within a language
    shared = SharedWords({"a": "gözüne girmek", "b": "gönül almak", "c": "iki gözüm"}, language="tr")
    assert shared.with_words_of("gözden düşmek") == {"a": 1.0, "c": 1.0}
    assert shared.with_words_of("almak") == {}  # a function word


def test_usage_has_both_sentences_of_each_idiom(dataset):
    items = build_items(dataset, "usage", "tr")
    orders = Counter()
    for figurative, literal in zip(items[::2], items[1::2], strict=True):
        assert figurative.concept == literal.concept
        assert figurative.options == literal.options
        assert {figurative.gold, literal.gold} == {0, 1}
        entry = dataset.lexicon.of("tr")[figurative.concept]
        assert (figurative.text, literal.text) == (entry.example, entry.literal_example)
        assert figurative.options[figurative.gold].text == "figurative"
        orders[figurative.gold] += 1
    assert abs(orders[0] - orders[1]) <= 1
    assert build_items(dataset, "usage", "gag") == ()


def test_cloze_blanks_the_idiom_and_no_sentence_of_it_stands_in_a_usage_item_that_names_the_idiom(dataset):
    for language in ("tr", "az", "tk", "gag", "uz"):  # no options were written for Kazakh
        entries = dataset.lexicon.of(language)
        shown = {item.text for item in build_items(dataset, "usage", language)}
        for split in ("test", "train"):
            items = build_items(dataset, "cloze", language, split=split)
            assert len(items) >= 12  # examples in a prompt, and questions
            for item in items:
                entry = entries[item.concept]
                start, end = entry.spans[0].start, entry.spans[0].end
                assert item.text == entry.example[:start] + BLANK + entry.example[end:]
                assert entry.example not in shown


def test_options_of_a_cloze_sentence_hold_for_that_sentence_alone(dataset):
    """Neither for a sentence that was written again, nor where a trap is judged like the key since."""
    lexicon, item = dataset.lexicon, build_items(dataset, "cloze", "az")[0]
    entry = lexicon.of("az")[item.concept]
    span = entry.spans[0]
    moved = replace(entry, example=f"Ah, {entry.example}", spans=(Span(span.start + 4, span.end + 4),))
    entries = {**lexicon.entries, "az": {**lexicon.of("az"), item.concept: moved}}
    trap = next(option.concept for option in item.options if option.trap)
    judged = {**lexicon.equivalents, tuple(sorted((trap, item.concept))): "near"}
    for other in (replace(lexicon, entries=entries), replace(lexicon, equivalents=judged)):
        ids = {other_item.id for other_item in build_items(LexiconDataset(other, "other"), "cloze", "az")}
        assert len(ids) > 100
        assert item.id not in ids


def test_preferences_of_the_baselines_by_hand():
    options = tuple(map(Option, ("göz yumup durmak", "su", "ay", "göz yummamak")))
    item = Item("i", "meaning", "tr", "tr", "c", "göz yummak", "göz yummak", options, 0)
    expected = {"longest": [1, 0, 0, 0], "shortest": [0, 1 / 2, 1 / 2, 0], "overlap": [0, 0, 0, 1]}
    for name, accuracies in expected.items():
        assert [baseline_accuracy(name, [replace(item, gold=gold)]) for gold in range(4)] == accuracies


def test_forms_beside_a_blank_can_be_learned_and_a_form_that_fits_by_chance_cannot():
    """The right option always ends as the word before the blank does; then never."""
    ends = ("ata", "eti", "uku", "ölü")
    items = {"near": [], "far": [], "chance": []}
    for number in range(48):
        gold, shift = number % 4, number // 4 % 4
        options = tuple(Option(f"{number} {end}", f"c{place}") for place, end in enumerate(ends))
        for cue, before in (("near", ends[gold]), ("far", f"{ends[gold]} ara"), ("chance", ends[shift])):
            text = f"x{before} {BLANK} son {number}"
            items[cue].append(Item(f"i{number}", "cloze", "tr", "tr", f"c{number}", "", text, options, gold))
    for name in ("window", "ends"):
        assert baseline_accuracy(name, items["near"]) == 1
        assert (baseline_accuracy(name, items["far"]) == 1) == (name == "window")  # a word away
        assert baseline_accuracy(name, items["chance"]) <= 0.25
        assert baseline_accuracy(name, [replace(item, kind="meaning") for item in items["near"]]) != 1


def test_a_situation_uses_no_word_of_its_idiom_and_stands_beside_the_idioms_that_were_written_for_it(dataset):
    for language in ("tr", "az", "tk", "gag", "uz"):
        items = build_items(dataset, "situation", language)
        assert len(items) >= 30
        entries = dataset.lexicon.of(language)
        for item in items:
            assert [option.text for option in item.options] == [entries[o.concept].idiom for o in item.options]
            text, idiom = (content_stems(words, LANGUAGES[language]) for words in (item.text, item.idiom))
            assert {stem[:5] for stem in text}.isdisjoint(stem[:5] for stem in idiom)
        for name in ("longest", "shortest", "position", "overlap"):
            # 20 comparisons with chance, so two standard errors would be too few
            assert abs(baseline_accuracy(name, items) - 0.25) <= 2.5 * math.sqrt(0.25 * 0.75 / len(items)), name


@pytest.mark.parametrize(
    ("task", "language", "concept", "n_produced"),
    [
        # The first answers of the three readers, counted by hand
        ("recall", "tr", "complete-stranger", 0),  # yedi kat el: el oğlu three times; the idiom is their third answer
        ("recall", "tr", "bear-the-blame-alone", 1),  # olan ona olmak, günah keçisi olmak, kabak başına patlamak
        ("recall", "tr", "bear-grief-with-a-brave-face", 2),  # dişini sıkmak, bağrına taş basmak twice
        ("recall", "tr", "a-tiny-bit-of", 3),  # bir damla, zırnık kadar, devede kulak: all judged `same`
        ("situation_open", "uz", "submit-to-a-stronger-side", 0),  # tiz choʻkmoq: taslim boʻlmoq three times
        # oʻzi bir olam boʻlmoq, yoqasini ushlamoq, besh qoʻl baravar emas
        ("situation_open", "uz", "be-astonished", 1),
        ("situation_open", "uz", "start-again-from-scratch", 2),  # noldan boshlamoq twice, quruq yerda
    ],
)
def test_a_hard_item_is_one_whose_idiom_at_most_half_of_the_panel_produced(
    dataset, task, language, concept, n_produced
):
    items = {item.concept: item for item in build_items(dataset, task, language)}
    shares = right_shares(task, [items[concept]], dataset.lexicon)
    assert shares == {items[concept].id: pytest.approx(n_produced / 3)}
    hard = build_items(dataset, f"{task}_hard", language)
    assert (items[concept] in hard) == (n_produced <= 1)
    assert set(hard) < set(items.values())


def test_of_items_with_options_the_share_that_chose_the_right_concept_is_kept(dataset):
    items = {item.concept: item for item in build_items(dataset, "meaning_rivals", "uz")}
    # One of three readers chose another meaning; in the second one named another one besides the right one
    asked = [items["change-the-subject"], items["gag-someone"]]
    shares = right_shares("meaning_rivals", asked, dataset.lexicon)
    assert list(shares.values()) == [pytest.approx(2 / 3), 1]
    assert right_shares("meaning_rivals", [replace(asked[0], id="meaning_rivals_uz/new")], dataset.lexicon) == {}


def test_hard_items_of_every_kind_are_about_the_idioms_that_the_panel_did_not_produce(dataset):
    """Uzbek ones, where idioms of another language are asked for; those of situations are counted by themselves."""

    def concepts(task, *languages):
        return {item.concept for item in build_items(dataset, task, *languages)}

    for task, whole in HARD_TASKS.items():
        languages = ("tr", "uz") if KINDS[kind_of(whole)].is_directed else ("uz",)
        hard = concepts("situation_open_hard" if "situation" in whole else "recall_hard", "uz")
        assert concepts(task, *languages) == concepts(whole, *languages) & hard != set()


def test_only_items_that_the_panel_was_asked_are_hard_and_examples_are_those_of_all_items(dataset):
    for language in ("gag", "kk"):
        assert build_items(dataset, "recall", language)
        assert build_items(dataset, "recall_hard", language) == ()
    examples = build_items(dataset, "recall_hard", "tr", split="train")
    assert examples == build_items(dataset, "recall", "tr", split="train") != ()


def without(dataset, concept):
    """Return the dataset as if a concept had never been written."""
    lexicon = dataset.lexicon

    def rest(rows):
        return {name: row for name, row in rows.items() if name != concept}

    entries = {language: rest(rows) for language, rows in lexicon.entries.items()}
    judged = {pair: verdict for pair, verdict in lexicon.equivalents.items() if concept not in pair}
    changes = {"concepts": rest(lexicon.concepts), "entries": entries, "equivalents": judged}
    return LexiconDataset(replace(lexicon, **changes), "without")


def test_growth_moves_few_items(dataset):
    """A concept more changes the items whose trap it becomes, and, if it is asked about, a few to keep the balance."""
    items = {item.id: item for item in build_items(dataset, "meaning", "gag")}
    traps = Counter(option.concept for item in items.values() for option in item.options if option.trap)
    in_training = min(concept for concept in traps if retrieval_split(concept) != "test")
    asked = min(item.concept for item in items.values())
    for concept, most_others in ((in_training, 2), (asked, 6)):
        smaller = {item.id: item for item in build_items(without(dataset, concept), "meaning", "gag")}
        changed = [name for name, item in smaller.items() if items[name] != item]
        not_its_trap = [name for name in changed if concept not in [option.concept for option in items[name].options]]
        assert len(changed) - len(not_its_trap) == traps[concept]
        assert len(not_its_trap) <= most_others


def test_without_judgements_close_concepts_are_no_traps(dataset):
    lexicon = replace(dataset.lexicon, equivalents={})
    relations = Relations(lexicon)
    assert not relations.are_judged
    for item in build_items(LexiconDataset(lexicon, "unjudged"), "meaning", "gag"):
        close = relations.closeness(item.concept)
        for option in item.options:
            assert close.get(option.concept, 0) <= TOO_CLOSE


def test_few_shot_examples_come_from_concepts_of_which_none_judged_the_same_is_tested(dataset):
    same = dataset.lexicon.judged("same")
    items = build_items(dataset, "usage", "tr", split="train")
    assert len(items) > 100
    for item in items:
        assert "test" not in {retrieval_split(concept) for concept in (item.concept, *same.get(item.concept, ()))}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("riddle", "tr"), "riddle"),
        (("meaning", "tr", "az"), "az"),
        (("equivalent", "tr", "tr"), "two different languages"),
    ],
)
def test_wrong_arguments_are_named(dataset, arguments, named):
    with pytest.raises(InputError, match=named):
        build_items(dataset, *arguments)


def test_a_small_lexicon_has_no_items_and_a_larger_one_some():
    for n_concepts, expected in ((3, []), (12, ["meaning_tr"])):
        dataset = LexiconDataset(small_lexicon(n_concepts), "small")
        assert [item_set.name for item_set in item_sets() if items_of_set(dataset, item_set)] == expected


N_CONCEPTS = 24
PAIRS = st.tuples(st.integers(0, N_CONCEPTS - 1), st.integers(0, N_CONCEPTS - 1)).filter(lambda pair: pair[0] < pair[1])
JUDGEMENTS = st.dictionaries(PAIRS, st.sampled_from(["same", "near"]), max_size=20)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JUDGEMENTS, st.permutations(range(N_CONCEPTS)))
def test_options_are_never_judged_alike_and_do_not_depend_on_the_order(judgements, order):
    lexicon = small_lexicon(N_CONCEPTS, judgements=judgements)
    items = build_items(LexiconDataset(lexicon, "small"), "meaning", "tr")
    for item in items:
        assert_options_differ(item, lexicon, n=4)
        assert len({option.concept for option in item.options}) == 4
    permuted = small_lexicon(N_CONCEPTS, judgements=judgements, order=order)
    assert build_items(LexiconDataset(permuted, "small"), "meaning", "tr") == items


@settings(max_examples=50, deadline=None)
@given(st.sets(st.text(min_size=1, max_size=8), min_size=2, max_size=60), st.integers(2, 4))
def test_balanced_numbers(keys, n_values):
    """Every number is as frequent as any other, up to one, in any order of keys; one key more moves few others."""
    ordered = sorted(keys)
    numbers = balanced(ordered, n_values, purpose="test")
    counts = Counter(dict.fromkeys(range(n_values), 0) | Counter(numbers.values()))
    assert max(counts.values()) - min(counts.values()) <= 1
    assert balanced(ordered[::-1], n_values, purpose="test") == numbers
    fewer = balanced(ordered[1:], n_values, purpose="test")
    assert sum(numbers[key] != number for key, number in fewer.items()) <= 2 * n_values
