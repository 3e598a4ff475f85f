"""Datasets in the Hub layout that somebody else made: read right, or refused in one line that names the place."""

import json
import re
import shutil
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, List, Value
from datasets import Dataset as ArrowDataset

from tests.dataset.conftest import ROW, write_config
from turkic_idiom_tasks.dataset import hub_layout as layout_module
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import SPAN_SPLITS

O, B, I = LABELS  # noqa: E741
QUERIES = [{"id": "q1", "text": "göz yummak"}, {"id": "q2", "text": "baş olmak"}]
CORPUS = [{"id": "d1", "text": "görmemek"}, {"id": "d2", "text": "yönetmek"}, {"id": "d3", "text": "gitmek"}]
QRELS = [
    {"query-id": "q1", "corpus-id": "d1", "score": 1},
    {"query-id": "q2", "corpus-id": "d2", "score": 1},
    {"query-id": "q2", "corpus-id": "d3", "score": 0},
]
ENTRY = {
    "concept": "turn-a-blind-eye",
    "gloss": "to ignore",
    "idiom": "göz yummak",
    "meaning": "görmezden gelmek",
    "example": "Buna göz yumdu.",
    "spans": [[5, 14]],
    "variants": ["gözünü yummak"],
}


def message_of(call):
    """Return the message of the error that a call raises: one line, nothing that acts on a terminal."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert printable(message) == message
    return message


@pytest.fixture
def retrieval(tmp_path):
    """A function that writes T2-tur with some of its parts changed; strict judgements only if they are given."""

    def write(queries=QUERIES, corpus=CORPUS, qrels=QRELS, strict=None, kind="jsonl"):
        folder = tmp_path / "retrieval"
        shutil.rmtree(folder, ignore_errors=True)
        parts = {"queries": queries, "corpus": corpus, "qrels": qrels} | ({"strict-qrels": strict} if strict else {})
        for part, rows in parts.items():
            write_config(folder, f"T2-tur-{part}", {"test": rows}, kind=kind)
        return folder

    return write


# retrieval


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_retrieval_data_is_read_as_it_stands(retrieval, kind):
    dataset = open_dataset(str(retrieval(kind=kind)))
    assert dataset.subsets("T2") == ("tur",)
    assert dataset.subsets("T1") == ()
    data = dataset.retrieval("T2", "tur")
    assert data.queries == {"q1": "göz yummak", "q2": "baş olmak"}
    assert data.documents == {"d1": "görmemek", "d2": "yönetmek", "d3": "gitmek"}
    assert data.qrels == {"q1": {"d1": 1}, "q2": {"d2": 1}}
    assert dataset.pool("T2", "tur").relevant == [[0], [1]]
    assert re.fullmatch("[0-9a-f]{40}", dataset.revision)


@pytest.mark.parametrize("pattern", ["test.jsonl", "test-*", "test-*.parquet", "*"])
def test_a_declared_file_that_is_not_there_is_named(retrieval, pattern):
    """Without it other documents would count without a word; files of another format match and are left out."""
    folder = retrieval(strict=QRELS)
    (folder / "data/T2-tur-strict-qrels/test.jsonl").rename(folder / "data/T2-tur-strict-qrels/other.csv")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("strict-qrels/test.jsonl", f"strict-qrels/{pattern}"))
    if pattern == "*":
        assert open_dataset(str(folder)).retrieval("T2", "tur").strict_qrels is None
        return
    message = message_of(lambda: open_dataset(str(folder)))
    assert message.startswith(f"{readme}: ")
    assert f"there is no file 'data/T2-tur-strict-qrels/{pattern}'; correct it" in message


def repeated(text, n):
    """A text in each of n rows, which parquet stores once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text]))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (lambda: pa.nulls(20_000_000, pa.string()), "more than the 10,000,000 values"),
        (lambda: repeated("x" * 6_000_000, 100), "more than the 536,870,912 bytes"),
        (
            lambda: pa.ListArray.from_arrays([0, 100], repeated("x" * 6_000_000, 100).cast(pa.string())),
            "more than the 536,870,912 bytes",
        ),
        (lambda: pa.array([b"x" * 2_000_000] * 10, pa.binary(2_000_000)), "more than the 10,000,000 values"),
    ],
)
def test_a_small_parquet_file_that_stands_for_much_is_refused_before_it_is_unpacked(retrieval, texts, message):
    folder = retrieval(kind="parquet")
    path = folder / "data/T2-tur-corpus/test.parquet"
    column = texts()
    table = pa.table({"id": pa.nulls(len(column), pa.string()), "text": column})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**24)
    assert path.stat().st_size < 100_000
    assert message in message_of(lambda: open_dataset(str(folder)).retrieval("T2", "tur"))


def test_the_revision_follows_the_content_and_not_the_place_and_is_that_of_what_is_read(retrieval, tmp_path):
    dataset = open_dataset(str(retrieval()))
    shutil.copytree(tmp_path / "retrieval", tmp_path / "copy")
    assert open_dataset(str(tmp_path / "copy")).revision == dataset.revision
    assert open_dataset(str(retrieval(corpus=[*CORPUS, {"id": "d4", "text": "a"}]))).revision != dataset.revision
    message = message_of(lambda: dataset.retrieval("T2", "tur"))
    assert "T2-tur-corpus/test.jsonl: was changed since" in message


# spans


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_sentences_of_three_splits(hub_layout, kind):
    by_name = ROW | {"id": "s2", "sentence": "Ona göz yumdu.", "tokens": ["Ona", "göz", "yumdu", "."]}
    by_name["ner_tags"] = ["O", "B-IDIOM", "I-IDIOM", "O"]
    trained = ROW | {"id": "s0", "sentence": "Buna da göz yumdu.", "tokens": ["Buna", "göz", "yumdu", "."]}
    rows = {"train": [trained], "validation": [by_name], "test": [ROW, ROW | {"id": "s3"}]}
    folder = hub_layout(rows, kind=kind)
    dataset = open_dataset(str(folder))
    assert (dataset.path, dataset.span_languages) == (str(folder), ("tr",))
    sentences = dataset.sentences("tr")
    assert {split: [row.id for row in rows] for split, rows in sentences.items()} == {
        "train": ["s0"],
        "validation": ["s2"],
        "test": ["s1", "s3"],
    }
    assert all(row.tags == (O, B, I, O) and row.language == "tr" for rows in sentences.values() for row in rows)
    assert sentences["test"][0].spans() == (Span(5, 14),)


def test_texts_and_numbers_in_other_forms(hub_layout):
    """Texts that are not in NFC are composed, ids may be numbers, and pandas writes whole numbers as floats."""
    decomposed = json.loads(unicodedata.normalize("NFD", json.dumps(ROW, ensure_ascii=False)))
    numbers = OTHER | {"id": 2, "ner_tags": [0.0, 1.0, 2.0, 0.0]}
    sentences = open_dataset(str(hub_layout({"test": [decomposed, numbers]}))).sentences("tr")
    assert [len(sentences[split]) for split in SPAN_SPLITS] == [0, 0, 2]  # a test split alone is enough
    first, second = sentences["test"]
    assert (first.sentence, list(first.tokens)) == (ROW["sentence"], ROW["tokens"])
    assert [(row.id, row.tags) for row in (first, second)] == [("s1", (O, B, I, O)), ("2", (O, B, I, O))]


def test_data_without_a_task_a_test_sentence_or_entries_for_training_is_refused(hub_layout):
    text = message_of(lambda: open_dataset(str(hub_layout({"test": [ROW]}, config="lexicon-tr"))))
    assert "no config of a task, such as T1-tur-azj-queries" in text
    assert text.endswith("it has lexicon-tr")
    train_only = hub_layout({"train": [ROW]}, name="train only")
    assert "no config of a task" in message_of(lambda: open_dataset(str(train_only)))
    folder = hub_layout({"train": [ROW], "test": [ROW]}, kind="parquet", name="empty test")
    dataset = open_dataset(str(folder))
    assert "holds test queries only (no config such as lexicon-tr)" in message_of(lambda: dataset.lexicon)
    path = folder / "data" / "span-tr" / "test.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    assert "no annotated test sentence" in message_of(lambda: open_dataset(str(folder)).sentences("tr"))


def test_numbers_of_other_labels_are_refused(tmp_path):
    """`datasets` writes the names of a ClassLabel into the parquet file."""
    texts = {name: Value("string") for name in ("id", "idiom", "sentence")}
    for order, is_ours in ((["O", "B-IDIOM", "I-IDIOM"], True), (["B-IDIOM", "I-IDIOM", "O"], False)):
        folder = tmp_path / order[0]
        write_config(folder, "span-tr", {"test": []})
        features = Features(texts | {"tokens": List(Value("string")), "ner_tags": List(ClassLabel(names=order))})
        row = {key: [ROW[key]] for key in ("idiom", "sentence", "tokens", "ner_tags")} | {"id": ["s1"]}
        path = folder / "data" / "span-tr" / "test.parquet"
        ArrowDataset.from_dict(row, features=features).to_parquet(str(path))
        (folder / "README.md").write_text((folder / "README.md").read_text().replace(".jsonl", ".parquet"))
        if is_ours:
            assert len(open_dataset(str(folder)).sentences("tr")["test"]) == 1
        else:
            text = message_of(lambda folder=folder: open_dataset(str(folder)).sentences("tr"))
            assert "ner_tags are numbers of B-IDIOM, I-IDIOM, O; number them as O, B-IDIOM" in text


OTHER = ROW | {"id": "s2", "sentence": "Ona göz yumdu.", "tokens": ["Ona", "göz", "yumdu", "."]}
JUDGED = {"first": "b", "second": "turn-a-blind-eye", "judgement": "same"}
WHOLE = {
    "T2-tur-queries": QUERIES,
    "T2-tur-corpus": CORPUS,
    "T2-tur-qrels": QRELS,
    "span-tr": [ROW],
    "lexicon-tr": [ENTRY, ENTRY | {"concept": "b"}],
}


def span(**change):
    return [ROW | change]


@pytest.mark.parametrize(
    ("config", "rows", "message"),
    [
        ("T2-tur-corpus", [*CORPUS, {"id": "d1", "text": "öbür"}], "split test, id 'd1': appears twice"),
        ("T2-tur-corpus", [*CORPUS, {"id": "d4", "text": "\u200b \u2800"}], "field 'text': is empty; found '\\u200b"),
        ("T2-tur-corpus", [*CORPUS, {"id": None, "text": "a"}], "id None: field 'id': is neither a text nor a whole"),
        ("T2-tur-queries", [{"id": 1.5, "text": "a"}], "id 1.5: field 'id': is neither a text nor"),
        ("T2-tur-queries", [{"id": True, "text": "a"}], "id True: field 'id': is neither a text nor"),
        ("T2-tur-queries", [{"id": "q1", "query": "a"}], "config T2-tur-queries lacks the columns ['text']"),
        ("T2-tur-qrels", [QRELS[0] | {"score": True}], "score': relevance is binary here, write 1 or 0; found True"),
        ("T2-tur-qrels", [*QRELS, QRELS[0] | {"score": 0}], "query-id 'q1': the document 'd1' is judged twice"),
        ("T2-tur-qrels", [*QRELS, QRELS[0] | {"corpus-id": "d9"}], "query 'q1' names the document 'd9', which is not"),
        ("T2-tur-qrels", [*QRELS, QRELS[0] | {"query-id": "q9"}], "qrels name the query 'q9', which is not among"),
        ("T2-tur-qrels", QRELS[:1], "query 'q2' has no relevant document"),
        ("T2-tur-strict-qrels", [QRELS[0], QRELS[1] | {"score": 2}], "query-id 'q2': field 'score': relevance is"),
        ("T2-tur-strict-qrels", QRELS[:1], "query 'q2' has no relevant document in the strict qrels"),
        ("T2-tur-strict-qrels", [*QRELS, QRELS[0] | {"corpus-id": "d3"}], "'d3' in its strict qrels only; add"),
        ("span-tr", span(ner_tags=[0, 1, 2]), "id 's1': needs as many tokens as ner_tags; found 4 and 3"),
        ("span-tr", span(tokens=[], ner_tags=[]), "field 'tokens': Tuple should have at least 1 item"),
        ("span-tr", span(ner_tags=[0, 1, 3, 0]), "'ner_tags.2': use O, B-IDIOM, I-IDIOM or their numbers 0, 1, 2; f"),
        ("span-tr", span(tokens=["Buna", "göz", "yumdum", "."]), "token 'yumdum' is not in the sentence"),
        ("span-tr", span(sentence="\u2060\u200d"), "field 'sentence': is empty"),
        ("span-tr", [ROW, ROW], "split test, id 's1': stands in the split test already"),
        ("span-tr", {"train": [ROW], "test": [ROW]}, "split test, id 's1': stands in the split train already"),
        ("span-tr", {"train": [ROW], "test": span(id="s2")}, "id 's2': its idiom and sentence are in the split train"),
        ("lexicon-tr", [ENTRY | {"spans": [[5, 99]]}], "span [5, 99] is not inside the example"),
        ("lexicon-tr", [ENTRY | {"gloss": 7}], "field 'gloss': Input should be a valid string; found 7"),
        ("lexicon-tr", [ENTRY | {"status": '{"a": 1, "a": 2}'}], "field 'status': the key 'a' appears twice"),
        ("lexicon-tr", [ENTRY, ENTRY], "concept 'turn-a-blind-eye': appears twice"),
        ("equivalents", [JUDGED, JUDGED | {"judgement": "near"}], "'b' and 'turn-a-blind-eye' are judged twice; rem"),
        ("equivalents", [JUDGED | {"first": "x\u202e"}], "concept 'x\\u202e' is not in the lexicon; add it"),
    ],
)
def test_data_that_cannot_be_right_is_refused(tmp_path, config, rows, message):
    folder = tmp_path / "hub"
    for name, right in (WHOLE | {config: rows}).items():
        write_config(folder, name, right if isinstance(right, dict) else {"test": right})
    dataset = open_dataset(str(folder))
    text = message_of(lambda: (dataset.retrieval("T2", "tur"), dataset.sentences("tr"), dataset.lexicon))
    assert text.startswith(str(folder))
    assert f"config {config[:6]}" in text
    assert message in text


# files and their README


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("test.jsonl", lambda data: data[:-30], "test.jsonl:2: malformed JSON"),
        ("test.jsonl", lambda data: b"[1]\n", "test.jsonl:1: damaged (must be an object)"),
        ("test.parquet", lambda data: data[:50] + bytes(200) + data[250:], "test.parquet: "),
    ],
)
def test_a_broken_file_is_one_line(hub_layout, name, damage, message):
    folder = hub_layout({"test": [ROW, ROW | {"id": "s2"}]}, kind=name.partition(".")[2])
    path = folder / "data" / "span-tr" / name
    path.write_bytes(damage(path.read_bytes()))
    text = message_of(lambda: open_dataset(str(folder)).sentences("tr"))
    assert text.startswith(str(folder))
    assert f"span-tr/{message}" in text or f"config span-tr cannot be read: {message}" in text


def readme_of(folder, block):
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text(f"---\n{block}\n---\ntext\n", "utf-8")
    return folder


PATH = "configs:\n- config_name: span-tr\n  data_files:\n  - split: test\n    path: "


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (f"{PATH}/etc/*.jsonl", "the path '/etc/*.jsonl' is not one inside the folder"),
        (f"{PATH}'**x.jsonl'", "the path '**x.jsonl' cannot be used"),
        (f"{PATH}data/linked.jsonl", "leads through a symbolic link"),
        (f"{PATH}'linked/*.jsonl'", "leads through a symbolic link"),
        ("configs:\n- config_name: span-tr", "'configs.0.data_files': Field required"),
        ("7", "must be an object"),
        ("configs: &a [*a]", "an alias"),
        (
            "configs:\n- &c {config_name: a, data_files: data/x.jsonl}\n- {config_name: a, data_files: data/x.jsonl}",
            "appears twice",
        ),
    ],
)
def test_a_readme_reaches_nothing_outside_its_folder(tmp_path, block, message):
    folder = readme_of(tmp_path / "hub", block)
    (folder / "data").mkdir()
    (folder / "data" / "x.jsonl").write_text(json.dumps(ROW) + "\n")
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "x.jsonl").write_text(json.dumps(ROW) + "\n")
    (folder / "linked").symlink_to(secrets)
    (folder / "data" / "linked.jsonl").symlink_to(secrets / "x.jsonl")
    text = message_of(lambda: open_dataset(str(folder)))
    assert text.startswith(f"{folder / 'README.md'}: its YAML block: ")
    assert message in text


def test_a_readme_that_is_no_text_or_declares_nothing(tmp_path):
    assert "no such directory, and not a dataset on the Hub" in message_of(lambda: open_dataset("absent"))
    for data in (b"---\nconfigs: []\n---\n", b"no block", b"---\n---\n"):
        (tmp_path / "README.md").write_bytes(data)
        text = message_of(lambda: open_dataset(str(tmp_path)))
        assert "neither a lexicon (none of tr.jsonl" in text
        assert "nor a dataset in the Hub layout" in text
    for data, message in [(b"---\na: \xff\n---\n", "not UTF-8"), (b"\xef\xbb\xbf---\na: 1\n---\n", "byte order mark")]:
        (tmp_path / "README.md").write_bytes(data)
        assert message in message_of(lambda: open_dataset(str(tmp_path)))


def test_several_files_and_patterns_make_one_split(tmp_path):
    folder = readme_of(tmp_path / "hub", f"{PATH}[data/test-*.jsonl, 'more/**/*.jsonl']")
    for number, name in enumerate(
        ("data/test-0.jsonl", "data/test-1.jsonl", "more/deep/er/x.jsonl", "data/other.jsonl")
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ROW | {"id": f"s{number}"}) + "\n")
    assert [row.id for row in open_dataset(str(folder)).sentences("tr")["test"]] == ["s0", "s1", "s2"]


def test_a_download_is_links_into_the_cache_of_the_client_and_nowhere_else(tmp_path):
    """The client's folder: snapshots/<commit>/ with links into blobs/."""
    blobs = tmp_path / "datasets--org--name" / "blobs"
    snapshot = blobs.parent / "snapshots" / ("0" * 40)
    blobs.mkdir(parents=True)
    (snapshot / "data").mkdir(parents=True)
    readme_of(snapshot, f"{PATH}'data/*.jsonl'")
    (blobs / "abc").write_text(json.dumps(ROW) + "\n")
    (snapshot / "data" / "x.jsonl").symlink_to("../../../blobs/abc")
    assert layout_module.declared_configs(snapshot, cache=blobs) == {
        "span-tr": {"test": (snapshot / "data" / "x.jsonl",)}
    }
    readme_of(snapshot, f"{PATH}'*.jsonl'")
    (snapshot / "y.jsonl").symlink_to("../../blobs/abc")  # beside the README
    assert layout_module.declared_configs(snapshot, cache=blobs) == {"span-tr": {"test": (snapshot / "y.jsonl",)}}
    readme_of(snapshot, f"{PATH}'data/*.jsonl'")
    other = tmp_path / "datasets--org--private" / "blobs"
    other.mkdir(parents=True)
    (other / "abc").write_text("secret\n")
    (snapshot / "data" / "x.jsonl").unlink()
    (snapshot / "data" / "x.jsonl").symlink_to(other / "abc")
    assert "leads out of the cache" in message_of(lambda: layout_module.declared_configs(snapshot, cache=blobs))
    (snapshot / "data" / "x.jsonl").unlink()
    (snapshot / "data").rmdir()
    (snapshot / "data").symlink_to(other)
    (other / "x.jsonl").write_text("secret\n")
    assert "symbolic link" in message_of(lambda: layout_module.declared_configs(snapshot, cache=blobs))
