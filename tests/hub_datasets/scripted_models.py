"""Behaviours of a model for the server of the tests: they know the bundled lexicon."""

import json

from tests.llm_server import asked, texts_in
from turkic_idiom_tasks.languages import LANGUAGES

LANGUAGE_NAMES = {language.name: code for code, language in LANGUAGES.items()}


class Knowledge:
    """What a perfect model would know: a lexicon by language and idiom."""

    def __init__(self, lexicon):
        self.entries = {}
        for code, rows in lexicon.entries.items():
            for entry in rows.values():
                self.entries.setdefault((code, entry.idiom), []).append(entry)

    def writer(self, body):
        """Write the entry as the lexicon has it; empty texts for an idiom that it does not have."""
        code = LANGUAGE_NAMES[asked(body).splitlines()[0].removeprefix("Idiom in ").partition(":")[0]]
        for entry in self.entries.get((code, texts_in(body)[0]), ()):
            return as_json(citation_form=entry.idiom, meaning=entry.meaning, example=entry.example)
        return as_json(citation_form="", meaning="", example="")

    def verifier(self, body):
        """Accept the entries of the lexicon and reject all others, with the right criterion."""
        idiom, meaning, example = texts_in(body)
        entries = self.entries.get((LANGUAGE_NAMES[asked(body).splitlines()[0].removeprefix("Language: ")], idiom), ())
        is_consistent = any(entry.example == example for entry in entries)
        return verification(any(entry.meaning == meaning for entry in entries), is_consistent, is_consistent)


def as_json(**fields):
    return json.dumps(fields, ensure_ascii=False)


def verification(*criteria, decision=None, confidence=0.9):
    """The JSON of a verification."""
    row = {"reason": "scripted", "confidence": confidence}
    row["final-decision"] = decision or ("Accept" if all(criteria) else "Reject")
    names = ("semantic-fidelity", "definition-example-consistency", "idiomatic-usage")
    return json.dumps(row | {name: "Yes" if passed else "No" for name, passed in zip(names, criteria, strict=True)})


def judgement(quality):
    """The JSON of a judgement."""
    return as_json(analysis="scripted", quality=quality)
