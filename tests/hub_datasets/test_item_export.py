"""The items as a second dataset on the Hub, read by the stock commands that know nothing of this package."""

import hashlib
from io import BytesIO

import pandas as pd
import pytest
import yaml

from hub_datasets.item_export import item_layout
from tests.items.model_server import answering
from tests.llm_server import running_llm
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.items import build_items, item_sets, items_of_set
from turkic_idiom_tasks.tasks.items.prompts import option_texts, question

REPO = "org/turkic-idiom-items"


@pytest.fixture(scope="module")
def layout(item_lexicon):
    return item_layout(load_lexicon(item_lexicon))


@pytest.fixture(scope="module")
def item_data(item_lexicon):
    return open_dataset(str(item_lexicon))


def rows(layout, config, split="test"):
    return pd.read_parquet(BytesIO(layout.contents[f"data/{config}/{split}.parquet"]))


def test_every_set_is_a_config_that_begins_with_its_language(layout, item_data):
    n_items = {}
    for item_set in item_sets():
        languages = [item_set.language, *([item_set.target] if item_set.kind == "equivalent" else [])]
        if not item_set.kind.endswith("rivals"):  # EuroEval has one set of labels for all configs
            n_items["_".join([*languages, item_set.kind])] = len(items_of_set(item_data, item_set))
    assert list(layout.configs) == [name for name, n in n_items.items() if n]
    assert {name: len(rows(layout, name)) for name in layout.configs}.items() <= n_items.items()
    assert set(layout.left_out) == {name for name, n in n_items.items() if not n}


def test_a_row_has_the_question_the_options_the_letter_and_the_traps(layout, item_data):
    for item, row in zip(
        build_items(item_data, "equivalent", "az", "uz"), rows(layout, "az_uz_equivalent").itertuples(), strict=False
    ):
        assert row.id == item.id
        assert row.options[LETTERS.index(row.answer)] == item.options[item.gold].text
        assert list(row.traps) == [option.trap or "" for option in item.options]
        assert row.traps[item.gold] == ""
        assert row.question.startswith("Which Uzbek idiom means the same as the Azerbaijani idiom?")
        assert item.idiom in row.question_native
        assert row.lexicon_revision == item_data.revision
    usage = rows(layout, "tr_usage").iloc[0]
    assert sorted(usage.options) == ["figuratively", "literally"]
    assert sorted(usage.options_native) == ["gerçek anlamda", "mecaz anlamda"]
    test_concepts = set(rows(layout, "tr_meaning").concept)
    assert not test_concepts & set(rows(layout, "tr_meaning", "train").concept)


def test_the_same_lexicon_gives_the_same_bytes_and_the_command_writes_them(layout, item_lexicon, dataset, tmp_path):
    out = tmp_path / "out"
    assert "gag_usage" in dataset("export", "--kind", "language-models", item_lexicon, "--out", out)[1]
    for path, content in layout.contents.items():
        assert (out / path).read_bytes() == content
    dataset("check", out)  # each file has the canary
    entries = yaml.safe_load(layout.contents["eval.yaml"])["tasks"]
    assert [entry["id"] for entry in entries] == list(layout.configs)


@pytest.mark.long
@pytest.mark.slow
def test_stock_inspect_reads_and_scores_it_from_the_hub(
    online_dataset, hub, session_online, command, item_lexicon, item_data, tmp_path
):
    inspect_log = pytest.importorskip("inspect_ai.log", reason="pip install 'turkic-idiom-tasks[inspect]'")
    arguments = ("export", item_lexicon, "--kind", "language-models", "--repo", REPO, "--yes")
    assert online_dataset(*arguments)[0].endswith(f"inspect eval hf/{REPO}@{hub.repository(REPO).main} --model MODEL\n")
    items = build_items(item_data, "usage", "uz")
    right = {question(item): LETTERS[item.gold] for item in items}

    def answer(prompt):
        return "ANSWER: " + next(letter for text, letter in right.items() if text in prompt)

    with running_llm(answering(answer), takes_all=True) as server:
        run = command(
            "inspect", "eval", f"hf/{REPO}/uz_usage", "--model", "openai-api/local/m", "--log-dir", "logs",
            "--display", "plain", LOCAL_API_KEY="none", LOCAL_BASE_URL=server.url, **session_online,
        )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(server.requests) == len(items)
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = inspect_log.read_eval_log(str(path))
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert [sample.metadata["id"] for sample in log.samples] == [item.id for item in items]
    shown = server.requests[0]["messages"][-1]["content"]
    for text in option_texts(items[0]):
        assert text in shown


def test_a_share_of_the_concepts_is_held_out_by_a_secret(layout, item_lexicon, dataset, tmp_path):
    (tmp_path / "salt").write_text("a secret\n", "utf-8")
    arguments = ("export", "--kind", "language-models", item_lexicon, "--out", tmp_path / "out")
    dataset(*arguments, "--hold-out", 0.3, tmp_path / "salt")
    ids = []
    for folder in ("out", "out-held-out"):
        paths = sorted((tmp_path / folder / "data").glob("*/test.parquet"))
        ids.append({row for path in paths for row in pd.read_parquet(path).id})
    concepts = [{name.split("/")[1] for name in part} for part in ids]
    assert concepts[0].isdisjoint(concepts[1])
    assert ids[0] | ids[1] == {row for config in layout.configs for row in rows(layout, config).id}
    # which concepts, by the definition of HMAC (RFC 2104) on SHA-256
    block = b"a secret".ljust(64, b"\0")
    for concept in concepts[0] | concepts[1]:
        inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + concept.encode()).digest()
        digest = hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).digest()
        assert (concept in concepts[1]) == (int.from_bytes(digest[:8], "big") / 2**64 < 0.3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine", "utf-8")
    dataset(*arguments[:-1], tmp_path / "mine", "--hold-out", 0.3, tmp_path / "salt", code=1)
    assert not (tmp_path / "mine-held-out").exists()  # nothing is held out where the other folder is refused
    assert "absent: cannot be read" in dataset(*arguments, "--hold-out", 0.3, tmp_path / "absent", code=1)[1]
    (tmp_path / "salt").write_text("\n", "utf-8")
    assert "secret" in dataset(*arguments, "--hold-out", 0.3, tmp_path / "salt", code=2)[1]
