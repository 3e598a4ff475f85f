"""Native speakers on uses of idioms in found text, by the page on which they review entries.

Each use stands on the page as an entry: its sentence is the example, and its sense stands in the place of the concept.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hub_datasets.found.annotations import IDIOMATIC, read_annotations
from hub_datasets.review import words_of
from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, Lexicon
from turkic_idiom_tasks.lexicon.reviews import Review, newest_reviews

FIGURATIVE_USE, LITERAL_USE = "used as an idiom", "used literally"
TEXTS = {  # of the page of entries -> of the page of uses
    "Form, meaning, concept and example are right.": "Form, meaning, sense and marked words are right.",
    "Wrong concept": "Wrong sense",
    "The meaning is right, but the English concept is another one.": "The words are used in the other sense.",
    "Bad example": "Wrong words",
    "The sentence is unnatural, or uses the words literally.": "The marked words are not those of the idiom.",
    "<dt>Concept</dt>": "<dt>Sense</dt>",
}


def uses_to_review(dataset: Dataset, language: str, lexicon: Lexicon) -> Lexicon:
    """Return the uses in a dataset of found text as entries, with the meanings of a lexicon."""
    words = words_of(language) or {}
    concepts, entries = {}, {}
    for use in dataset.uses(language) or ():
        sense = FIGURATIVE_USE if use.sense == IDIOMATIC else LITERAL_USE
        entry = lexicon.of(language).get(use.concept)
        concepts[use.id] = Concept(use.id, words.get(sense, sense))
        meaning = None if entry is None else entry.meaning
        entries[use.id] = Entry(use.id, use.idiom, meaning, use.sentence, use.spans)
    return Lexicon(concepts, {language: entries}, revision=dataset.revision, source=dataset.path)


def annotated_uses(folder: Path, lexicon: Lexicon) -> Lexicon:
    """Return the uses in a folder of annotations as entries without their sentences, to check reviews against."""
    entries: dict[str, dict[str, Entry]] = {code: {} for code in LANGUAGES}
    for code, of_language in entries.items():
        for row in read_annotations(folder, code):
            entry = lexicon.of(code).get(row.concept or "")
            if entry is not None:
                of_language[row.name] = Entry(row.name, entry.idiom)
    return Lexicon({}, entries, revision="", source=str(folder))


def add_verdicts(folder: Path, reviews: Iterable[Review]) -> Counter[str]:
    """Write the status of reviewed annotations and return status -> annotations; who finds any fault rejects."""
    faults: dict[tuple[str, str], bool] = {}
    for review in newest_reviews(reviews):
        if review.knows_idiom:
            key = review.language, review.concept
            faults[key] = faults.get(key, False) or "wrong" in review.verdicts.values()
    counts: Counter[str] = Counter()
    for code in {language for language, _ in faults}:
        rows = [row for _, row, _ in read_json_lines(folder / f"{code}.jsonl")]
        for row, annotation in zip(rows, read_annotations(folder, code), strict=True):
            is_faulty = faults.get((code, annotation.name))
            if is_faulty is not None:
                row["status"] = "rejected" if is_faulty else "confirmed"
                counts[row["status"]] += 1
        write_text(folder / f"{code}.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    return counts
