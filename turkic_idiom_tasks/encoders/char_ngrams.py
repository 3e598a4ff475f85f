"""Built-in baseline: character n-grams on mapped orthography. It is deterministic and needs no weights or download.

It knows nothing about the language family except how letters correspond (`orthography`). So it is strong if idioms are
cognates (T1), and weak if the meaning must be known (T2, T3). Only a model that scores more than this baseline can be
said to understand anything.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

from turkic_idiom_tasks.languages import LANGUAGES, Language
from turkic_idiom_tasks.orthography import skeleton, to_common

NAME = "turkic-idiom/char-ngrams"
REVISION = "1"  # changes whenever a vector changes
DIMENSION = 4096
NGRAMS = (2, 4)  # shortest and longest

# Lower-casing is left to the orthography module, because scikit-learn's does not know the dotless i.
_VECTORIZER = HashingVectorizer(
    analyzer="char_wb", ngram_range=NGRAMS, n_features=DIMENSION, norm=None, lowercase=False
)


def encode_texts(texts: Sequence[str], language: Language) -> npt.NDArray[np.float32]:
    """Return one vector per text: (N, 4096) float32 of length 1, or 0 for a text without a letter."""
    if not texts:  # scikit-learn raises an error for an empty list
        return np.zeros((0, DIMENSION), np.float32)
    parts = []
    for to_form in (to_common, skeleton):
        counts = _VECTORIZER.transform([to_form(text, language) for text in texts])
        # The vectorizer gives n-grams a sign by their hash, so that those that share a column cancel out on average.
        counts.data = np.sign(counts.data) * np.sqrt(np.abs(counts.data))
        parts.append(normalize(counts))
    vectors: npt.NDArray[np.float32] = normalize(parts[0] + parts[1]).astype(np.float32).toarray()
    return vectors


def encode_glosses(texts: Sequence[Mapping[str, str]]) -> npt.NDArray[np.float32]:
    """Return one vector for each gloss (language code -> text): the sum of the vectors of its languages.

    (N, 4096) float32, each row of length 1, or 0 without a letter. Languages that are none of ours are left out.
    """
    total = np.zeros((len(texts), DIMENSION), np.float32)
    for code, language in LANGUAGES.items():
        rows = [row for row, gloss in enumerate(texts) if code in gloss]
        total[rows] += encode_texts([texts[row][code] for row in rows], language)
    vectors: npt.NDArray[np.float32] = normalize(total)
    return vectors
