import json

import pyarrow.parquet as pq
import pytest

from hub_datasets.layout import export_hub_layout
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.hub_upload import MANIFEST
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.retrieval.relevance import build_retrieval
from turkic_idiom_tasks.span_detection.sentences import lexicon_sentences
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split, span_split

TEST = [f"t-{n}" for n in range(200) if retrieval_split(f"t-{n}") == "test"]
TEST = sorted(TEST, key=lambda concept: span_split(concept) != "test")[:3]  # the first is in both test splits
TRAIN = [f"t-{n}" for n in range(200) if retrieval_split(f"t-{n}") == "train"][:2]


@pytest.fixture
def lexicon(tmp_path):
    """Five concepts in Turkish and Azerbaijani, three of them test concepts; no other language."""
    concepts = [*TEST, *TRAIN]
    words = ["ağız", "göz", "dil", "baş", "kan"]
    turkish = [Entry(c, f"{word} tutmak", f"{word} anlamı") for c, word in zip(concepts, words, strict=True)]
    turkish[0] = Entry(
        TEST[0], "ağız tutmak", "ağız anlamı", "Ağız tuttu.", (Span(0, 10),), ("ağzını tutmak",), status={"ok": True}
    )
    azerbaijani = [
        Entry(c, f"{word} tutmaq", None) for c, word in zip(concepts, ["ağız", "göz", "dil", "baş", "qan"], strict=True)
    ]
    write_lexicon(tmp_path / "lexicon", [Concept(c, "gloss") for c in concepts], {"tr": turkish, "az": azerbaijani})
    return load_lexicon(tmp_path / "lexicon")


def rows(directory, config):
    return pq.read_table(directory / "data" / config / "test.parquet").to_pylist()


def test_configs_hold_what_the_tasks_are_derived_from(lexicon, tmp_path):
    out = tmp_path / "out"
    export = export_hub_layout(lexicon, out)
    assert set(export.configs) == {
        *(f"{name}-{part}" for name in ("T1-tur-azj", "T2-tur") for part in ("queries", "corpus", "qrels")),
        "lexicon-tr",
        "lexicon-az",
        "span-tr",
    }
    # Azerbaijani has no meanings here, and there is no other language
    assert "T2-azj" in export.left_out
    assert "T3-tur-azj" in export.left_out
    data = build_retrieval(lexicon, "T1", "tur-azj")
    assert {row["id"]: row["text"] for row in rows(out, "T1-tur-azj-queries")} == data.queries
    assert {row["id"]: row["text"] for row in rows(out, "T1-tur-azj-corpus")} == data.documents
    judgements = [(row["query-id"], row["corpus-id"], row["score"]) for row in rows(out, "T1-tur-azj-qrels")]
    assert judgements == sorted((f"tur:{concept}", f"azj:{concept}", 1) for concept in TEST)
    assert len(rows(out, "T1-tur-azj-corpus")) == 5


def test_lexicon_configs_hold_every_field(lexicon, tmp_path):
    export_hub_layout(lexicon, tmp_path / "out")
    row = next(row for row in rows(tmp_path / "out", "lexicon-tr") if row["concept"] == TEST[0])
    assert row == {
        "concept": TEST[0],
        "gloss": "gloss",
        "idiom": "ağız tutmak",
        "meaning": "ağız anlamı",
        "example": "Ağız tuttu.",
        "literal_example": None,
        "paraphrase": None,
        "literal_paraphrase": None,
        "source": None,
        "spans": [[0, 10]],
        "variants": ["ağzını tutmak"],
        "status": '{"ok": true}',
    }


def test_span_configs_load_with_named_tags_in_three_splits(tmp_path):
    from datasets import load_dataset

    out = tmp_path / "out"
    export = export_hub_layout(load_lexicon(), out)
    loaded = load_dataset(str(out), "span-uz", cache_dir=str(tmp_path / "cache"))
    ours = lexicon_sentences(load_lexicon(), "uz")
    assert {split: len(part) for split, part in loaded.items()} == {split: len(part) for split, part in ours.items()}
    assert export.configs["span-uz"] == sum(map(len, ours.values()))
    tags = loaded["test"].features["ner_tags"].feature
    for row, sentence in zip(loaded["test"], ours["test"], strict=True):
        assert tuple(row["tokens"]) == sentence.tokens
        assert tuple(tags.int2str(row["ner_tags"])) == sentence.tags


def test_readme_declares_what_the_hub_client_then_loads(lexicon, tmp_path):
    from datasets import get_dataset_config_names, load_dataset

    out = tmp_path / "out"
    export = export_hub_layout(lexicon, out, licence="cc-by-nc-4.0")
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("---\nlicense: cc-by-nc-4.0\nlanguage:\n- tr\n- az\n")
    assert set(get_dataset_config_names(str(out))) == set(export.configs)
    loaded = load_dataset(str(out), "T1-tur-azj-qrels", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.to_list() == rows(out, "T1-tur-azj-qrels")


def test_same_lexicon_gives_the_same_bytes(lexicon, tmp_path):
    for name in ("one", "two"):
        export_hub_layout(lexicon, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 12  # six retrieval configs, two lexicon configs, one sentence, README, eval.yaml, manifest
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in files)


def test_licence_is_unknown_unless_it_is_said(lexicon, tmp_path):
    export_hub_layout(lexicon, tmp_path / "out")
    assert "license: unknown\n" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_new_export_removes_its_own_old_files_and_nothing_else(lexicon, tmp_path):
    out = tmp_path / "out"
    export_hub_layout(lexicon, out)
    (out / "figure.png").write_bytes(b"mine")
    (out / "data" / "lexicon-az" / "note.txt").write_bytes(b"mine too")
    write_lexicon(tmp_path / "smaller", list(lexicon.concepts.values()), {"tr": list(lexicon.of("tr").values())})
    export_hub_layout(load_lexicon(tmp_path / "smaller"), out)
    left = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert left == [
        MANIFEST,
        "README.md",
        *(f"data/T2-tur-{part}/test.parquet" for part in ("corpus", "qrels", "queries")),
        "data/lexicon-az/note.txt",
        "data/lexicon-tr/test.parquet",
        "data/span-tr/test.parquet",
        "eval.yaml",
        "figure.png",
    ]
    assert not (out / "data" / "T1-tur-azj-corpus").exists()


def test_a_directory_that_is_no_export_is_refused(lexicon, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(
        InputError, match=r"out: holds thesis.txt and is no earlier export; choose an empty or new --out"
    ):
        export_hub_layout(lexicon, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_an_edited_file_is_never_overwritten(lexicon, tmp_path):
    out = tmp_path / "out"
    export_hub_layout(lexicon, out)
    (out / "README.md").write_text("edited by hand")
    before = (out / "data" / "lexicon-tr" / "test.parquet").stat().st_mtime_ns
    with pytest.raises(InputError, match=r"README.md: was changed since the export; move it away"):
        export_hub_layout(lexicon, out)
    assert (out / "README.md").read_text() == "edited by hand"
    assert (out / "data" / "lexicon-tr" / "test.parquet").stat().st_mtime_ns == before


def test_a_killed_export_can_be_run_again(lexicon, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export_hub_layout(lexicon, out)
    write_lexicon(tmp_path / "smaller", list(lexicon.concepts.values()), {"tr": list(lexicon.of("tr").values())[:4]})
    smaller = load_lexicon(tmp_path / "smaller")
    import hub_datasets.exported_folder as exported_folder

    written = []

    def write_two(path, data):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        path.write_bytes(data)

    with monkeypatch.context() as patch:
        patch.setattr(exported_folder, "write_bytes", write_two)
        with pytest.raises(KeyboardInterrupt):
            export_hub_layout(smaller, out)
    export_hub_layout(smaller, out)
    export_hub_layout(smaller, tmp_path / "fresh")
    for path in (tmp_path / "fresh").rglob("*.parquet"):
        assert path.read_bytes() == (out / path.relative_to(tmp_path / "fresh")).read_bytes()
    assert json.loads((out / MANIFEST).read_text()) == json.loads((tmp_path / "fresh" / MANIFEST).read_text())


def test_damaged_manifest_is_an_error(lexicon, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text("[]")
    with pytest.raises(InputError, match="is damaged"):
        export_hub_layout(lexicon, tmp_path / "out")
