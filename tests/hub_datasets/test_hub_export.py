"""A lexicon in the Hub layout: its files, what the stock client and our own reader make of them, its cards."""

import dataclasses
import re

import pytest
import yaml
from datasets import get_dataset_config_names, load_dataset

from hub_datasets.hub_export import CANARY, hub_layout
from tests.dataset.conftest import concepts_of
from turkic_idiom_tasks.dataset import LexiconDataset, open_dataset
from turkic_idiom_tasks.dataset.retrieval import TASKS, build_retrieval
from turkic_idiom_tasks.dataset.sentences import lexicon_sentences
from turkic_idiom_tasks.lexicon.entries import Concept, Entry, FurtherExample
from turkic_idiom_tasks.lexicon.load import load_lexicon, write_lexicon
from turkic_idiom_tasks.spans import Span
from turkic_idiom_tasks.splits import retrieval_split, span_split

TEST = concepts_of("test", 20, of=retrieval_split)
TEST = sorted(TEST, key=lambda concept: span_split(concept) != "test")[:3]  # the first is in both test splits
TRAIN = concepts_of("train", 2, of=retrieval_split)


@pytest.fixture
def lexicon(tmp_path):
    """Five concepts in Turkish and Azerbaijani, three of them test concepts; no other language."""
    concepts = [*TEST, *TRAIN]
    words = ("ağız", "göz", "dil", "baş", "can")
    turkish = [Entry(c, f"{word} tutmak", f"{word} anlamı") for c, word in zip(concepts, words, strict=True)]
    spans, variants = (Span(0, 10),), ("ağzını tutmak",)
    turkish[0] = Entry(TEST[0], "ağız tutmak", "ağız anlamı", "Ağız tuttu.", spans, variants, status={"ok": True})
    further = (FurtherExample("Baş mı tutmuş?", (Span(0, 3), Span(7, 13)), "work"), FurtherExample("Başını tuttu.", ()))
    turkish[3] = dataclasses.replace(turkish[3], examples=further)
    azerbaijani = [Entry(c, f"{word} tutmaq", None) for c, word in zip(concepts, words, strict=True)]
    concepts = [Concept(c, "gloss", "verb") for c in concepts]
    write_lexicon(tmp_path / "lexicon", concepts, {"tr": turkish, "az": azerbaijani})
    return load_lexicon(tmp_path / "lexicon")


def export(lexicon, directory, **options):
    layout = hub_layout(lexicon, **options)
    layout.write(directory)
    return layout


def test_the_stock_client_loads_what_the_readme_declares(lexicon, tmp_path):
    out = tmp_path / "out"
    layout = export(lexicon, out, licence="cc-by-nc-4.0")
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert (front_matter(readme)["license"], front_matter(readme)["language"]) == ("cc-by-nc-4.0", ["tr", "az"])
    assert set(get_dataset_config_names(str(out))) == set(layout.configs)

    def load(config):
        return load_dataset(str(out), config, cache_dir=str(tmp_path / "cache"))

    expected = [{"query-id": f"tur:{concept}", "corpus-id": f"azj:{concept}", "score": 1} for concept in sorted(TEST)]
    assert load("T1-tur-azj-qrels")["test"].to_list() == expected
    (row,) = (row for row in load("lexicon-tr")["test"] if row["concept"] == TRAIN[0])
    assert row["examples"][0] == {"text": "Baş mı tutmuş?", "spans": [[0, 3], [7, 13]], "topic": "work"}
    loaded, ours = load("span-tr"), lexicon_sentences(lexicon, "tr")
    assert {split: len(part) for split, part in loaded.items()} == {s: len(part) for s, part in ours.items() if part}
    tags = loaded["test"].features["ner_tags"].feature
    for row, sentence in zip(loaded["test"], ours["test"], strict=True):
        assert (tuple(row["tokens"]), tuple(tags.int2str(row["ner_tags"]))) == (sentence.tokens, sentence.tags)


def test_new_export_removes_its_own_old_files_and_nothing_else(lexicon, tmp_path):
    out = tmp_path / "out"
    export(lexicon, out)
    (out / "figure.png").write_bytes(b"mine")
    (out / "data" / "lexicon-az" / "note.txt").write_bytes(b"mine too")
    write_lexicon(tmp_path / "smaller", list(lexicon.concepts.values()), {"tr": list(lexicon.of("tr").values())})
    export(load_lexicon(tmp_path / "smaller"), out)
    assert not (out / "data" / "T1-tur-azj-corpus").exists()
    assert [path.name for path in (out / "data" / "lexicon-az").iterdir()] == ["note.txt"]
    assert (out / "figure.png").read_bytes() == b"mine"
    configs = {"lexicon-tr", "span-tr", "T2-tur-corpus", "T2-tur-qrels", "T2-tur-queries"}
    assert set(get_dataset_config_names(str(out))) == configs


def facts(data, task, subset):
    # Strict judgements that are the others are not exported; the pools of both have them
    texts, pool = data.retrieval(task, subset), data.pool(task, subset)
    development = build_retrieval(data.lexicon, task, subset, split="development")
    judged = (texts.qrels, pool.relevant, pool.strictly_relevant)
    return dict(texts.queries), dict(texts.documents), judged, development


@pytest.mark.parametrize("name", ["lexicon", pytest.param("bundled", marks=pytest.mark.long)])
def test_what_is_exported_is_the_data_of_the_lexicon(name, request, tmp_path):
    source = request.getfixturevalue(name)
    if name == "lexicon":
        source = dataclasses.replace(source, equivalents={tuple(sorted((TEST[0], TRAIN[0]))): "same"})
    export(source, tmp_path / "out")
    ours, theirs = LexiconDataset(source), open_dataset(str(tmp_path / "out"))
    assert len(theirs.revision) == 40
    for task in TASKS:
        assert theirs.subsets(task) == ours.subsets(task)
        for subset in ours.subsets(task):
            assert facts(theirs, task, subset) == facts(ours, task, subset)
    assert theirs.span_languages == ours.span_languages
    for code in ours.span_languages:
        assert theirs.sentences(code) == ours.sentences(code)
        assert theirs.test_sentences(code).concepts == ours.test_sentences(code).concepts
    assert list(theirs.lexicon.entries) == list(ours.lexicon.entries)
    for code in ours.lexicon.entries:
        assert dict(theirs.lexicon.of(code)) == dict(ours.lexicon.of(code))
    assert dict(theirs.lexicon.concepts) == dict(ours.lexicon.concepts)
    assert theirs.lexicon.equivalents == ours.lexicon.equivalents


def front_matter(readme):
    return yaml.safe_load(readme.split("---\n")[1])


def test_the_card_says_what_the_hub_asks_for(bundled):
    contents = hub_layout(bundled).contents
    readme = contents["README.md"].decode()
    card = front_matter(readme)
    stated = {"license": "cc-by-4.0", "language": ["tr", "az", "tk", "gag", "uz", "kk", "tt", "ky"]}
    stated |= {"multilinguality": ["multilingual"], "annotations_creators": ["machine-generated"]}
    stated |= {"size_categories": ["1K<n<10K"], "task_categories": ["text-retrieval", "token-classification"]}
    assert card | stated == card
    paths = {file["path"] for config in card["configs"] for file in config["data_files"]}
    assert paths == {path for path in contents if path.endswith(".parquet")}
    info = {config["config_name"]: config for config in card["dataset_info"]}
    assert set(info) == {config["config_name"] for config in card["configs"]}
    tags = next(feature for feature in info["span-gag"]["features"] if feature["name"] == "ner_tags")
    assert tags["list"]["class_label"]["names"] == {"0": "O", "1": "B-IDIOM", "2": "I-IDIOM"}
    assert "0: O, 1: B-IDIOM, 2: I-IDIOM" in readme
    assert "not yet been reviewed by native speakers" in readme
    sizes = {split["name"]: split["num_examples"] for split in info["span-gag"]["splits"]}
    assert sizes == {split: len(rows) for split, rows in lexicon_sentences(bundled, "gag").items()}
    assert info["span-gag"]["download_size"] == sum(
        len(data) for path, data in contents.items() if path.startswith("data/span-gag/")
    )


def test_another_lexicon_claims_nothing_of_the_bundled_one_and_registers_the_tasks_that_are_there(lexicon):
    contents = hub_layout(lexicon).contents
    readme = contents["README.md"].decode()
    card = front_matter(readme)
    assert card["license"] == "unknown"
    assert not {"annotations_creators", "language_creators", "source_datasets"} & set(card)
    assert "language model" not in readme
    registered = yaml.safe_load(contents["eval.yaml"])
    assert registered["evaluation_framework"] == "mteb"
    assert registered["tasks"] == [
        {"id": "TurkicIdiomT1"},
        {"id": "TurkicIdiomT1-tur-azj", "config": "T1-tur-azj-queries", "split": "test"},
        {"id": "TurkicIdiomT2"},
        {"id": "TurkicIdiomT2-tur", "config": "T2-tur-queries", "split": "test"},
    ]  # Azerbaijani has no meanings here, so T3 has no subset


def test_every_published_file_has_the_canary_and_a_layout_without_it_is_refused(lexicon, dataset, tmp_path):
    layout, out = hub_layout(lexicon), tmp_path / "out"
    dataset("export", tmp_path / "lexicon", "--out", out)
    assert {name: (out / name).read_bytes() for name in layout.contents} == layout.contents
    assert re.search("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", CANARY)
    (out / "languages.jsonl").write_text("{}")  # has no text of the benchmark
    dataset("check", out)
    for name in ("data/lexicon-tr/test.parquet", "README.md"):
        (out / name).write_bytes(layout.contents[name].replace(CANARY[-36:].encode(), b"0" * 36))
        _, err = dataset("check", out, code=1)
        assert f"{name}: lacks the canary" in err
        assert CANARY in err  # what to add
        (out / name).write_bytes(layout.contents[name])
