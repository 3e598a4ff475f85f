"""Search for the cheapest match of an idiom in a sentence: words are matched by stem, arrangements compared by cost."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from turkic_idiom_tasks.annotation.forms import VOICELESS_COST, IdiomWord
from turkic_idiom_tasks.annotation.stems import morphology, plain, stems

# The levels of the benchmark paper (equal words, equal stems, Levenshtein distance 1, inclusion) are costs here, and so
# are gaps and another order; a match that costs more than the highest cost is not reliable.
INFLECTED = 0.25  # the same stem with other suffixes
PLAIN_LETTERS = 0.75  # the same stem when letters are written without dots, cedillas and breves (altini cizdi)
MISSPELT = 1.5  # stems at Levenshtein distance 1
CONTAINED = 1.5  # the stem begins the word, and what follows is no suffix that the tables know
EXCHANGED = 1.0  # another light verb, or another pronoun
EXISTENCE = 0.5  # a word for there is, there is not or was, in place of to be
LEFT_OUT = 1.0  # a word that may be missing
GAP = 0.2  # each word between two words of the idiom
TURNED_GAP = 0.3  # the same if the two words are in the other order
# A noun phrase is not turned round: in `gün bitti, hava kara` there is no `kara gün`.
NOMINAL = 3  # factor of the costs of gaps and of another order in an idiom without a verb
STOP = 0.6  # a comma or the like between them
TURNED = 0.5  # two words of the idiom in the other order
HIGHEST_COST = 2.2
WIDEST_GAP = 9  # words
SHORTEST_PLAIN = 3  # letters of the stem
SHORTEST_MISSPELT = 5
SHORTEST_CONTAINED = 4
_FREE_SIGNS = frozenset("-\u2010\u2011\"'\u2018\u2019«»“”„()[]")
_MOST_CANDIDATES = 48
_MOST_STEPS = 5000  # of one search; only idioms that repeat one word reach this limit
_IMPOSSIBLE = 99.0


class Token(NamedTuple):
    """A word or a sign of the sentence."""

    form: str  # normalised
    is_word: bool  # rather than a punctuation mark
    begins_small: bool  # so that no sentence begins with it


class Match(NamedTuple):
    """Numbers of the words that match an idiom, in order, and the cost of the match."""

    words: tuple[int, ...]
    cost: float


class Candidate(NamedTuple):
    """Words `first` to `last` of the sentence, nearly always a single word, as a match for a word of the idiom."""

    cost: float
    first: int
    last: int


def word_cost(word: IdiomWord, token: str, code: str) -> float | None:
    """Return the cost of taking `token` for a word of the idiom; None if it cannot be that word."""
    if token == word.form:
        return 0.0
    exchangeable = word.light or word.pronoun
    # Nearly all words of a sentence end here, before the costly analysis: only an exchanged word may begin otherwise.
    if not exchangeable and plain(token[0]) != plain(word.form[0]):
        return None
    table, token_stems = morphology(code), stems(token, code)
    cheapest = _IMPOSSIBLE
    for stem, cost in word.stems.items():
        if stem in token_stems:
            cheapest = min(cheapest, cost + token_stems[stem])
    if cheapest <= (VOICELESS_COST if word.is_verbal else 0.0):
        return cheapest + (0.0 if word.is_verb else INFLECTED)
    if word.being and any(f"n:{existence}" in token_stems for existence in table.being):
        return EXISTENCE
    if word.light and any(f"v:{verb}" in token_stems for verb in table.light_verbs):
        return EXCHANGED
    if word.pronoun and any(f"n:{pronoun}" in token_stems for pronoun in table.pronouns):
        return EXCHANGED
    if exchangeable or word.is_strict:
        return None
    # The levels below equal stems: plain letters, inclusion, a misspelling.
    word_stems = [stem for stem, cost in word.stems.items() if not cost and len(stem) - 2 >= SHORTEST_PLAIN]
    # The sentence must have plain letters only (or ı), or `ölmek` would be `olmak` written without its dots.
    is_plain = token.replace("ı", "i") == plain(token)
    if is_plain and not set(map(plain, word_stems)).isdisjoint(map(plain, token_stems)):
        return PLAIN_LETTERS
    for stem in word_stems:
        if len(stem) - 2 >= SHORTEST_CONTAINED and token.startswith(stem[2:]):
            return CONTAINED
    for stem in word_stems:
        for other in token_stems if len(stem) - 2 >= SHORTEST_MISSPELT else ():
            if stem[0] == other[0] and Levenshtein.distance(stem, other, score_cutoff=1) <= 1:
                return MISSPELT
    return None


def find_candidates(word: IdiomWord, tokens: Sequence[Token], code: str, *, joined: bool = False) -> list[Candidate]:
    """Return the words of a sentence that can be a word of the idiom; with `joined` also two words that form it."""
    candidates = []
    for number, token in enumerate(tokens):
        if not token.is_word:
            continue
        cost = word_cost(word, token.form, code)
        if cost is not None:
            candidates.append(Candidate(cost, number, number))
        elif joined:
            last = number + 1  # the word that follows directly, or after a hyphen
            if last < len(tokens) and tokens[last].form == "-":
                last += 1
            if last < len(tokens) and tokens[last].is_word:
                cost = word_cost(word, token.form + tokens[last].form, code)
                if cost is not None and cost < PLAIN_LETTERS:
                    candidates.append(Candidate(cost, number, last))
    return sorted(candidates, key=lambda candidate: candidate.cost)[:_MOST_CANDIDATES]


def best_match(
    form: Sequence[IdiomWord],
    tokens: Sequence[Token],
    candidates: Sequence[Sequence[Candidate]],  # of each word, from `find_candidates`
    *,
    particles: Set[str],  # words that may stand between those of the idiom at no cost
    taken: Set[int] = frozenset(),  # numbers of words that belong to another occurrence
) -> Match | None:
    """Return the cheapest arrangement of the words of an idiom, or None if all cost more than `HIGHEST_COST`."""
    best: tuple[Candidate, ...] = ()
    bound = HIGHEST_COST + 1e-9  # sums of tenths are not exact
    n_steps = 0

    # The search goes depth first, so that the best cost so far cuts off what cannot become cheaper.
    def extend(number: int, chosen: tuple[Candidate, ...], cost: float) -> None:
        nonlocal best, bound, n_steps
        n_steps += 1
        if cost >= bound or n_steps > _MOST_STEPS:
            return
        if number == len(form):
            if len(chosen) >= min(2, len(form)):  # one word of several is no occurrence
                best, bound = chosen, cost
            return
        for candidate in candidates[number]:
            if candidate.first in taken or candidate.last in taken:
                continue
            if all(candidate.last < other.first or other.last < candidate.first for other in chosen):
                step = cost_between(chosen[-1], candidate) if chosen else 0.0
                extend(number + 1, (*chosen, candidate), cost + candidate.cost + step)
        if form[number].optional:
            extend(number + 1, chosen, cost + LEFT_OUT)

    def cost_between(earlier: Candidate, later: Candidate) -> float:
        in_order = earlier.last < later.first
        low, high = (earlier.last, later.first) if in_order else (later.last, earlier.first)
        if high - low - 1 > 2 * WIDEST_GAP:
            return _IMPOSSIBLE
        n_words = n_stops = 0
        for token in tokens[low + 1 : high]:
            if token.is_word:
                n_words += token.form not in particles
            else:
                n_stops += token.form not in _FREE_SIGNS
        if n_words > WIDEST_GAP:
            return _IMPOSSIBLE
        price = GAP * n_words if in_order else TURNED + TURNED_GAP * n_words
        return (price if form[-1].is_verbal else NOMINAL * price) + STOP * n_stops

    extend(0, (), 0.0)
    if not best:
        return None
    numbers: set[int] = set()
    for candidate in best:
        numbers.update(range(candidate.first, candidate.last + 1))
    return Match(tuple(number for number in sorted(numbers) if tokens[number].is_word), bound)
