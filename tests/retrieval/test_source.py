import json
import shutil

import pytest

from hub_datasets.layout import export_hub_layout
from tests.hub_server import Repository, hub_server
from tests.retrieval.test_stock_mteb import RANDOM, assert_one_line_error, by_subset, results
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS
from turkic_idiom_tasks.retrieval.source import LexiconSource, current_source, open_source


@pytest.fixture
def layout(lexicon, tmp_path):
    export_hub_layout(lexicon, tmp_path / "layout")
    return tmp_path / "layout"


@pytest.fixture(autouse=True)
def _fresh_cache():
    open_source.cache_clear()


def test_a_local_hub_layout_holds_what_the_lexicon_holds(lexicon, layout):
    ours = LexiconSource.of(lexicon, "lexicon")
    theirs = open_source(str(layout))
    for task in TASKS:
        assert theirs.subsets(task) == ours.subsets(task)
        for subset in ours.subsets(task):
            assert dict(theirs.load(task, subset).queries) == dict(ours.load(task, subset).queries)
            assert dict(theirs.load(task, subset).documents) == dict(ours.load(task, subset).documents)
            assert theirs.load(task, subset).qrels == ours.load(task, subset).qrels
    assert len(theirs.revision) == 40


def test_the_revision_of_a_local_layout_follows_its_content(layout, tmp_path):
    before = open_source(str(layout)).revision
    shutil.copytree(layout, tmp_path / "copy")
    assert open_source(str(tmp_path / "copy")).revision == before
    (tmp_path / "copy" / "README.md").write_text((layout / "README.md").read_text() + "\nchanged\n")
    open_source.cache_clear()
    assert open_source(str(tmp_path / "copy")).revision != before


def test_a_dataset_on_the_hub_at_a_revision_scores_like_the_lexicon(command, tmp_path, lexicon_directory, layout):
    repository = Repository("tester/turkic-idioms")
    pinned = repository.commit(layout)
    (layout / "README.md").write_text("---\nconfigs: []\n---\nemptied later\n")
    shutil.rmtree(layout / "data")
    repository.commit(layout)
    arguments = ("mteb", "run", "-m", RANDOM, "-t", "TurkicIdiomT3")
    with hub_server([repository]) as (url, requests):
        online = {
            "HF_ENDPOINT": url,
            "HF_HUB_OFFLINE": "0",
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
        }
        hub = command(*arguments, "--output-folder", tmp_path / "hub", data=f"tester/turkic-idioms@{pinned}", **online)
        assert hub.returncode == 0, hub.stderr
        assert any("tur-azj" in request for request in requests)
        absent = command(*arguments, "--output-folder", tmp_path / "no", data="tester/turkic-idioms@v9", **online)
        assert_one_line_error(absent, "tester/turkic-idioms@v9: cannot be read from the Hub")
        unknown = command(*arguments, "--output-folder", tmp_path / "no", data="tester/absent", **online)
        assert_one_line_error(unknown, "tester/absent: cannot be read from the Hub")
    local = command(*arguments, "--output-folder", tmp_path / "local", data=lexicon_directory)
    assert local.returncode == 0, local.stderr
    from_hub, from_lexicon = (results(tmp_path / name, "TurkicIdiomT3") for name in ("hub", "local"))
    assert from_hub["dataset_revision"] == pinned
    for subset, row in by_subset(from_lexicon).items():
        assert by_subset(from_hub)[subset]["ndcg"] == row["ndcg"]


def test_data_that_cannot_be_used(tmp_path, layout, monkeypatch):
    with pytest.raises(InputError, match="no such directory, and not a dataset on the Hub"):
        open_source(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match=r"empty: neither a lexicon \(none of tr.jsonl.*nor a dataset in the Hub layout"
    ):
        open_source(str(tmp_path / "empty"))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "test.jsonl").write_text(json.dumps({"text": "göz"}) + "\n")
    (tmp_path / "foreign" / "README.md").write_text(
        "---\nconfigs:\n- {config_name: sts, data_files: test.jsonl}\n---\n"
    )
    with pytest.raises(
        InputError, match=r"no config of a retrieval task; expected such as T1-tur-azj-queries, .*found sts"
    ):
        open_source(str(tmp_path / "foreign"))
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="absent"):
        current_source()


def test_qrels_must_name_documents_of_the_corpus(layout):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = layout / "data" / "T2-tur-qrels" / "test.parquet"
    table = pq.read_table(path)
    broken = table.set_column(table.column_names.index("corpus-id"), "corpus-id", pa.array(["tur:absent"] * len(table)))
    pq.write_table(broken, path)
    with pytest.raises(
        InputError, match=r"T2-tur-\*: query 'tur:t-.*names the document 'tur:absent', which is not in the corpus"
    ):
        open_source(str(layout)).load("T2", "tur")


def test_bundled_data_serves_every_subset():
    source = LexiconSource.of(load_lexicon(), "bundled")
    for task in TASKS:
        assert source.subsets(task) == SUBSETS[task]
