"""Forms that an abbreviated headword of a dictionary stands for: the citation form, then variants."""

import re

_SLOT = re.compile(r"\s*[(\[][\s.…,?–-]*[)\]]")  # `desa (...)`, an empty place for an argument
_REMARK = re.compile(r"\s*\([^()]*:[^()]*\)")  # `(shakllari: ...)`, its other forms
_PAIR = re.compile(r"\s[–—]\s")
_SLASH = re.compile(r"\s*/{1,2}\s*")
_SPACED_GROUP = re.compile(r"(?:(?<=\s)|^)\(([^()]*)\)\s*")
_MARKER = re.compile(r"^(?:yoki|yoxud|veya|ya da)\s+", re.IGNORECASE)
_ATTACHED = re.compile(r"(?<=\w)\(([^()\s]+)\)")
_WRAPPED = re.compile(r"(?<=\w)-\s+\(")  # a hyphen at the end of a printed line: `yoqa- (si)ga`
_SQUARE = re.compile(r"(\s*)\[([^\[\]]*)\]")
# A vowel and a consonant that may end a word. Not g, gʻ or ğ, which are softened there (`yurag`), and no second
# consonant, which shows a lost vowel: `koʻngl` is `koʻngil` in the dictionary. Such a stem would have to be guessed.
_BARE_STEM = re.compile(r"(?:[aeiouıöüəä]ʻ?(?:[bcçdfhjklmnpqrsştvxyz]|sh|ch|ng))$")
_VOWEL = re.compile(r"[aeiouıöüəä]")
_INFINITIVE = re.compile(r"(?:mak|mek|moq)$")
_EDGES = " \t.,;:=–—-"
_MOST_FORMS = 6


def resolve_forms(headword: str) -> tuple[str, tuple[str, ...]]:
    """Return the citation form that a headword abbreviates, and its variants; letter case is left as it is."""
    forms = [_WRAPPED.sub("(", _SLOT.sub("", _REMARK.sub("", headword)))]
    # The order matters: parentheses with a space before them hold words, those left after that step hold letters.
    for step in (_sides_of_dash, _slashes, _spaced_groups, _square_brackets, _attached):
        resolved: list[str] = []
        for form in forms:
            resolved += step(form)
        forms = resolved[:_MOST_FORMS]  # each step can multiply the forms
    tidied: dict[str, None] = {}  # in order, each once
    for form in forms:
        text = re.sub(r"\s+([,.!?:;])", r"\1", " ".join(form.split())).strip(_EDGES)
        # Quotation marks go if they are around the whole form; in «ali» desa, «bali» demoq they are around its parts.
        if text.startswith("«") and text.endswith("»") and text.count("«") == 1:
            text = text[1:-1].strip(_EDGES)
        if text:
            tidied[text] = None
    if not tidied:
        return "", ()
    citation, *others = tidied
    fewest_words = min(2, len(citation.split()))  # one word of a longer idiom is a fragment, not a variant
    return citation, tuple(form for form in others if len(form.split()) >= fewest_words)


def has_unmatched_brackets(text: str) -> bool:
    """Return whether a bracket is left over, which means that a part of the headword is lost."""
    return bool(re.search(r"[()\[\]]", text)) or text.count("«") != text.count("»")


def are_alike(first: str, second: str) -> bool:
    """Return whether two words look like alternatives: they begin or end alike, or one begins the other."""
    first, second = first.casefold().strip("?!.,"), second.casefold().strip("?!.,")
    if not first or not second:
        return False
    shorter = min(len(first), len(second))
    return first[:3] == second[:3] or (shorter > 3 and first[-3:] == second[-3:]) or first[:shorter] == second[:shorter]


def _sides_of_dash(text: str) -> list[str]:
    """Return both sides of a dash between two forms of one idiom, which share a word: ``A – B`` is A, then B."""
    sides = _PAIR.split(text)
    # The dash of a proverb, which has a comma too, belongs to it: `bedananing uyi yoʻq, qayerga borsa – bitbildiq`.
    if len(sides) != 2 or "," in text or len(sides[0].split()) < 2:
        return [text]
    # A word that both have may stand in another form, so its first three letters are compared.
    beginnings = [{word.casefold()[:3] for word in side.split() if len(word) > 2} for side in sides]
    return sides if beginnings[0] & beginnings[1] else [text]


def _slashes(text: str) -> list[str]:
    """Return a form for each of the alternatives that slashes separate: ``w1 / w2`` is w1, then w2."""
    parts = _SLASH.split(text)
    if len(parts) == 1 or not all(parts):
        return [text.replace("/", " ")]
    first, last = parts[0].split(), parts[-1].split()
    if len(parts) == 2 and last[0].casefold() == first[0].casefold() and len(last) > 1:
        return parts  # two whole forms
    rest = last[1:]  # of the idiom, after the last alternative
    forms = [" ".join(first + rest)]
    for part in parts[1:]:
        words = last[:1] if part is parts[-1] else part.split()
        forms.append(" ".join(first[:-1] + words + rest))
    return forms


def _spaced_groups(text: str) -> list[str]:
    """Return the form without its parentheses, then one for each alternative or addition in them."""
    forms = [_SPACED_GROUP.sub("", text)]
    for group in _SPACED_GROUP.finditer(text):
        before = _SPACED_GROUP.sub("", text[: group.start()]).split()
        after = _SPACED_GROUP.sub("", text[group.end() :]).split()
        if not before:
            continue
        content = group[1].strip()
        parts = [part.strip(" .…").split() for part in re.split(r"[,;]", _MARKER.sub("", content))]
        parts = [words for words in parts if words]
        # One part that looks like the word before it shows that all of them are alternatives to that word.
        has_alternative = any(len(words) == 1 and are_alike(words[0], before[-1]) for words in parts)
        are_alternatives = has_alternative or bool(_MARKER.match(content))
        known = [word.casefold() for word in before]
        for words in parts:
            first = words[0].casefold()
            if first in known:  # the part repeats the idiom from this word on
                kept = before[: known.index(first)]
            elif are_alternatives:
                kept = before[:-1]  # w1 (w2) w3 is w1 w3, then w2 w3
            elif not after and len(words) == 1 and _INFINITIVE.search(first):
                kept = before  # a verb at the end is added: `bir (olmak)`
            else:
                continue
            forms.append(" ".join([*kept, *words, *after]))
    return forms


def _square_brackets(text: str) -> list[str]:
    """Return the form without the letters in square brackets (``word[iz]``), then with them."""
    return [_SQUARE.sub("", text), _SQUARE.sub(r"\1\2", text)] if _SQUARE.search(text) else [text]


def _attached(text: str) -> list[str]:
    """Return the form with its optional letters (``adab(i)``), then without them where the bare stem is a word."""
    # The form with them comes first, because the possessive belongs to the citation form.
    forms = [_ATTACHED.sub(r"\1", text)]
    bare = []
    for group in _ATTACHED.finditer(text):
        # Letters that begin with a consonant follow a vowel, which is never softened or lost: `hafsala(si)`.
        begins_with_consonant = not _VOWEL.match(group[1].casefold())
        bare.append(begins_with_consonant or bool(_BARE_STEM.search(text[: group.start()].casefold())))
    return [*forms, _ATTACHED.sub("", text)] if bare and all(bare) else forms
