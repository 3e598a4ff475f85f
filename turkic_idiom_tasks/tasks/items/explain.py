"""Explaining an idiom in free text, alone and in its sentence: the questions of the task `explain`.

The answers are not scored where they are generated. `turkic-idiom judge` rates them beside the meaning of the lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.splits import TEST, retrieval_split

EXPLAIN = "explain"
MODES = ALONE, IN_SENTENCE = ("alone", "sentence")

_ALONE = (
    'Explain in {language} what the {language} idiom "{idiom}" means figuratively. Answer in one sentence in '
    "{language}, as a dictionary would, without using the idiom itself."
)
_IN_SENTENCE = (
    'Explain in {language} what the idiom "{idiom}" means in the following {language} sentence. Answer in one sentence '
    "in {language}, as a dictionary would, without using the idiom itself.\nSentence: {sentence}"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One question of the task.

    Attributes:
        id: ``explain_tr/<concept>/alone``.
        concept: the unit that is resampled.
        language: code.
        mode: one of `MODES`.
        idiom: citation form.
        sentence: the sentence that shows the idiom; empty if it stands alone.
        reference: its meaning in the lexicon, which the model does not see.
    """

    id: str
    concept: str
    language: str
    mode: str
    idiom: str
    sentence: str
    reference: str

    @property
    def prompt(self) -> str:
        """Return the question in English; the answer is to be in the language of the idiom."""
        wording = _IN_SENTENCE if self.mode == IN_SENTENCE else _ALONE
        return wording.format(language=LANGUAGES[self.language].name, idiom=self.idiom, sentence=self.sentence)

    def document(self) -> dict[str, Any]:
        """Return the question as a row for a harness."""
        return {
            "id": self.id,
            "concept": self.concept,
            "language": self.language,
            "mode": self.mode,
            "idiom": self.idiom,
            "sentence": self.sentence,
            "reference": self.reference,
            "prompt": self.prompt,
        }


def explanations(lexicon: Lexicon, language: str) -> list[Explanation]:
    """Return the questions about the test concepts of a language, in the order of the concepts.

    Ordinary collocations, and entries without a meaning, are left out. An entry without an example is asked alone only.
    """
    rows = []
    for concept, entry in sorted(lexicon.of(language).items()):
        if entry.meaning is None or entry.collocation or retrieval_split(concept) != TEST:
            continue
        sentences = {ALONE: ""} if entry.example is None else {ALONE: "", IN_SENTENCE: entry.example}
        for mode, sentence in sentences.items():
            identifier = f"{EXPLAIN}_{language}/{concept}/{mode}"
            rows.append(Explanation(identifier, concept, language, mode, entry.idiom, sentence, entry.meaning))
    return rows
