"""Scores of answers to items: one scorer for Inspect, `turkic-idiom lm report` and the leaderboard.

The same judgements say how hard the items of open tasks are: how many readers of a panel produced an accepted idiom.
"""

import hashlib
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.annotation.stems import normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import read_json_lines
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import SAME, Entry, Lexicon
from turkic_idiom_tasks.metrics.choice import choice_scores, open_scores, pair_scores
from turkic_idiom_tasks.orthography import clean, fold, have_same_stems
from turkic_idiom_tasks.tasks.items.item_types import CLOZE, FIGURATIVE, USAGE, Item, is_found
from turkic_idiom_tasks.tasks.items.open_tasks import ANSWER_SEPARATOR, OPEN_TASKS
from turkic_idiom_tasks.tasks.items.written import BLANK

# Free answers with the verdicts of two readers who did not see each other's: does the answer mean the same, or, where a
# sentence is named, fit its blank?
_ANSWERS = Path(__file__).with_name("judged_answers.jsonl")
_RIGHT = (SAME, "fits")  # verdicts
# What readers answered, the best answer first: language models that saw neither lexicon nor key
_PANEL = Path(__file__).with_name("panel.jsonl")
HARD = 0.5  # share of the panel that produced the idiom of a hard item, at most


def score_items(items: Sequence[Item], answers: Sequence[int | None]) -> dict[str, float]:
    """Return name -> score of the items of one set; see `metrics.choice`.

    `usage` has the scores of pairs besides, those across languages the accuracies by how the idioms are alike.
    An answer is the position of the chosen option, or None if it could not be read.
    """
    traps = [[option.trap for option in item.options] for item in items]
    concepts = [item.concept for item in items]
    scores = choice_scores([item.gold for item in items], answers, concepts=concepts, traps=traps)
    if items and all(item.kind == USAGE and not is_found(item.id) for item in items):
        right = [answer == item.gold for item, answer in zip(items, answers, strict=True)]
        is_figurative = [item.options[item.gold].text == FIGURATIVE for item in items]
        scores |= pair_scores(right, concepts=concepts, is_figurative=is_figurative)
    if items and all(item.shares_stem is not None for item in items):
        by_image: dict[str, list[bool]] = {"different_image": [], "shared_words": [], "twins": []}
        for item, answer in zip(items, answers, strict=True):
            by_image[image_of(item)].append(answer == item.gold)
        scores |= {f"accuracy_{name}": sum(part) / len(part) if part else math.nan for name, part in by_image.items()}
    return scores


def image_of(item: Item) -> str:
    """Return how the two idioms of an item across languages are alike: ``twins`` are the same word for word."""
    if not item.shares_stem:
        return "different_image"
    languages = LANGUAGES[item.language], LANGUAGES[item.target]
    is_twin = have_same_stems(item.idiom, languages[0], item.options[item.gold].text, languages[1])
    return "twins" if is_twin else "shared_words"


def score_open(task: str, items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon) -> dict[str, float]:
    """Return name -> score of answers to an open task; see `metrics.choice`, and `judge_open` for the arguments."""
    judgements = judge_open(task, items, answers, lexicon)
    names = ["exact", "accepted", "lemma", "unreadable", "unjudged"]
    if OPEN_TASKS[task].n_answers > 1:
        names.append("first")
    judged = {name: [judgement[name] for judgement in judgements] for name in names}
    return open_scores(judged, concepts=[item.concept for item in items])


def judge_open(
    task: str, items: Sequence[Item], answers: Sequence[str | None], lexicon: Lexicon
) -> list[dict[str, bool]]:
    """Return the judgement of each answer to an open task; None could not be read.

    A judgement states whether the answer is ``exact``: the form that stood in the sentence, or elsewhere the idiom or a
    variant, in any case; has the ``lemma``: its words have the stems of that form, one by one; is ``accepted``: a form
    of the idiom, of a variant, or of an idiom judged to mean the same or to fit; is ``unjudged``: not accepted, and
    nobody has read it, so that it may be right; or is ``unreadable``. What is exact has the lemma, and so is accepted.

    Of several answers to one item, the best counts, and ``first`` states whether the first one is accepted. Another
    number of answers than of items is a ValueError; a lexicon that the items were not made from, an InputError.
    """
    same = lexicon.judged(SAME)
    fills_blank = OPEN_TASKS[task].kind == CLOZE  # in the form that the sentence needs; others ask for citation forms
    judgements = []
    for item, answer in zip(items, answers, strict=True):
        entries = lexicon.of(item.target)
        entry = entries.get(item.concept)
        is_other = not is_found(item.id) and item.text != OPEN_TASKS[task].text(lexicon, item)
        if entry is None or is_other:
            raise InputError(
                f"{lexicon.source or 'the lexicon'}: has no entry for {item.id!r} with the text {item.text!r}; score "
                "answers with the data that the items were made from"
            )
        alike = [entry, *(entries[concept] for concept in sorted(same.get(item.concept, ())) if concept in entries)]
        parts = (answer or "").split(ANSWER_SEPARATOR.strip())[: OPEN_TASKS[task].n_answers]
        judged = [_judge(part, item, alike, fills_blank=fills_blank) for part in parts]
        best = {name: any(judgement[name] for judgement in judged) for name in judged[0]}
        best["unjudged"] = best["unjudged"] and not best["accepted"]
        judgements.append(best | {"first": judged[0]["accepted"], "unreadable": answer is None})
    return judgements


def _judge(answer: str, item: Item, alike: Sequence[Entry], *, fills_blank: bool) -> dict[str, bool]:
    """Return the judgement of one answer by the entries that are right, that of the item first."""
    language = LANGUAGES[item.target]
    text = clean(answer, language)
    forms = [item.options[item.gold].text] if fills_blank else [alike[0].idiom, *alike[0].variants]
    is_exact = fold(text, language) in [fold(form, language) for form in forms]
    # The annotator does not know every form of every idiom, so what has the same stems is accepted without it
    has_lemma = is_exact or any(_has_stems(text, form, item.target) for form in forms)
    if has_lemma:
        return {"exact": is_exact, "lemma": True, "accepted": True, "unjudged": False}
    if fills_blank:
        # What means something else may fit the sentence too, so of verdicts on the meaning only the right ones count
        verdicts = _verdicts(text, item, sentence=item.text) or _verdicts(text, item) & {SAME}
        is_form = any(_is_placed(text, item, other) for other in alike)
    else:
        verdicts = _verdicts(text, item)
        forms = [form for other in alike for form in (other.idiom, *other.variants)]
        is_form = any(_has_stems(text, form, item.target) for form in forms)
    is_accepted = is_form or (bool(verdicts) and verdicts.issubset(_RIGHT))
    is_unjudged = bool(text) and not verdicts and not is_accepted
    return {"exact": False, "lemma": False, "accepted": is_accepted, "unjudged": is_unjudged}


def _verdicts(answer: str, item: Item, *, sentence: str = "") -> set[str]:
    """Return the verdict on an answer, or those on other forms of its words; none if nobody judged it."""
    verdicts = _judged_answers().get((item.target, item.concept, sentence), {})
    folded = fold(answer, LANGUAGES[item.target])
    if folded in verdicts:
        return {verdicts[folded]}
    return {verdict for judged, verdict in verdicts.items() if _has_stems(answer, judged, item.target)}


@cache
def _judged_answers() -> dict[tuple[str, str, str], dict[str, str]]:
    """Return language, concept and sentence, if one was filled, -> answer -> verdict, from the answers file."""
    verdicts: dict[tuple[str, str, str], dict[str, str]] = {}
    for _, row, _ in read_json_lines(_ANSWERS):
        answer = fold(row["answer"], LANGUAGES[row["language"]])
        key = row["language"], row["concept"], row.get("sentence", "")
        verdicts.setdefault(key, {})[answer] = row["verdict"]
    return verdicts


@cache
def answers_digest() -> str:
    """Return twelve digits of the SHA-256 of the answers file, for which scores of open tasks hold."""
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
    pairs = zip(ours, others, strict=True)
    return all(word == other or word_stems & other_stems for (word, word_stems), (other, other_stems) in pairs)


def _is_placed(answer: str, item: Item, entry: Entry) -> bool:
    """Return whether an idiom stands where the answer was filled in, from its first word to its last."""
    if not answer:
        return False
    start = item.text.index(BLANK)
    end = start + len(answer)
    sentence = item.text.replace(BLANK, answer, 1)
    spans, _ = annotate(entry.idiom, sentence, LANGUAGES[item.language], variants=entry.variants)
    # A span may not reach out of the answer, and so an answer that repeats half of the sentence is not accepted
    if not spans or not all(start <= span.start and span.end <= end for span in spans):
        return False
    answer_words = words(answer)
    first, last = answer_words[0].start + start, max(span.end for span in answer_words) + start
    # A model ends its answer like a sentence, and the annotator's spans have no signs at their ends
    n_closing_signs = len(answer) - len(answer.rstrip(" .,;:!?…\"'»”)"))
    return spans[0].start == first and spans[-1].end >= last - n_closing_signs


def right_shares(task: str, items: Sequence[Item], lexicon: Lexicon) -> dict[str, float]:
    """Return id of an item -> share of the panel whose first answer is right, of the items that the panel was asked.

    In an open task a right answer is an accepted one.
    """
    # Not stored, because they change with the judged answers as the scores of models do
    shares = {}
    for item in items:
        answers = _panel_answers().get((task, item.id))
        if answers and task in OPEN_TASKS:
            judgements = judge_open(task, [item] * len(answers), answers, lexicon)
            shares[item.id] = sum(judgement["accepted"] for judgement in judgements) / len(answers)
        elif answers:
            right = item.options[item.gold]
            shares[item.id] = answers.count(right.concept or right.text) / len(answers)
    return shares


@cache
def _panel_answers() -> dict[tuple[str, str], list[str | None]]:
    """Return (task, id of an item) -> the first answer of each reader; None from one who knew no idiom.

    With options it is the concept of the chosen one, in `usage` the sense.
    """
    firsts = {}
    for _, row, _ in read_json_lines(_PANEL):
        firsts[row["task"], row["item"]] = [reader[0] if reader else None for reader in row["answers"]]
    return firsts
