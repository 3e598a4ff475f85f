"""Scores of answers to items: one scorer for Inspect, `turkic-idiom lm report` and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.metrics.choice import choice_scores, cloze_scores, pair_scores
from turkic_idiom_tasks.orthography import clean, fold
from turkic_idiom_tasks.tasks.items.cloze import BLANK, blanked, blanked_form, can_be_blanked
from turkic_idiom_tasks.tasks.items.item_types import FIGURATIVE, USAGE, Item


@dataclass(frozen=True, slots=True)
class OpenClozeJudgement:
    """How an idiom that was filled into a blank is judged; what is exact has the lemma, and that is accepted."""

    is_exact: bool  # it is the form that stood in the sentence, whatever its letter case
    has_lemma: bool  # its words have the stems of that form, one by one
    is_accepted: bool  # the annotator places it, a variant or an idiom judged to mean the same where the blank is


def score_items(items: Sequence[Item], answers: Sequence[int | None]) -> dict[str, float]:
    """Return name -> score of the items of one set; see `metrics.choice`. `usage` has the scores of pairs besides.

    An answer is the position of the chosen option, or None if it could not be read; anything else is a ValueError.
    """
    traps = []
    for item in items:
        traps.append([option.trap for option in item.options])
    concepts = [item.concept for item in items]
    scores = choice_scores([item.gold for item in items], answers, concepts=concepts, traps=traps)
    if items and all(item.kind == USAGE for item in items):
        right = [answer == item.gold for item, answer in zip(items, answers, strict=True)]
        is_figurative = [item.options[item.gold].text == FIGURATIVE for item in items]
        scores |= pair_scores(right, concepts=concepts, is_figurative=is_figurative)
    return scores


def score_open_cloze(items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon) -> dict[str, float]:
    """Return name -> score of idioms that were filled into the blanks of `cloze` items; see `metrics.choice`.

    Arguments and errors are those of `judge_open_cloze`.
    """
    judgements = judge_open_cloze(items, answers, lexicon)
    return cloze_scores(
        [judgement.is_exact for judgement in judgements],
        [judgement.is_accepted for judgement in judgements],
        [judgement.has_lemma for judgement in judgements],
        unreadable=[answer is None for answer in answers],
        concepts=[item.concept for item in items],
    )


def judge_open_cloze(
    items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon
) -> list[OpenClozeJudgement]:
    """Return the judgement of each text that was filled into the blank of a `cloze` item; None could not be read.

    Another number of answers than of items is a ValueError; a lexicon that the items were not made from, an InputError.
    """
    same = lexicon.judged(SAME)
    judgements = []
    for item, answer in zip(items, answers, strict=True):
        entries, language = lexicon.of(item.language), LANGUAGES[item.language]
        entry = entries.get(item.concept)
        if entry is None or not can_be_blanked(entry) or blanked(entry) != item.text:
            raise InputError(
                f"{lexicon.source or 'the lexicon'}: has no example for {item.id!r} with the text {item.text!r}; score "
                "answers with the data that the items were made from"
            )
        text = clean(answer, language) if answer is not None else ""
        alike = [entry, *(entries[concept] for concept in sorted(same.get(item.concept, ())) if concept in entries)]
        is_exact = fold(text, language) == fold(blanked_form(entry), language)
        # The annotator does not know every form of every idiom, so what has the same stems is accepted without it
        has_lemma = is_exact or _has_stems(text, blanked_form(entry), item.language)
        is_accepted = has_lemma or any(_is_placed(text, item, other) for other in alike)
        judgements.append(OpenClozeJudgement(is_exact, has_lemma, is_accepted))
    return judgements


def _has_stems(answer: str, form: str, language: str) -> bool:
    """Return whether each word of an answer shares a stem with the word at its place in the form that was blanked."""
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
