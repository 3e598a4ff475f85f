"""Builders of the items of the kinds `meaning`, `equivalent` and `usage`.

A `meaning` item asks for the meaning of an idiom, an `equivalent` item for the idiom of another language with the same
meaning, and a `usage` item whether an idiom's words are meant figuratively in a sentence.
"""

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import have_same_stems, share_stem
from turkic_idiom_tasks.splits import TEST, is_test_concept, retrieval_split
from turkic_idiom_tasks.tasks.items import item_types as types
from turkic_idiom_tasks.tasks.items.item_types import Item, ItemSet, Option
from turkic_idiom_tasks.tasks.items.likeness import SharedWords, SimilarSpelling
from turkic_idiom_tasks.tasks.items.placing import make_items
from turkic_idiom_tasks.tasks.items.rivals import Rivals
from turkic_idiom_tasks.tasks.items.traps import Pools, Question, Relations, own_concepts


def asked_entries(lexicon: Lexicon, language: str, *, split: str) -> list[Entry]:
    """Return the entries that items are about: idioms, not collocations, of the concepts in a split, by concept."""
    # An example with the meaning of a test concept would give away the answer to a test item
    left_out = set() if split == TEST else lexicon.meaning_the_same(is_test_concept)
    entries = []
    for concept, entry in sorted(lexicon.of(language).items()):
        if retrieval_split(concept) == split and not entry.collocation and concept not in left_out:
            entries.append(entry)
    return entries


def meaning_items(
    relations: Relations, language: str, target: str, *, split: str, kind: str = types.MEANING
) -> list[Item]:
    """Return items that ask for the meaning of an idiom, with options in its language."""
    meanings = {}
    for concept, entry in relations.lexicon.of(language).items():
        if entry.meaning is not None and not entry.collocation:
            meanings[concept] = entry.meaning
    source = Rivals if kind == types.MEANING_RIVALS else Pools
    pools = source(meanings, relations, language=language)
    own = own_concepts(relations, language=language)
    idiom_words = SharedWords(idioms_of(relations.lexicon, language), language=language)
    meaning_words = SimilarSpelling(meanings, language=language)  # much faster than stems
    questions = []
    for entry in asked_entries(relations.lexicon, language, split=split):
        if entry.meaning is not None:
            question = Question(
                idiom=entry.idiom,
                text=entry.idiom,
                gold=Option(entry.meaning, entry.concept),
                traps=pools.traps,
                # No trap uses words of the idiom, because the meanings of a lexicon do not use those of their own idiom
                excluded=own[entry.concept] | meaning_words.to_words_of(entry.idiom, language).keys(),
                likeness=idiom_words.with_words_of(entry.idiom),
            )
            questions.append(question)
    return make_items(questions, ItemSet(kind, language, target))


def equivalent_items(
    relations: Relations, language: str, target: str, *, split: str, kind: str = types.EQUIVALENT
) -> list[Item]:
    """Return items that ask which idiom of another language means the same as an idiom."""
    idioms = idioms_of(relations.lexicon, target)
    source = Rivals if kind == types.EQUIVALENT_RIVALS else Pools
    pools = source(idioms, relations, language=target)
    own = own_concepts(relations, language=language)
    own_of_target = own_concepts(relations, language=target)
    spelling = SimilarSpelling(idioms, language=target)
    twins: list[Question] = []
    others: list[Question] = []
    for entry in asked_entries(relations.lexicon, language, split=split):
        if entry.concept in idioms:
            right = relations.lexicon.of(target)[entry.concept]
            question = Question(
                idiom=entry.idiom,
                text=entry.idiom,
                gold=Option(right.idiom, right.concept),
                traps=pools.traps,
                excluded=own[entry.concept] | own_of_target[right.concept],
                likeness=spelling.to_words_of(entry.idiom, language),
                shares_stem=share_stem(entry.idiom, LANGUAGES[language], right.idiom, LANGUAGES[target]),
            )
            is_twin = have_same_stems(entry.idiom, LANGUAGES[language], right.idiom, LANGUAGES[target])
            (twins if is_twin else others).append(question)
    # Idioms that are the same word for word can be answered by spelling, so of ten items one at most is about such, and
    # no item with rivals
    twins.sort(key=lambda question: types.stable_hash("twin", language, target, question.gold.concept))
    most_twins = 0 if kind == types.EQUIVALENT_RIVALS else len(others) // 9
    return make_items([*others, *twins[:most_twins]], ItemSet(kind, language, target))


def usage_items(relations: Relations, language: str, target: str, *, split: str) -> list[Item]:
    """Return two items for each idiom with a literal sentence: its figurative and its literal sentence."""
    name = ItemSet(types.USAGE, language, target).name
    sentences: dict[str, tuple[str, str, str]] = {}  # concept -> idiom, figurative and literal sentence
    for entry in asked_entries(relations.lexicon, language, split=split):
        if entry.example is not None and entry.literal_example is not None:
            sentences[entry.concept] = (entry.idiom, entry.example, entry.literal_example)
    # Both items of a pair have the two senses in the same order, so each position is right once in every pair
    orders = types.balanced(list(sentences), 2, purpose=f"order of {name}")
    items = []
    for concept, (idiom, figurative, literal) in sentences.items():
        senses = (types.LITERAL, types.FIGURATIVE) if orders[concept] else (types.FIGURATIVE, types.LITERAL)
        for sense, sentence in ((types.FIGURATIVE, figurative), (types.LITERAL, literal)):
            item = Item(
                id=f"{name}/{concept}/{sense}",
                kind=types.USAGE,
                language=language,
                target=target,
                concept=concept,
                idiom=idiom,
                text=sentence,
                options=tuple(Option(text) for text in senses),
                gold=senses.index(sense),
            )
            items.append(item)
    return items


def idioms_of(lexicon: Lexicon, language: str) -> dict[str, str]:
    """Return concept -> idiom of a language that can be an option; collocations are left out."""
    return {concept: entry.idiom for concept, entry in lexicon.of(language).items() if not entry.collocation}
