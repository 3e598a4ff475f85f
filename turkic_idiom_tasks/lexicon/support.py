"""Which entries of a provisional language have support outside the knowledge of those who wrote them.

Gagauz is close to Turkish and little of it is written, so a Gagauz form may be nothing but a Turkish idiom in Gagauz
spelling. Entries without support stay in the lexicon, in training and among the documents, but decide no test query.
"""

from itertools import product

from turkic_idiom_tasks.languages import LANGUAGES, target_codes
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.orthography import have_same_stems


def needs_support(lexicon: Lexicon, code: str) -> bool:
    """Return whether the entries of a language need support to be asked for."""
    # A lexicon that states no source for any entry of the language, such as one that somebody else made, does not
    # record attestation at all.
    return LANGUAGES[code].provisional and any(entry.attested for entry in lexicon.of(code).values())


def supported(lexicon: Lexicon, code: str) -> frozenset[str]:
    """Return the concepts whose entry in a language is supported; all of them in a language that needs no support.

    An entry is supported if a public source attests its form, or if a related language has the same image for the same
    concept, which is to say that every content word of either idiom has one in the other (`have_same_stems`).
    """
    entries = lexicon.of(code)
    if not needs_support(lexicon, code):
        return frozenset(entries)
    concepts = {concept for concept, entry in entries.items() if entry.attested}
    # The pivot is not asked, because whether the form was taken from it is just what is in doubt.
    for other_code in target_codes():
        language, others = LANGUAGES[other_code], lexicon.of(other_code)
        for concept in entries.keys() & (others.keys() - concepts):
            entry, other = entries[concept], others[concept]
            # An entry that is in doubt itself supports none, unless few entries of its language record a source.
            if language.provisional or not (other.attested or language.supports_unattested):
                continue
            for form, other_form in product((entry.idiom, *entry.variants), (other.idiom, *other.variants)):
                if have_same_stems(form, LANGUAGES[code], other_form, language):
                    concepts.add(concept)
    return frozenset(concepts)
