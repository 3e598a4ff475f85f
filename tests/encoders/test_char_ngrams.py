import os
import subprocess
import sys

import numpy as np
import pytest

from turkic_idiom_tasks.encoders.char_ngrams import encode_texts
from turkic_idiom_tasks.languages import LANGUAGES

# Turkish query, language, its cognate, near-misses that share one word with it.
COGNATES = [
    ("baş eğmek", "az", "baş əymək", ["baş vurmaq", "boyun əymək", "qol əymək", "başa düşmək"]),
    ("baş eğmek", "tk", "baş egmek", ["baş tutmak", "boýun egmek", "baş galdyrmak"]),
    ("boyun eğmek", "uz", "boʻyin egmoq", ["bosh egmoq", "boʻyin tovlamoq", "boʻyniga olmoq"]),
    ("göz yummak", "uz", "koʻz yummoq", ["koʻz tegmoq", "koʻz qismoq", "ogʻiz yummoq"]),
    ("göz yummak", "az", "göz yummaq", ["göz dikmək", "göz vurmaq", "ağız yummaq"]),
    ("dil uzatmak", "tk", "dil uzatmak", ["dil bermek", "el uzatmak", "dil tapmak"]),
    ("el uzatmak", "gag", "el uzatmaa", ["el vermää", "dil uzatmaa", "el sıkmaa"]),
]


@pytest.mark.parametrize(("query", "code", "cognate", "others"), COGNATES)
def test_the_cognate_beats_near_misses(query, code, cognate, others):
    queries = encode_texts([query], LANGUAGES["tr"])
    documents = encode_texts([*others, cognate], LANGUAGES[code])
    similarities = (queries @ documents.T)[0]
    assert similarities.argmax() == len(others)


@pytest.mark.parametrize(
    ("code", "text", "same"),
    [
        ("tr", "ISPARTA IŞIK", "ısparta ışık"),
        *(("uz", "ko\u02bbz yummoq", f"ko{apostrophe}z yummoq") for apostrophe in "'\u2018\u2019`"),
    ],
)
def test_texts_that_differ_in_case_or_apostrophes_alone_have_one_vector(code, text, same):
    vectors = encode_texts([text, same, "isparta işik"], LANGUAGES[code])
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert vectors[0] @ vectors[2] < 0.99


def test_vectors_have_length_one_or_are_empty():
    vectors = encode_texts(["baş eğmek", "", "!?"], LANGUAGES["tr"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-6)
    assert not vectors[1].any()
    assert np.isfinite(vectors).all()
    nothing = encode_texts([], LANGUAGES["tr"])
    assert (nothing.shape, nothing.dtype) == ((0, 4096), np.float32)


def test_the_same_in_another_process_with_another_hash_seed():
    code = (
        "from turkic_idiom_tasks.encoders.char_ngrams import encode_texts as e;"
        "from turkic_idiom_tasks.languages import LANGUAGES as L;"
        "print(hash('göz'), e(['göz yummak'], L['tr']).tobytes().hex())"
    )
    other_seed = {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    run = subprocess.run([sys.executable, "-c", code], env=other_seed, capture_output=True, text=True, check=True)
    other_hash, vector = run.stdout.split()
    assert int(other_hash) != hash("göz")
    assert vector == encode_texts(["göz yummak"], LANGUAGES["tr"]).tobytes().hex()
