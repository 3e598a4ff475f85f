"""Verification of a lexicon by a second model: three criteria, a decision, a confidence, and the rules after it.

As in the paper (appendix A) an entry stays if the model accepts it without contradiction. Rules then remove incomplete
entries, malformed ones, and the later one of two with the same idiom.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from hub_datasets.enrich import joined_status
from hub_datasets.planting import EXAMPLE_KINDS, MEANING_KINDS, plant
from hub_datasets.prompts import PAPER, Prompt
from hub_datasets.quality import idiom_in_example, lengths
from hub_datasets.questions import AnswerFields, Question, Reply
from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import fold
from turkic_idiom_tasks.splits import SENSE_SEPARATOR

ACCEPT, REJECT = "accept", "reject"
CRITERIA = ("semantic-fidelity", "definition-example-consistency", "idiomatic-usage")
CONTRADICTION, UNSURE, UNREADABLE = "the verdict contradicts itself", "low confidence", "the answer is not readable"


def _plain_word(value: Any) -> str:
    return str(value).strip().rstrip(".").lower()


def _confidence(value: Any) -> float:
    number = float(str(value).strip().removesuffix("%"))
    return number / 100 if 1 < number <= 100 else number  # models also write percentages


# The schema that servers get asks for a text and not for these words, because "Yes." and "TRUE" are read as well.
_Answer = Annotated[bool, BeforeValidator(_plain_word, json_schema_input_type=str)]
_Decision = Annotated[
    Literal["accept", "reject", "accepted", "rejected"], BeforeValidator(_plain_word, json_schema_input_type=str)
]
_Confidence = Annotated[float, Field(ge=0, le=1), BeforeValidator(_confidence, json_schema_input_type=float)]


class PaperVerification(AnswerFields):
    """Answer to the paper's prompt."""

    fidelity: Annotated[_Answer, Field(alias="semantic-fidelity")]
    consistency: Annotated[_Answer, Field(alias="definition-example-consistency")]
    usage: Annotated[_Answer, Field(alias="idiomatic-usage")]
    decision: Annotated[_Decision, Field(alias="final-decision")]


class Verification(PaperVerification):
    """Answer to our prompt, with a reason and the confidence in [0, 1]."""

    reason: str
    confidence: _Confidence


Checked = tuple[str, Entry, str]  # language code, entry, and kind of the error planted in it; empty if there is none


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an entry."""

    language: str
    entry: Entry
    planted: str  # kind of the error in it; empty if there is none
    reason: str  # why it is rejected; empty if it is accepted
    failed: tuple[str, ...]  # the criteria that the model answered with no
    confidence: float | None  # in [0, 1]; None if the prompt does not ask for it, or the answer could not be read
    reply: Reply

    def to_json(self, *, model: str, prompt: str) -> str:
        """Return the verdict as one line of a file."""
        entry = self.entry
        row: dict[str, Any] = {"language": self.language, "concept": entry.concept, "idiom": entry.idiom}
        row |= {"meaning": entry.meaning, "example": entry.example, "planted": self.planted or None}
        row |= {"decision": REJECT if self.reason else ACCEPT, "reason": self.reason or None}
        row |= {"failed": self.failed, "confidence": self.confidence, "answer": self.reply.text}
        return json.dumps(row | {"model": model, "prompt": prompt, "date": self.reply.date}, ensure_ascii=False)


def verifier_tasks(
    lexicon: Lexicon, languages: Sequence[str], *, prompt: Prompt, planted_share: float | None = None
) -> list[tuple[Question, Checked]]:
    """Return what to ask: about the complete entries of these languages, then copies of a share with planted errors."""
    checked: list[Checked] = []
    planted: list[Checked] = []
    for code in languages:
        rows = sorted(lexicon.of(code).items())
        complete = [concept for concept, entry in rows if None not in (entry.meaning, entry.example)]
        checked += [(code, lexicon.of(code)[concept], "") for concept in complete]
        if planted_share is not None:
            wrong = plant(lexicon, code, complete, share=planted_share, kinds=(*MEANING_KINDS, *EXAMPLE_KINDS))
            planted += [(code, entry, kind) for kind, entry in wrong]
    # The planted ones come last, so that a run that is cut off by its budget has asked about the entries themselves.
    tasks = []
    for row in checked + planted:
        code, entry, _ = row
        texts = {"idiom": entry.idiom, "meaning": entry.meaning or "", "example": entry.example or ""}
        messages = prompt.messages(texts, plain={"language": LANGUAGES[code].name})
        question = Question(prompt.label, messages, PaperVerification if prompt.version == PAPER else Verification)
        tasks.append((question, row))
    return tasks


def verdict_of(checked: Checked, reply: Reply, *, min_confidence: float) -> Verdict:
    """Return what a reply means: only an answer that accepts without contradiction, and is sure enough, accepts."""
    answer = reply.value
    if not isinstance(answer, PaperVerification):
        return Verdict(*checked, f"{UNREADABLE} ({reply.problem})", (), None, reply)
    is_met = zip(CRITERIA, (answer.fidelity, answer.consistency, answer.usage), strict=True)
    failed = tuple(name for name, met in is_met if not met)
    is_accepted = answer.decision.startswith(ACCEPT)
    confidence = answer.confidence if isinstance(answer, Verification) else None
    reason = ""
    # A verdict that contradicts itself counts as a rejection, as in the paper: nobody can tell which half is meant.
    if is_accepted and failed:
        reason = f"{CONTRADICTION} ({ACCEPT}, but no to {', '.join(failed)})"
    elif failed:
        reason = f"rejected ({', '.join(failed)})"
    elif not is_accepted:
        reason = f"{CONTRADICTION} ({REJECT}, but every criterion is met)"
    elif confidence is not None and confidence < min_confidence:
        reason = f"{UNSURE} ({confidence:g})"
    return Verdict(*checked, reason, failed, confidence, reply)


def apply_verdicts(lexicon: Lexicon, verdicts: Sequence[Verdict], *, note: str) -> tuple[Lexicon, list[dict[str, Any]]]:
    """Return the lexicon with the accepted entries that also pass the rules, and a row for each that does not stay.

    Languages without a verdict stay as they are. `note`, in the status, is model, prompt and date.
    """
    reasons_by_language: dict[str, dict[str, str]] = {}  # code -> concept -> reason, empty for an accepted entry
    for verdict in verdicts:
        if not verdict.planted:
            reasons_by_language.setdefault(verdict.language, {})[verdict.entry.concept] = verdict.reason
    entries = {code: dict(rows) for code, rows in lexicon.entries.items()}
    rejected: list[dict[str, Any]] = []
    for code, reasons in reasons_by_language.items():
        language = LANGUAGES[code]
        rows = sorted(lexicon.of(code).items())
        accepted = [entry for concept, entry in rows if reasons.get(concept) == ""]
        malformed: dict[str, str] = {}
        for rule in (lengths, idiom_in_example):
            for concept, message in rule(accepted, language):
                malformed.setdefault(concept, message)
        first: dict[str, str] = {}  # idiom -> concept of the first entry that has it
        for entry in accepted:
            example = entry.example or ""
            if entry.spans is None and not annotate(entry.idiom, example, language, variants=entry.variants).spans:
                malformed.setdefault(entry.concept, "the idiom is not found in the example")
            if entry.concept in malformed:
                reasons[entry.concept] = f"malformed: {malformed[entry.concept]}"
                continue
            # Senses of one concept may share their idiom, entries of different concepts may not.
            earlier = first.setdefault(fold(entry.idiom, language), entry.concept)
            if earlier.split(SENSE_SEPARATOR)[0] != entry.concept.split(SENSE_SEPARATOR)[0]:
                reasons[entry.concept] = f"duplicate: the same idiom as {earlier}"
        entries[code] = {}
        for concept, entry in rows:
            reason = reasons.get(concept, "incomplete: no meaning or no example")
            if reason:
                rejected.append({"language": code, "reason": reason, "entry": json.loads(entry.to_json())})
            else:
                entries[code][concept] = replace(entry, status=joined_status(entry.status, f"verified by {note}"))
    used = {concept for rows in entries.values() for concept in rows}
    concepts = {name: concept for name, concept in lexicon.concepts.items() if name in used}
    equivalents = {pair: judgement for pair, judgement in lexicon.equivalents.items() if used.issuperset(pair)}
    return replace(lexicon, concepts=concepts, entries=entries, equivalents=equivalents, revision=""), rejected
