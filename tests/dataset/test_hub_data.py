"""Datasets in the Hub layout that somebody else made: read right, or refused in one line that names the place."""

import json
import os
import re
import shutil
import unicodedata

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, List, Value
from datasets import Dataset as ArrowDataset

from tests.dataset.conftest import ROW, write_config
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.hub_layout import declared_configs
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import printable
from turkic_idiom_tasks.spans import LABELS, Span
from turkic_idiom_tasks.splits import SPAN_SPLITS

O, B, I = LABELS  # noqa: E741
OTHER = ROW | {"id": "s2", "sentence": "Ona göz yumdu.", "tokens": ["Ona", "göz", "yumdu", "."]}
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
WHOLE = {
    "T2-tur-queries": [{"id": "q1", "text": "göz yummak"}, {"id": "q2", "text": "baş olmak"}],
    "T2-tur-corpus": CORPUS,
    "T2-tur-qrels": QRELS,
    "span-tr": [ROW],
    "lexicon-tr": [ENTRY, ENTRY | {"concept": "b"}],
}


def message_of(call, *arguments, **options):
    """Return the message of the error that a call raises: one line, nothing that acts on a terminal."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert printable(message) == message
    return message


@pytest.fixture
def whole(tmp_path):
    """A function that writes a dataset with configs of every kind, some of them changed, and returns its folder."""

    def write(changes=None, *, kind="jsonl"):
        folder = tmp_path / "whole"
        shutil.rmtree(folder, ignore_errors=True)
        for config, rows in (WHOLE | (changes or {})).items():
            write_config(folder, config, rows if isinstance(rows, dict) else {"test": rows}, kind=kind)
        return folder

    return write


# what is right


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_data_is_read_as_it_stands(whole, kind):
    trained = ROW | {"id": "s0", "sentence": "Buna da göz yumdu."}
    by_name = OTHER | {"ner_tags": ["O", "B-IDIOM", "I-IDIOM", "O"]}
    rows = {"train": [trained], "validation": [by_name], "test": [ROW, ROW | {"id": "s3"}]}
    folder = whole({"span-tr": rows}, kind=kind)
    dataset = open_dataset(str(folder))
    assert (dataset.path, dataset.span_languages) == (str(folder), ("tr",))
    assert re.fullmatch("[0-9a-f]{40}", dataset.revision)
    assert (dataset.subsets("T1"), dataset.subsets("T2")) == ((), ("tur",))
    data = dataset.retrieval("T2", "tur")
    assert data.queries == {"q1": "göz yummak", "q2": "baş olmak"}
    assert data.documents == {"d1": "görmemek", "d2": "yönetmek", "d3": "gitmek"}
    assert data.qrels == {"q1": {"d1": 1}, "q2": {"d2": 1}}
    assert data.strict_qrels is None
    assert dataset.pool("T2", "tur").relevant == [[0], [1]]
    sentences = dataset.sentences("tr")
    names = {split: [row.id for row in rows] for split, rows in sentences.items()}
    assert names == {"train": ["s0"], "validation": ["s2"], "test": ["s1", "s3"]}
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


def test_the_revision_follows_the_content_and_not_the_place_and_is_that_of_what_is_read(whole, tmp_path):
    dataset = open_dataset(str(whole()))
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    assert open_dataset(str(tmp_path / "copy")).revision == dataset.revision
    changed = whole({"T2-tur-corpus": [*CORPUS, {"id": "d4", "text": "a"}]})
    assert open_dataset(str(changed)).revision != dataset.revision
    assert "T2-tur-corpus/test.jsonl: was changed since" in message_of(dataset.retrieval, "T2", "tur")


# what cannot be right


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
def test_a_small_parquet_file_that_stands_for_much_is_refused_before_it_is_unpacked(whole, texts, message):
    folder = whole(kind="parquet")
    path = folder / "data/T2-tur-corpus/test.parquet"
    column = texts()
    table = pa.table({"id": pa.nulls(len(column), pa.string()), "text": column})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**24)
    assert path.stat().st_size < 100_000
    assert message in message_of(open_dataset(str(folder)).retrieval, "T2", "tur")


def test_data_without_a_task_a_test_sentence_or_entries_for_training_is_refused(hub_layout):
    for config, split in (("lexicon-tr", "test"), ("span-tr", "train")):
        text = message_of(open_dataset, str(hub_layout({split: [ROW]}, config=config, name=split)))
        assert "no config of a task, such as T1-tur-azj-queries" in text
        assert text.endswith(f"it has {config}")
    folder = hub_layout({"train": [ROW], "test": [ROW]}, kind="parquet", name="empty test")
    with pytest.raises(InputError, match=r"holds test queries only \(no config such as lexicon-tr\)"):
        _ = open_dataset(str(folder)).lexicon
    path = folder / "data" / "span-tr" / "test.parquet"
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    text = message_of(open_dataset(str(folder)).sentences, "tr")
    assert "no annotated test sentence in Turkish (tr); languages that have some: none" in text


def test_numbers_of_other_labels_are_refused(hub_layout):
    """`datasets` writes the names of a ClassLabel into the parquet file."""
    folder = hub_layout({"test": [ROW]}, kind="parquet")
    texts = {name: Value("string") for name in ("id", "idiom", "sentence")} | {"tokens": List(Value("string"))}
    for order in (LABELS, (B, I, O)):
        features = Features(texts | {"ner_tags": List(ClassLabel(names=list(order)))})
        path = folder / "data" / "span-tr" / "test.parquet"
        ArrowDataset.from_list([ROW], features=features).to_parquet(str(path))
        dataset = open_dataset(str(folder))
        if order == LABELS:
            assert len(dataset.sentences("tr")["test"]) == 1
        else:
            text = message_of(dataset.sentences, "tr")
            assert "ner_tags are numbers of B-IDIOM, I-IDIOM, O; number them as O, B-IDIOM" in text


JUDGED = {"first": "b", "second": "turn-a-blind-eye", "judgement": "same"}


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
        ("span-tr", span(ner_tags=[0, True, True, 0]), "'ner_tags.1': use O, B-IDIOM, I-IDIOM"),
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
def test_data_that_cannot_be_right_is_refused(whole, config, rows, message):
    folder = whole({config: rows})
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
        ("test.jsonl", lambda data: b"[1]\n", "test.jsonl:1: must be an object; found [1]"),
        ("test.parquet", lambda data: data[:50] + bytes(200) + data[250:], "test.parquet: "),
    ],
)
def test_a_broken_file_is_one_line(hub_layout, name, damage, message):
    folder = hub_layout({"test": [ROW, ROW | {"id": "s2"}]}, kind=name.partition(".")[2])
    path = folder / "data" / "span-tr" / name
    path.write_bytes(damage(path.read_bytes()))
    text = message_of(open_dataset(str(folder)).sentences, "tr")
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
        # Without it other data would count without a word
        (f"{PATH}data/y.jsonl", "there is no file 'data/y.jsonl'; correct it"),
        (f"{PATH}data/y-*", "there is no file 'data/y-*'; correct it"),
        (f"{PATH}data/y-*.parquet", "there is no file 'data/y-*.parquet'; correct it"),
        (f"{PATH}data/linked.jsonl", "leads through a symbolic link"),
        (f"{PATH}'linked/*.jsonl'", "leads through a symbolic link"),
        ("configs:\n- config_name: span-tr", "field 'configs.0.data_files' is missing"),
        ("7", "must be an object"),
        ("configs: &a [*a]", "an alias"),
        (
            "configs:\n- &c {config_name: a, data_files: data/x.jsonl}\n- {config_name: a, data_files: data/x.jsonl}",
            "appears twice",
        ),
    ],
)
def test_a_readme_names_files_that_are_there_and_none_outside_its_folder(tmp_path, block, message):
    folder = readme_of(tmp_path / "hub", block)
    secrets = tmp_path / "secrets"
    for place in (folder / "data", secrets):
        place.mkdir()
        (place / "x.jsonl").write_text(json.dumps(ROW) + "\n")
    (folder / "linked").symlink_to(secrets)
    (folder / "data" / "linked.jsonl").symlink_to(secrets / "x.jsonl")
    text = message_of(open_dataset, str(folder))
    assert text.startswith(f"{folder / 'README.md'}: its YAML block: ")
    assert message in text


def test_a_readme_that_is_no_text_or_declares_nothing(tmp_path):
    assert "no such directory, and not a dataset on the Hub" in message_of(open_dataset, "absent")
    declares_nothing = ["neither a lexicon (none of tr.jsonl", "nor a dataset in the Hub layout"]
    for data, parts in [
        (b"---\nconfigs: []\n---\n", declares_nothing),
        (b"no block", declares_nothing),
        (b"---\n---\n", declares_nothing),
        (b"---\na: \xff\n---\n", ["not UTF-8"]),
        (b"\xef\xbb\xbf---\na: 1\n---\n", ["byte order mark"]),
    ]:
        (tmp_path / "README.md").write_bytes(data)
        text = message_of(open_dataset, str(tmp_path))
        assert all(part in text for part in parts)


def test_several_files_and_patterns_make_one_split_without_files_of_other_formats(tmp_path):
    other = "- config_name: span-az\n  data_files: data/*.csv"
    folder = readme_of(tmp_path / "hub", f"{PATH}[data/test-*, 'more/**/*.jsonl']\n{other}")
    names = ("data/test-0.jsonl", "data/test-1.jsonl", "more/deep/er/x.jsonl", "data/other.jsonl", "data/test-2.csv")
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ROW | {"id": f"s{number}"}) + "\n")
    dataset = open_dataset(str(folder))
    assert dataset.span_languages == ("tr",)
    assert [row.id for row in dataset.sentences("tr")["test"]] == ["s0", "s1", "s2"]


def test_a_download_is_links_into_the_cache_of_the_client_and_nowhere_else(tmp_path):
    """The client's folder: snapshots/<commit>/ with links into blobs/."""
    blobs, others = (tmp_path / f"datasets--org--{name}" / "blobs" for name in ("name", "private"))
    snapshot = blobs.parent / "snapshots" / ("0" * 40)
    for folder in (blobs, others, snapshot / "data"):
        folder.mkdir(parents=True)
    (blobs / "abc").write_text(json.dumps(ROW) + "\n")
    (others / "x.jsonl").write_text("secret\n")
    for pattern, name in (("*.jsonl", "y.jsonl"), ("data/*.jsonl", "data/x.jsonl")):
        path = snapshot / name
        readme_of(snapshot, f"{PATH}'{pattern}'")
        path.symlink_to(os.path.relpath(blobs / "abc", path.parent))
        assert declared_configs(snapshot, cache=blobs) == {"span-tr": {"test": (path,)}}
    link = snapshot / "data" / "x.jsonl"
    link.unlink()
    link.symlink_to(others / "x.jsonl")
    assert "leads out of the cache" in message_of(declared_configs, snapshot, cache=blobs)
    link.unlink()
    link.parent.rmdir()
    link.parent.symlink_to(others)
    assert "symbolic link" in message_of(declared_configs, snapshot, cache=blobs)
