"""Find idioms of a lexicon in running text, where most sentences have none; people have to read what is found."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hub_datasets.found.corpora import Arc, CorpusSentence
from turkic_idiom_tasks.annotation.forms import Form, idiom_forms
from turkic_idiom_tasks.annotation.matching import PLAIN_LETTERS, Token, best_match, find_candidates
from turkic_idiom_tasks.annotation.stems import morphology, normalise, stems
from turkic_idiom_tasks.dataset.sentences import words
from turkic_idiom_tasks.languages import Language
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.spans import Span

HIGHEST_COST = 1.0
WIDEST_GAP = 3  # words between two words of an idiom
UNRELATED = 0.5  # cost if no dependency joins the words of the candidate
CLEAR_VERB = 3  # letters; of a shorter one too many words may be forms by chance (`diri` of `de-`)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place in a sentence that may be an idiom."""

    concept: str
    spans: tuple[Span, ...]
    cost: float  # 0 for the citation form with its verb inflected; higher is less certain


class Miner:
    """Index of the idioms of one language by the stem of their rarest word."""

    def __init__(self, entries: Iterable[Entry], language: Language) -> None:
        self.language = language
        forms: list[tuple[str, Form]] = []
        for entry in entries:
            for text in (entry.idiom, *entry.variants):
                forms += [(entry.concept, form) for form in idiom_forms(text, language.code)]
        n_forms_with: dict[str, int] = defaultdict(int)
        for _, form in forms:
            for word in form:
                for stem in word.stems:
                    n_forms_with[stem] += 1
        self._forms_by_stem: dict[str, list[tuple[str, Form]]] = defaultdict(list)
        for concept, form in forms:
            needed = [word for word in form if not word.optional] or list(form)
            # Few sentences have the rarest word, so few forms have to be matched with each
            rarest = min(needed, key=lambda word: sum(n_forms_with[stem] for stem in word.stems))
            for stem in rarest.stems:
                self._forms_by_stem[stem].append((concept, form))

    def candidates(self, sentence: CorpusSentence) -> list[Candidate]:
        """Return what may be an idiom in a sentence, the best candidate of each concept, in the order of concepts."""
        places = words(sentence.text)
        tokens: list[Token] = []
        stems_here: set[str] = set()
        for place in places:
            text = place.of(sentence.text)
            normal = normalise(text, self.language)
            tokens.append(Token(normal, normal[:1].isalnum(), text[0].islower()))
            if normal[:1].isalpha():
                stems_here.update(stems(normal, self.language.code))
        best: dict[str, Candidate] = {}
        for stem in stems_here & self._forms_by_stem.keys():
            for concept, form in self._forms_by_stem[stem]:
                if all(word.optional or not stems_here.isdisjoint(word.stems) for word in form):
                    candidate = self._match(concept, form, sentence, tokens, places)
                    if candidate and (concept not in best or candidate.cost < best[concept].cost):
                        best[concept] = candidate
        return [best[concept] for concept in sorted(best)]

    def _match(
        self, concept: str, form: Form, sentence: CorpusSentence, tokens: Sequence[Token], places: Sequence[Span]
    ) -> Candidate | None:
        # The annotator knows that the idiom is there, and takes what is most like it. Here every word must be there by
        # its stem, and the words stand close together.
        options = []
        for word in form:
            found = find_candidates(word, tokens, self.language.code)
            # Misspellings and words that only begin alike are what the annotator may take, and a miner may not.
            sure = []
            for candidate in found:
                token = tokens[candidate.first].form
                is_sure = candidate.cost < PLAIN_LETTERS
                if is_sure and not word.is_verb and token != word.form:
                    shared = word.stems.keys() & stems(token, self.language.code).keys()
                    # A short verb in common may be what suffixes leave of any word
                    is_sure = any(stem[0] == "n" or len(stem) - 2 >= CLEAR_VERB for stem in shared)
                if is_sure:
                    sure.append(candidate)
            options.append(sure)
        match = best_match(form, tokens, options, particles=morphology(self.language.code).particles)
        if match is None or any(later - earlier > WIDEST_GAP + 1 for earlier, later in pairwise(match.words)):
            return None
        matched = [places[number] for number in match.words]
        spans: list[Span] = []
        for place in matched:
            # A hyphen makes one word of two (`süzülə-süzülə`).
            if spans and not sentence.text[spans[-1].end : place.start].strip(" -"):
                spans[-1] = Span(spans[-1].start, place.end)
            else:
                spans.append(place)
        cost = match.cost
        if sentence.arcs is not None and not _is_connected(matched, sentence.arcs):
            cost += UNRELATED
        return Candidate(concept, tuple(spans), round(cost, 2)) if cost <= HIGHEST_COST else None


def _is_connected(matched: Sequence[Span], arcs: Sequence[Arc]) -> bool:
    """Return whether the dependencies between the matched words join them all."""
    groups = [{number} for number in range(len(matched))]
    for arc in arcs:
        ends = set()
        for number, word in enumerate(matched):
            if any(word.start < end.end and end.start < word.end for end in arc):
                ends.add(number)
        joined = [group for group in groups if group & ends]
        if len(joined) > 1:
            groups = [group for group in groups if not group & ends] + [set().union(*joined)]
    return len(groups) == 1
