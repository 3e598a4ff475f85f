"""Scores of answers to items: one scorer for Inspect, `turkic-idiom lm report` and the leaderboard."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.metrics.choice import choice_scores, open_scores, pair_scores
from turkic_idiom_tasks.orthography import clean, fold
from turkic_idiom_tasks.tasks.items.cloze import BLANK, blanked, blanked_form, can_be_blanked
from turkic_idiom_tasks.tasks.items.item_types import FIGURATIVE, MEANING, USAGE, Item

# Free answers to `recall` with the verdicts of two readers who did not see each other's: does the answer mean the same?
_ANSWERS = Path(__file__).with_name("judged_answers.jsonl")


@dataclass(frozen=True, slots=True)
class OpenJudgement:
    """How a free answer is judged; what is exact has the lemma, and that is accepted."""

    is_exact: bool  # it is the form that stood in the sentence, or in `recall` the idiom or a variant, in any case
    has_lemma: bool  # its words have the stems of that form, one by one
    is_accepted: bool  # it is a form of the idiom, of a variant, or of an idiom judged to mean the same
    is_unjudged: bool = False  # only in `recall`: not accepted, and nobody has read it; it may be right


def score_items(items: Sequence[Item], answers: Sequence[int | None]) -> dict[str, float]:
    """Return name -> score of the items of one set; see `metrics.choice`. `usage` has the scores of pairs besides.

    An answer is the position of the chosen option, or None if it could not be read; anything else is a ValueError.
    """
    traps = [[option.trap for option in item.options] for item in items]
    concepts = [item.concept for item in items]
    scores = choice_scores([item.gold for item in items], answers, concepts=concepts, traps=traps)
    if items and all(item.kind == USAGE for item in items):
        right = [answer == item.gold for item, answer in zip(items, answers, strict=True)]
        is_figurative = [item.options[item.gold].text == FIGURATIVE for item in items]
        scores |= pair_scores(right, concepts=concepts, is_figurative=is_figurative)
    return scores


def score_open(items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon) -> dict[str, float]:
    """Return name -> score of answers to an open task; see `metrics.choice`. Only `recall` has `unjudged`.

    Arguments and errors are those of `judge_open`.
    """
    judgements = judge_open(items, answers, lexicon)
    return open_scores(
        [judgement.is_exact for judgement in judgements],
        [judgement.is_accepted for judgement in judgements],
        [judgement.has_lemma for judgement in judgements],
        unreadable=[answer is None for answer in answers],
        concepts=[item.concept for item in items],
        unjudged=[judgement.is_unjudged for judgement in judgements if items[0].kind == MEANING],
    )


def judge_open(items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon) -> list[OpenJudgement]:
    """Return the judgement of each answer to the open task of the items' kind; None could not be read.

    Another number of answers than of items is a ValueError; a lexicon that the items were not made from, an InputError.
    """
    same = lexicon.judged(SAME)
    judgements = []
    for item, answer in zip(items, answers, strict=True):
        entries, language = lexicon.of(item.language), LANGUAGES[item.language]
        entry = entries.get(item.concept)
        if entry is None or item.text != _text_of(entry, item.kind):
            raise InputError(
                f"{lexicon.source or 'the lexicon'}: has no entry for {item.id!r} with the text {item.text!r}; score "
                "answers with the data that the items were made from"
            )
        text = clean(answer, language) if answer is not None else ""
        alike = [entry, *(entries[concept] for concept in sorted(same.get(item.concept, ())) if concept in entries)]
        forms = [entry.idiom, *entry.variants] if item.kind == MEANING else [blanked_form(entry)]
        is_exact = fold(text, language) in [fold(form, language) for form in forms]
        # The annotator does not know every form of every idiom, so what has the same stems is accepted without it
        has_lemma = is_exact or any(_has_stems(text, form, item.language) for form in forms)
        is_unjudged = False
        if has_lemma:
            is_accepted = True
        elif item.kind == MEANING:
            verdicts = _verdicts(text, item)
            others = [form for other in alike for form in (other.idiom, *other.variants)]
            is_accepted = verdicts == {SAME} or any(_has_stems(text, form, item.language) for form in others)
            is_unjudged = bool(text) and not verdicts and not is_accepted
        else:
            is_accepted = any(_is_placed(text, item, other) for other in alike)
        judgements.append(OpenJudgement(is_exact, has_lemma, is_accepted, is_unjudged))
    return judgements


def _text_of(entry: Entry, kind: str) -> str | None:
    """Return the text of the item of an entry; None if it has none of the kind."""
    if kind == MEANING:
        return entry.idiom
    return blanked(entry) if can_be_blanked(entry) else None


def _verdicts(answer: str, item: Item) -> set[str]:
    """Return the verdict on an answer to `recall`, or those on other forms of its words; none if nobody judged it."""
    verdicts = _judged_answers().get((item.language, item.concept), {})
    folded = fold(answer, LANGUAGES[item.language])
    if folded in verdicts:
        return {verdicts[folded]}
    return {verdict for judged, verdict in verdicts.items() if _has_stems(answer, judged, item.language)}


@cache
def _judged_answers() -> dict[tuple[str, str], dict[str, str]]:
    """Return language and concept -> answer -> verdict, from the answers file."""
    verdicts: dict[tuple[str, str], dict[str, str]] = {}
    for line in _ANSWERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer = fold(row["answer"], LANGUAGES[row["language"]])
        verdicts.setdefault((row["language"], row["concept"]), {})[answer] = row["verdict"]
    return verdicts


@cache
def answers_digest() -> str:
    """Return twelve digits of the SHA-256 of the answers file: scores of `recall` hold for this file."""
    return hashlib.sha256(_ANSWERS.read_bytes()).hexdigest()[:12]


def _has_stems(answer: str, form: str, language: str) -> bool:
    """Return whether each word of an answer shares a stem with the word at its place in a form."""
    texts: list[list[tuple[str, set[str]]]] = []  # of the answer and of the form: each word and its stems
    for text in (answer, form):
        stemmed = []
        for span in words(text):
            word = normalise(span.of(text), LANGUAGES[language])
            if word[:1].isalnum():
                stemmed.append((word, {stem for stem, cost in stems(word, language).items() if not cost}))
        texts.append(stemmed)
    ours, others = texts
    if len(ours) != len(others) or not ours:
        return False
    for (word, word_stems), (other, other_stems) in zip(ours, others, strict=True):
        if word != other and word_stems.isdisjoint(other_stems):
            return False
    return True


def _is_placed(answer: str, item: Item, entry: Entry) -> bool:
    """Return whether an idiom stands in the sentence where the answer was filled in, from its first word to its last.

    A span may not reach out of the answer, so an answer that repeats half of the sentence is not accepted.
    """
    if not answer:
        return False
    start = item.text.index(BLANK)
    end = start + len(answer)
    sentence = item.text.replace(BLANK, answer, 1)
    spans = annotate(entry.idiom, sentence, LANGUAGES[item.language], variants=entry.variants).spans
    if not spans or not all(start <= span.start and span.end <= end for span in spans):
        return False
    answer_words = words(answer)
    first, last = answer_words[0].start + start, max(span.end for span in answer_words) + start
    # A model ends its answer like a sentence, and the annotator's spans have no signs at their ends
    n_closing_signs = len(answer) - len(answer.rstrip(" .,;:!?…\"'»”)"))
    return spans[0].start == first and spans[-1].end >= last - n_closing_signs
