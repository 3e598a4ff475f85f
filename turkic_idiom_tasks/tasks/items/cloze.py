"""Items of the kind `cloze`: a sentence whose idiom is blanked out.

The options stand in ``cloze_options.jsonl``: those of test items were written for their gap, each in the form that the
sentence needs. A sentence without options there is not asked about, nor is one of which a `usage` item names the idiom.
"""

from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.tasks.items.choice_kinds import asked_entries, idioms_of
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, KINDS, Item, ItemSet, Kind
from turkic_idiom_tasks.tasks.items.likeness import SharedWords
from turkic_idiom_tasks.tasks.items.placing import make_items
from turkic_idiom_tasks.tasks.items.traps import Candidate, Question, Relations, own_concepts
from turkic_idiom_tasks.tasks.items.written import WrittenTraps, written

BLANK = "_____"


def cloze_items(relations: Relations, language: str, target: str, *, split: str) -> list[Item]:
    """Return items that ask which of four idioms stood in a sentence."""
    own = own_concepts(relations, language=language)
    idiom_words = SharedWords(idioms_of(relations.lexicon, language), language=language)
    questions = []
    for entry in asked_entries(relations.lexicon, language, split=split):
        row = written("cloze_options.jsonl").get((language, entry.concept))
        # `usage` names the idiom of the same sentence; and options written for another edition of it may not fit
        if row is None or entry.literal_example is not None or row["text"] != blanked(entry):
            continue
        question = Question(
            idiom=entry.idiom,
            text=row["text"],
            gold=Candidate(entry.concept, row["key"]),
            source=WrittenTraps([Candidate(concept, form) for concept, form in row["traps"].items()], relations),
            excluded=own[entry.concept],
            likeness=idiom_words.with_words_of(entry.idiom),
        )
        questions.append(question)
    return make_items(questions, ItemSet(CLOZE, language, target))


def blanked(entry: Entry) -> str | None:
    """Return the example of an entry with `BLANK` in place of its idiom; None if other words interrupt the idiom.

    The number of parts would tell which option is right.
    """
    if entry.example is None or entry.spans is None or len(entry.spans) > 1:
        return None
    (span,) = entry.spans
    return entry.example[: span.start] + BLANK + entry.example[span.end :]


KINDS[CLOZE] = Kind(cloze_items)
