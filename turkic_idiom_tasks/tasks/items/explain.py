"""Explaining an idiom in free text, alone and in its sentence: the questions of the task `explain`.

The answers are not scored where they are generated. `turkic-idiom judge` rates them beside the meaning of the lexicon.
"""

from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.splits import TEST, retrieval_split

EXPLAIN = "explain"
ALONE, IN_SENTENCE = "alone", "sentence"
_PROMPTS = {  # in English; the answer is to be in the language of the idiom
    ALONE: 'Explain in {language} what the {language} idiom "{idiom}" means figuratively. Answer in one sentence in '
    "{language}, as a dictionary would, without using the idiom itself.",
    IN_SENTENCE: 'Explain in {language} what the idiom "{idiom}" means in the following {language} sentence. Answer in '
    "one sentence in {language}, as a dictionary would, without using the idiom itself.\nSentence: {sentence}",
}


def explanations(lexicon: Lexicon, language: str) -> list[dict[str, str]]:
    """Return the questions about the test concepts of a language, in the order of the concepts, as rows for a harness.

    Collocations, and entries without a meaning, are left out. The model sees the `prompt` alone, not the `reference`,
    the meaning in the lexicon.
    """
    name = LANGUAGES[language].name
    rows = []
    for concept, entry in sorted(lexicon.of(language).items()):
        if entry.meaning is None or entry.collocation or retrieval_split(concept) != TEST:
            continue
        for mode, sentence in ((ALONE, ""), (IN_SENTENCE, entry.example)):
            if sentence is None:
                continue
            row = {"id": f"{EXPLAIN}_{language}/{concept}/{mode}", "concept": concept, "language": language}
            row |= {"mode": mode, "idiom": entry.idiom, "sentence": sentence, "reference": entry.meaning}
            row["prompt"] = _PROMPTS[mode].format(language=name, idiom=entry.idiom, sentence=sentence)
            rows.append(row)
    return rows
