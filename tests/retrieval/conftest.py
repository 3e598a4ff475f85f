import pytest

from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.splits import retrieval_split

# Test concepts and training concepts, found by the split itself and checked below.
TEST = [f"t-{n}" for n in range(200) if retrieval_split(f"t-{n}") == "test"][:6]
TRAIN = [f"t-{n}" for n in range(200) if retrieval_split(f"t-{n}") == "train"][:12]

WORDS = ("ağız baş göz kulak dil diş burun yüz boyun kan can yürek gönül taş su yol gün söz").split()  # noqa: SIM905
WORDS_AZ = ("ağız baş göz qulaq dil diş burun üz boyun qan can ürək könül daş su yol gün söz").split()  # noqa: SIM905
WORDS_UZ = ("ogʻiz bosh koʻz quloq til tish burun yuz boʻyin qon jon yurak koʻngil tosh suv yoʻl kun soʻz").split()  # noqa: SIM905


def entries(words, ending, meaning):
    return [
        Entry(concept, f"{word} {ending}", f"{meaning} {word * 2}")
        for concept, word in zip(TEST + TRAIN, words, strict=True)
    ]


@pytest.fixture
def lexicon_directory(tmp_path):
    """Eighteen concepts, six of them test concepts; Uzbek lacks three, one of them a test concept."""
    uzbek = [entry for entry in entries(WORDS_UZ, "tutmoq", "maʼnosi") if entry.concept not in (TEST[0], *TRAIN[:2])]
    write_lexicon(
        tmp_path / "lexicon",
        [Concept(concept, "gloss") for concept in TEST + TRAIN],
        {"tr": entries(WORDS, "tutmak", "anlamı"), "az": entries(WORDS_AZ, "tutmaq", "mənası"), "uz": uzbek},
    )
    return tmp_path / "lexicon"


@pytest.fixture
def lexicon(lexicon_directory):
    return load_lexicon(lexicon_directory)
