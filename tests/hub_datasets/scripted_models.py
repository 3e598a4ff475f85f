"""Behaviours of a model for the server of the tests: they know the bundled lexicon, and may break their JSON."""

import json

from tests.llm_server import asked, share_of, texts_in
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.load import load_lexicon

LANGUAGE_NAMES = {language.name: code for code, language in LANGUAGES.items()}


class Knowledge:
    """What a perfect model would know: the bundled lexicon by language and idiom."""

    def __init__(self, lexicon=None):
        lexicon = lexicon or load_lexicon()
        self.entries = {}
        self.by_meaning = {}
        for code, rows in lexicon.entries.items():
            for entry in rows.values():
                self.entries.setdefault((code, entry.idiom), []).append(entry)
                self.by_meaning.setdefault((code, entry.meaning), []).append(entry)

    def writer(self, body):
        """Write the entry as the bundled lexicon has it; empty texts for an idiom that it does not have."""
        (idiom,) = texts_in(body)
        code = LANGUAGE_NAMES[asked(body).splitlines()[0].removeprefix("Idiom in ").partition(":")[0]]
        for entry in self.entries.get((code, idiom), ()):
            row = {"citation_form": entry.idiom, "meaning": entry.meaning, "example": entry.example}
            return json.dumps(row, ensure_ascii=False)
        return json.dumps({"citation_form": "", "meaning": "", "example": ""})

    def verifier(self, body):
        """Accept the entries of the bundled lexicon and reject all others, with the right criterion."""
        idiom, meaning, example = texts_in(body)
        code = LANGUAGE_NAMES[asked(body).splitlines()[0].removeprefix("Language: ")]
        entries = self.entries.get((code, idiom), ())
        is_faithful = any(entry.meaning == meaning for entry in entries)
        is_consistent = any(entry.example == example for entry in entries)
        return verification(is_faithful, is_consistent, is_consistent)

    def judge(self, body):
        """Rate the pairs of the bundled lexicon HIGH, and all others LOW."""
        idiom, meaning = texts_in(body)
        for (_, known), entries in self.entries.items():
            if known == idiom:
                for entry in entries:
                    concept = entry.concept
                    for others in self.by_meaning.items():
                        if others[0][1] == meaning and any(other.concept == concept for other in others[1]):
                            return judgement("HIGH")
        return judgement("LOW")


def verification(*criteria, decision=None, confidence=0.9):
    """The JSON of a verification."""
    answers = ["Yes" if criterion else "No" for criterion in criteria]
    row = dict(
        zip(("semantic-fidelity", "definition-example-consistency", "idiomatic-usage"), answers, strict=True),
        reason="scripted",
    )
    row["final-decision"] = decision or ("Accept" if all(criteria) else "Reject")
    return json.dumps(row | {"confidence": confidence})


def judgement(quality):
    """The JSON of a judgement."""
    return json.dumps({"analysis": "scripted", "quality": quality})


def breaking(behave, *, share=0.2):
    """Break the JSON of a share of the first answers; what is asked again is answered properly."""

    def broken(body):
        text = behave(body)
        is_first = len(body["messages"]) == 2
        return f"Certainly! {text[:-1]}" if is_first and share_of(body, "break") < share else text

    return broken
