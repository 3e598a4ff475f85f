"""The built-in baseline: character n-grams on mapped orthography. No weights, no download, deterministic.

It knows of the family only how letters correspond (`orthography`): strong where idioms are cognates (T1), weak where
the meaning must be known (T2, T3). That makes it the score which a model has to beat before it can be said to
understand anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, Language, get_language
from turkic_idiom_tasks.orthography import skeleton, to_common

NAME = "turkic-idiom/char-ngrams"
REVISION = "1"  # changes whenever a vector changes
DIMENSION = 4096
NGRAMS = (2, 4)


def encode_texts(texts: Sequence[str], language: Language) -> npt.NDArray[np.float32]:
    """One vector per text: (N, 4096) float32 of length 1, or 0 for a text without a letter.

    Hashed character n-grams within words, counted on two readings of the text, its common orthography and its
    skeleton; counts enter by their square root.
    """
    from sklearn.preprocessing import normalize

    if not texts:  # scikit-learn refuses to count nothing
        return np.zeros((0, DIMENSION), np.float32)
    total = None
    for reading in (to_common, skeleton):
        counts = _vectorizer().transform([reading(text, language) for text in texts])
        counts.data = np.sign(counts.data) * np.sqrt(np.abs(counts.data))
        counts = normalize(counts)
        total = counts if total is None else total + counts
    vectors: npt.NDArray[np.float32] = normalize(total).astype(np.float32).toarray()
    return vectors


@lru_cache(maxsize=1)
def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=NGRAMS, n_features=DIMENSION, norm=None, lowercase=False)


# Importing mteb makes it ask `registry` for the models, which reads the names above: they must exist by now.
from mteb.models.abs_encoder import AbsEncoder  # noqa: E402
from mteb.types import PromptType  # noqa: E402


class CharNgramEncoder(AbsEncoder):
    """The baseline as an mteb encoder; it takes the language of a text from the subset that is being evaluated."""

    def __init__(self, model_name: str = NAME, revision: str | None = REVISION, **kwargs: Any) -> None:
        self.model_name = model_name

    def encode(
        self,
        inputs: Any,
        *,
        task_metadata: Any,
        hf_split: str,
        hf_subset: str,
        prompt_type: PromptType | None = None,
        **kwargs: Any,
    ) -> npt.NDArray[np.float32]:
        """The vectors of all texts of the batches, (N, 4096) float32.

        A cross-lingual subset lists the language of the queries first and that of the documents last.
        """
        codes = task_metadata.hf_subsets_to_langscripts.get(hf_subset) or task_metadata.languages
        language = _language_of(codes[-1] if prompt_type == PromptType.document else codes[0])
        return encode_texts([text for batch in inputs for text in batch["text"]], language)


def _language_of(code: str) -> Language:
    """The record of a language; of one that is not in this benchmark (mteb has hundreds), the pivot's."""
    try:
        return get_language(code)
    except InputError:
        return LANGUAGES[PIVOT]
