"""Items of the kind `situation`: what happens or is said, without any idiom, and the idiom that a speaker would use.

The situations and their traps, the concepts closest in meaning, are in ``situations.jsonl``. They were written for this
task, because no sentence of the lexicon does without its idiom.
"""

from turkic_idiom_tasks.lexicon.entries import SAME
from turkic_idiom_tasks.tasks.items.choice_kinds import asked_entries, idioms_of
from turkic_idiom_tasks.tasks.items.item_types import KINDS, SITUATION, Item, ItemSet, Kind
from turkic_idiom_tasks.tasks.items.likeness import SharedWords
from turkic_idiom_tasks.tasks.items.placing import make_items
from turkic_idiom_tasks.tasks.items.traps import Candidate, Question, Relations
from turkic_idiom_tasks.tasks.items.written import WrittenTraps, written


def situation_items(relations: Relations, language: str, target: str, *, split: str) -> list[Item]:
    """Return items that ask which of four idioms fits a situation."""
    lexicon = relations.lexicon
    idioms = idioms_of(lexicon, language)
    idiom_words = SharedWords(idioms, language=language)
    same = lexicon.judged(SAME)
    questions = []
    for entry in asked_entries(lexicon, language, split=split):
        row = written("situations.jsonl").get((language, entry.concept))
        if row is None or row["idiom"] != entry.idiom or not idioms.keys() >= set(row["traps"]):
            continue  # written for an idiom or beside traps that this lexicon lacks
        question = Question(
            idiom=entry.idiom,
            text=row["text"],
            gold=Candidate(entry.concept, entry.idiom),
            source=WrittenTraps([Candidate(concept, idioms[concept]) for concept in row["traps"]], relations),
            excluded=same.get(entry.concept, set()),  # readers tell apart what is near
            likeness=idiom_words.with_words_of(entry.idiom),
        )
        questions.append(question)
    return make_items(questions, ItemSet(SITUATION, language, target))


KINDS[SITUATION] = Kind(situation_items)
