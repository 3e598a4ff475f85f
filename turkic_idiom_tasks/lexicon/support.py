"""Which entries of a provisional language have support outside the knowledge of those who wrote them.

Gagauz is close to Turkish and little of it is written, so a Gagauz form may be nothing but a Turkish idiom in Gagauz
spelling. An entry of such a language is supported if

1. a public source attests its form (`Entry.attested`), or
2. a related language has the same image for the same concept: every content word of either idiom (or of a variant) has
   one in the other that begins alike in the common orthography (`orthography.have_same_stems`). A language counts only
   where its entry is attested itself, unless few of its entries record a source (`Language.supports_unattested`). The
   pivot does not count, because whether the form was taken from it is just what is in doubt, nor does a language that
   is provisional itself.

Entries without support stay in the lexicon, in training and among the documents, but decide no test query.
"""

from turkic_idiom_tasks.languages import LANGUAGES, target_codes
from turkic_idiom_tasks.lexicon.entries import Entry, Lexicon
from turkic_idiom_tasks.orthography import have_same_stems


def needs_support(lexicon: Lexicon, code: str) -> bool:
    """Return whether the entries of a language need support to be asked for.

    A lexicon that states no source for any entry of the language, such as one that somebody else made, does not record
    attestation at all; its entries need none.
    """
    return LANGUAGES[code].provisional and any(entry.attested for entry in lexicon.of(code).values())


def supported(lexicon: Lexicon, code: str) -> frozenset[str]:
    """Return the concepts whose entry in a language is supported; all of them in a language that needs no support."""
    entries = lexicon.of(code)
    if not needs_support(lexicon, code):
        return frozenset(entries)
    return frozenset(
        concept for concept, entry in entries.items() if entry.attested or _has_image_elsewhere(lexicon, entry, code)
    )


def _has_image_elsewhere(lexicon: Lexicon, entry: Entry, code: str) -> bool:
    for other_code in target_codes():
        language, other = LANGUAGES[other_code], lexicon.of(other_code).get(entry.concept)
        if language.provisional or other is None or not (other.attested or language.supports_unattested):
            continue
        for form in (entry.idiom, *entry.variants):
            for other_form in (other.idiom, *other.variants):
                if have_same_stems(form, LANGUAGES[code], other_form, language):
                    return True
    return False
