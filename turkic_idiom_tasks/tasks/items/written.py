"""Items of the kinds `cloze` and `situation`, whose texts or options code cannot derive from the lexicon.

A `cloze` item is a sentence whose idiom is blanked out. The options stand in ``cloze_options.jsonl``, each in the form
that its gap needs. A sentence without options there is not asked about. A `situation` item is what happens or is said,
without any idiom, and the idiom that a speaker would use. ``situations.jsonl`` has the situations and their traps, the
concepts closest in meaning.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.lexicon.entries import SAME, Entry
from turkic_idiom_tasks.tasks.items.choice_kinds import asked_entries, idioms_of
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, LEXICAL, NEAR, RANDOM, SITUATION, Item, ItemSet, Option
from turkic_idiom_tasks.tasks.items.likeness import SharedWords
from turkic_idiom_tasks.tasks.items.placing import make_items
from turkic_idiom_tasks.tasks.items.traps import Question, Relations, own_concepts

BLANK = "_____"
_FILES = {CLOZE: "cloze_options.jsonl", SITUATION: "situations.jsonl"}


def written_items(relations: Relations, language: str, target: str, *, split: str, kind: str) -> list[Item]:
    """Return items that ask which of four idioms stood in a sentence, or fits a situation."""
    lexicon = relations.lexicon
    idioms = idioms_of(lexicon, language)
    idiom_words = SharedWords(idioms, language=language)
    # Readers tell apart what is near in a situation, but not in a gap
    barred = own_concepts(relations, language=language) if kind == CLOZE else lexicon.judged(SAME)
    questions = []
    for entry in asked_entries(lexicon, language, split=split):
        row = _rows(kind).get((language, entry.concept))
        # What was written for another edition of an entry, or beside traps that this lexicon lacks, may not fit
        if row is None:
            continue
        if kind == CLOZE:
            # With a literal example, a `usage` item shows the sentence with its idiom
            is_usable = entry.literal_example is None and row["text"] == blanked(entry)
            key, traps = row["key"], row["traps"]
        else:
            is_usable = row["idiom"] == entry.idiom and idioms.keys() >= set(row["traps"])
            key, traps = entry.idiom, {concept: idioms.get(concept, "") for concept in row["traps"]}
        if is_usable:
            question = Question(
                idiom=entry.idiom,
                text=row["text"],
                gold=Option(key, entry.concept),
                traps=partial(_written_traps, written=traps, relations=relations),
                excluded=barred.get(entry.concept, set()),
                likeness=idiom_words.with_words_of(entry.idiom),
            )
            questions.append(question)
    return make_items(questions, ItemSet(kind, language, target))


def blanked(entry: Entry) -> str | None:
    """Return the example of an entry with `BLANK` in place of its idiom; None if other words interrupt the idiom."""
    # The number of parts would tell which option is right
    if entry.example is None or entry.spans is None or len(entry.spans) > 1:
        return None
    (span,) = entry.spans
    return entry.example[: span.start] + BLANK + entry.example[span.end :]


@cache
def _rows(kind: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return language and concept -> what was written for an item."""
    lines = read_json_lines(Path(__file__).with_name(_FILES[kind]))
    return {(row["language"], row["concept"]): row for _, row, _ in lines}


def _written_traps(
    question: Question, *, written: Mapping[str, str], relations: Relations, **_choices: Any
) -> tuple[Option, ...] | None:
    """Return the traps that were written for an item (concept -> text), with their types."""
    closeness = relations.closeness(question.gold.concept)
    options = []
    for concept, text in written.items():
        if concept in question.excluded:  # judged to be like the right option after it was written
            return None
        trap = LEXICAL if concept in question.likeness else NEAR if concept in closeness else RANDOM
        options.append(Option(text, concept, trap))
    return tuple(options)
