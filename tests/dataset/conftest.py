"""Small lexicons whose every split is known, and folders in the Hub layout."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split, span_split


def concepts_of(split, n, *, of=span_split, prefix="c"):
    """Return the first n made-up concept ids of a split."""
    return [f"{prefix}-{number}" for number in range(1000) if of(f"{prefix}-{number}") == split][:n]


TEST = concepts_of("test", 6, of=retrieval_split, prefix="t")
TRAIN = concepts_of("train", 10, of=retrieval_split, prefix="t")
DEVELOPMENT = concepts_of("development", 2, of=retrieval_split, prefix="t")
CONCEPTS = [*TEST, *TRAIN, *DEVELOPMENT]

# A tagged sentence in the Hub layout
ROW = {
    "id": "s1",
    "idiom": "göz yummak",
    "sentence": "Buna göz yumdu.",
    "tokens": ["Buna", "göz", "yumdu", "."],
    "ner_tags": [0, 1, 2, 0],
}

WORDS = ("ağız baş göz kulak dil diş burun yüz boyun kan can yürek gönül taş su yol gün söz").split()  # noqa: SIM905
WORDS_AZ = ("ağız baş göz qulaq dil diş burun üz boyun qan can ürək könül daş su yol gün söz").split()  # noqa: SIM905
WORDS_UZ = ("ogʻiz bosh koʻz quloq til tish burun yuz boʻyin qon jon yurak koʻngil tosh suv yoʻl kun soʻz").split()  # noqa: SIM905


def entries(words, ending, meaning):
    return [
        Entry(concept, f"{word} {ending}", f"{meaning} {word * 2}")
        for concept, word in zip(CONCEPTS, words, strict=True)
    ]


def write_small_lexicon(folder):
    """Write eighteen concepts, six of them test concepts; Uzbek lacks three, one of them a test concept."""
    uzbek = [entry for entry in entries(WORDS_UZ, "tutmoq", "maʼnosi") if entry.concept not in (TEST[0], *TRAIN[:2])]
    write_lexicon(
        folder,
        [Concept(concept, "gloss") for concept in CONCEPTS],
        {"tr": entries(WORDS, "tutmak", "anlamı"), "az": entries(WORDS_AZ, "tutmaq", "mənası"), "uz": uzbek},
    )
    return folder


@pytest.fixture
def lexicon(tmp_path):
    return load_lexicon(write_small_lexicon(tmp_path / "lexicon"))


def example(concept, idiom, before, marked, after):
    """Return an entry whose example has the idiom between two other parts."""
    text = f"{before}{marked}{after}"
    return Entry(concept, idiom, "anlamı", text, (Span(len(before), len(before) + len(marked)),))


@pytest.fixture
def turkish_only(tmp_path):
    """A lexicon with four test, two validation and five training sentences in Turkish; its Azerbaijani has no spans."""
    test, validation, train = (concepts_of(split, n) for split, n in (("test", 4), ("validation", 2), ("train", 5)))
    rows = [
        example(concept, f"{word} tutmak", f"Ali bugün {number}. kez ", f"{word} tuttu", ".")
        for number, (concept, word) in enumerate(zip(test + validation + train, WORDS, strict=False))
    ]
    azerbaijani = [Entry(concept, "baş əymək", None, "Əli baş əydi.") for concept in test]
    concepts = [Concept(concept, "gloss") for concept in test + validation + train]
    write_lexicon(tmp_path / "turkish_only", concepts, {"tr": rows, "az": azerbaijani})
    return tmp_path / "turkish_only"


def write_config(folder, config, rows_of_split, *, kind="jsonl"):
    """Write rows as one config of a folder in the Hub layout, beside the configs that its README declares already."""
    (folder / "data" / config).mkdir(parents=True, exist_ok=True)
    declared = [f"- config_name: {config}\n  data_files:\n"]
    for split, rows in rows_of_split.items():
        path = folder / "data" / config / f"{split}.{kind}"
        if kind == "jsonl":
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        else:
            pq.write_table(pa.Table.from_pylist(rows), path)
        declared.append(f"  - split: {split}\n    path: data/{config}/{split}.{kind}\n")
    readme = folder / "README.md"
    earlier = readme.read_text("utf-8").removesuffix("---\n") if readme.exists() else "---\nconfigs:\n"
    readme.write_text(earlier + "".join(declared) + "---\n", "utf-8")


@pytest.fixture
def hub_layout(tmp_path):
    """A function that writes rows as config span-tr (or another) in a folder in the Hub layout."""

    def write(rows_of_split, *, config="span-tr", kind="jsonl", name="hub"):
        write_config(tmp_path / name, config, rows_of_split, kind=kind)
        return tmp_path / name

    return write
