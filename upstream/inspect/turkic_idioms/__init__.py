"""Tasks on idioms in Turkic languages."""

from .tasks import turkic_idiom_cloze, turkic_idiom_equivalent, turkic_idiom_meaning, turkic_idiom_usage

__all__ = [
    "turkic_idiom_cloze",
    "turkic_idiom_equivalent",
    "turkic_idiom_meaning",
    "turkic_idiom_usage",
]
