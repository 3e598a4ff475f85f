"""The item tasks through lm-eval's own API, with models whose every answer is known."""

import json
import math
import random
from pathlib import Path

import pytest

from tests.lm_eval_runs import Scripted, evaluate, our_tasks
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import TASK_FOLDER, lm_eval_items, lm_eval_yaml
from turkic_idiom_tasks.harnesses.siblings import lm_eval_astitch_yaml
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import VARIANTS, prompt
from turkic_idiom_tasks.tasks.items.scoring import score_items


def gold(document):
    return document["answer"]


def test_the_task_files_are_what_the_template_writes():
    for folder, texts in (
        (lm_eval_yaml.FOLDER, lm_eval_yaml.files()),
        (TASK_FOLDER, lm_eval_yaml.span_files()),
        (lm_eval_astitch_yaml.FOLDER, lm_eval_astitch_yaml.files()),
    ):
        assert {name: (folder / name).read_text("utf-8") for name in texts} == texts
        if folder != TASK_FOLDER:
            assert {path.name for path in folder.glob("*.yaml")} <= set(texts)


def test_every_name_of_the_documentation_is_known(manager):
    tasks, groups = set(manager.all_subtasks), set(manager.all_groups)
    codes = ("tr", "az", "tk", "gag", "uz")
    for ending in ("", "_gen"):
        assert {f"turkic_idiom_meaning_{code}{ending}" for code in codes} <= tasks
        assert {f"turkic_idiom_cloze_{code}{ending}" for code in codes} <= tasks
        assert {f"turkic_idiom_usage_{code}{ending}" for code in ("tr", "az", "tk", "uz")} <= tasks
        pairs = {f"turkic_idiom_equivalent_{a}_{b}{ending}" for a in codes for b in codes if a != b}
        assert len(pairs) == 20
        assert pairs <= tasks
        for kind in ("meaning", "equivalent", "usage", "cloze", "lm"):
            assert {f"turkic_idiom_{kind}{ending}", f"turkic_idiom_{kind}{ending}_prompts"} <= groups
    assert {f"turkic_idiom_cloze_open_{code}" for code in codes} <= tasks
    everything = manager.task_index["turkic_idiom_lm"].cfg["task"]
    assert everything == [f"turkic_idiom_{kind}" for kind in ("meaning", "equivalent", "usage", "cloze", "cloze_open")]


def test_a_model_that_is_always_right(manager):
    tasks = ["turkic_idiom_usage", "turkic_idiom_usage_tk_gen", "turkic_idiom_meaning_gag",
             "turkic_idiom_meaning_gag_gen", "turkic_idiom_cloze_open_gag"]  # fmt: skip
    results = evaluate(gold, tasks, manager)
    for name, row in results["results"].items():
        filters = ("strict", "flexible") if name.endswith("_gen") or "open" in name else ("none",)
        for reading in filters:
            perfect = ("exact", "accepted", "lemma") if "open" in name else ("accuracy", "accuracy_corrected")
            if "usage" in name:
                perfect += ("pair_accuracy", "recall_figurative", "recall_literal")
            assert [row[f"{metric},{reading}"] for metric in perfect] == [1.0] * len(perfect), name
            if name != "turkic_idiom_usage":  # a group
                assert row[f"unreadable,{reading}"] == row[f"small_sample,{reading}"] == 0
    n_items = len(build_items(open_dataset(), "meaning", "gag"))
    assert results["results"]["turkic_idiom_meaning_gag"]["n_items,none"] == n_items
    for name in ("turkic_idiom_usage_tr", "turkic_idiom_meaning_gag"):  # results name their data
        metadata = results["configs"][name]["metadata"]
        assert (metadata["data"], metadata["data_revision"]) == (open_dataset().path, open_dataset().revision)


def test_scores_are_those_of_the_scorer_and_counted_by_hand(manager):
    answers = ["A", "The answer is B.", "C", "Answer: D", "", "A or B", "E", "Б"]

    def mixed(document):
        return answers[int(document["id"].encode("utf-8").hex(), 16) % len(answers)]

    results = evaluate(mixed, ["turkic_idiom_meaning_gag_gen"], manager)
    row = results["results"]["turkic_idiom_meaning_gag_gen"]
    for reading, readable in (
        ("strict", {"A": 0, "C": 2}),
        ("flexible", {"A": 0, "C": 2, "The answer is B.": 1, "Answer: D": 3}),
    ):
        samples = [s for s in results["samples"]["turkic_idiom_meaning_gag_gen"] if s["filter"] == reading]
        positions = [readable.get(sample["resps"][0][0]) for sample in samples]
        right = [position == sample["doc"]["gold"] for position, sample in zip(positions, samples, strict=True)]
        wrong = []
        for position, sample in zip(positions, samples, strict=True):
            if position not in (None, sample["doc"]["gold"]):
                wrong.append(sample["doc"]["traps"][position])
        n = len(samples)
        assert row[f"accuracy,{reading}"] == pytest.approx(sum(right) / n)
        assert row[f"accuracy_corrected,{reading}"] == pytest.approx((sum(right) / n - 1 / 4) / (3 / 4))
        assert row[f"unreadable,{reading}"] == pytest.approx(positions.count(None) / n)
        for trap in ("near", "lexical", "random"):
            assert row[f"{trap}_share,{reading}"] == pytest.approx(wrong.count(trap) / len(wrong))
        items = {item.id: item for item in build_items(open_dataset(), "meaning", "gag")}
        asked = [items[sample["doc"]["id"]] for sample in samples]
        for metric, value in score_items(asked, positions).items():
            assert row[f"{metric},{reading}"] == pytest.approx(value, abs=1e-12, nan_ok=True)
        assert math.isnan(row[f"accuracy_spread,{reading}"])  # of one prompt
        # what is logged is enough to compute every score again, and is logged once
        assert {sample["n_items"] for sample in samples} == {"as accuracy"}
        logged = [sample["accuracy"] for sample in samples]
        again = lm_eval_items.score_samples(json.loads(json.dumps(logged)))
        assert again["accuracy"] == row[f"accuracy,{reading}"]


def test_all_prompts_have_a_mean_and_a_spread(manager):
    right_under = {"en1": 1.0, "en2": 0.5, "en3": 0.5, "native": 0.0}  # shares of right answers

    def answer(document):
        is_right = random.Random(document["id"] + document["prompt"]).random() < right_under[document["prompt"]]
        return document["answer"] if is_right else "AB"[document["gold"] - 1]

    results = evaluate(answer, ["turkic_idiom_usage_prompts"], manager)
    for code in ("tr", "az", "tk", "uz"):
        name = f"turkic_idiom_usage_{code}"
        samples, row = results["samples"][name], results["results"][name]
        accuracies = []
        for variant in VARIANTS:
            own = [sample for sample in samples if sample["doc"]["prompt"] == variant]
            assert len(own) == row["n_items,none"] == len(samples) / 4
            right = [sample["accuracy"]["answer"] == sample["doc"]["gold"] for sample in own]
            accuracies.append(sum(right) / len(right))
        assert (accuracies[0], accuracies[3]) == (1, 0)
        assert row["accuracy,none"] == pytest.approx(sum(accuracies) / 4)
        assert row["accuracy_spread,none"] == 1.0
        assert row["accuracy_ci_low,none"] < row["accuracy,none"] < row["accuracy_ci_high,none"]
        assert 0.25 < row["pair_accuracy,none"] < 0.5  # 1, 1/4, 1/4 and 0
        assert row["pair_accuracy_ci_low,none"] < row["pair_accuracy,none"] < row["pair_accuracy_ci_high,none"]
    group = results["groups"]["turkic_idiom_usage_prompts"]
    rows = [results["results"][f"turkic_idiom_usage_{code}"] for code in ("tr", "az", "tk", "uz")]
    assert group["accuracy,none"] == pytest.approx(sum(row["accuracy,none"] for row in rows) / 4)
    assert group["accuracy_spread,none"] == 1


def test_the_user_chooses_a_prompt(manager, monkeypatch):
    other = our_tasks(metadata={"prompt": "native", "model": "any"})
    results = evaluate(gold, ["turkic_idiom_usage_uz_gen"], other, limit=2)
    for sample in results["samples"]["turkic_idiom_usage_uz_gen"]:
        assert sample["doc"]["prompt"] == "native"
        assert sample["arguments"][0][0].startswith("Bu birikma gapda")
    unknown = our_tasks(metadata={"prompt": "en9"})
    with pytest.raises(InputError, match="unknown prompt 'en9'"):
        unknown.load(["turkic_idiom_usage_uz"])


@pytest.mark.parametrize("task", ["turkic_idiom_usage_uz", "turkic_idiom_usage_uz_gen"])
def test_examples_are_training_items_under_the_prompt_of_the_question(manager, task):
    other = our_tasks(metadata={"prompt": "all"})
    results = evaluate(gold, [task], other, num_fewshot=2, limit=8)
    train = build_items(open_dataset(), "usage", "uz", split="train")
    test = build_items(open_dataset(), "usage", "uz")
    shown = set()
    for sample in results["samples"][task]:
        text = sample["arguments"][0][0]
        variant = sample["doc"]["prompt"]
        examples = [item for item in train if f"{prompt(item, variant)} {'AB'[item.gold]}\n\n" in text]
        assert len(examples) == 2
        questions = [item.id for item in test if prompt(item, variant) in text]
        assert questions == [sample["doc"]["id"]]
        assert text.endswith(sample["doc"]["query"])
        shown.add(tuple(item.id for item in examples))
    assert len(shown) > 1  # drawn anew for each question
    again = evaluate(gold, [task], other, num_fewshot=2, limit=8)
    assert [s["arguments"] for s in again["samples"][task]] == [s["arguments"] for s in results["samples"][task]]


def test_equal_and_undefined_likelihoods(manager):
    results = evaluate(lambda _: "none of them", ["turkic_idiom_usage_uz"], manager)
    row = results["results"]["turkic_idiom_usage_uz"]
    # all are equally likely: the first one, which is right in one half
    assert row["accuracy,none"] == 0.5
    assert (row["unreadable,none"], row["pair_accuracy,none"]) == (0, 0)

    class Broken(Scripted):
        def loglikelihood(self, requests, disable_tqdm=False):
            return [(math.nan, False) for _ in requests]

    results = evaluate(Broken(gold), ["turkic_idiom_usage_uz"], manager)
    row = results["results"]["turkic_idiom_usage_uz"]
    assert (row["accuracy,none"], row["unreadable,none"]) == (0, 1)


@pytest.fixture
def small_lexicon(tmp_path):
    """Two languages of the bundled lexicon, with few entries and without equivalents."""
    folder = tmp_path / "lexicon"
    folder.mkdir()
    for name, n_lines in (("concepts.jsonl", None), ("uz.jsonl", 150), ("gag.jsonl", 150)):
        lines = (Path(BUNDLED) / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:n_lines]), encoding="utf-8")
    return folder


def test_groups_leave_out_what_the_data_lacks_and_then_have_no_mean(small_lexicon, monkeypatch, caplog):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(small_lexicon))
    fresh = our_tasks()
    results = evaluate(gold, ["turkic_idiom_meaning"], fresh)
    assert results["group_subtasks"]["turkic_idiom_meaning"] == ["turkic_idiom_meaning_gag", "turkic_idiom_meaning_uz"]
    assert "turkic_idiom_meaning" not in results.get("groups", {})
    assert results["results"]["turkic_idiom_meaning_uz"]["accuracy,none"] == 1
    assert "has no data for turkic_idiom_meaning_tr, turkic_idiom_meaning_az, turkic_idiom_meaning_tk" in caplog.text
    n_items = int(results["results"]["turkic_idiom_meaning_uz"]["n_items,none"])
    assert n_items < 30
    assert f"meaning_uz: only {n_items} test items" in caplog.text
    assert "no judged equivalents" in caplog.text
    with pytest.raises(InputError, match=r"no test item for meaning_tr; `turkic-idiom lm stats`"):
        fresh.load(["turkic_idiom_meaning_tr"])
    with pytest.raises(InputError, match=r"no test item for usage_"):  # nothing is left of this group
        our_tasks().load(["turkic_idiom_usage_az"])


def test_nested_groups_leave_out_empty_groups(small_lexicon, monkeypatch):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(small_lexicon))
    monkeypatch.setattr(
        lm_eval_items, "items_of", lambda _, kind, *languages: kind == "cloze_open" and "uz" in languages
    )
    fresh = our_tasks()
    monkeypatch.setattr(type(fresh._factory), "build", lambda *arguments, **options: arguments[1])
    entry = fresh._load_spec("turkic_idiom_lm")
    assert entry.cfg["task"] == ["turkic_idiom_cloze_open"]
    assert fresh.task_index["turkic_idiom_cloze_open"].cfg["task"] == ["turkic_idiom_cloze_open_uz"]
    assert "aggregate_metric_list" not in fresh.task_index["turkic_idiom_cloze_open"].cfg


def test_requests_that_lm_eval_cached_for_another_prompt_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "cache"))
    managers = []
    for variant in ("en1", "en2"):
        managers.append(our_tasks(metadata={"prompt": variant}))
    for task in ("turkic_idiom_usage_uz", "turkic_idiom_usage_uz_gen"):
        evaluate(gold, [task], managers[0], cache_requests=True)
        with pytest.raises(InputError, match=r"document 'usage_uz/.*--cache_requests refresh"):
            evaluate(gold, [task], managers[1], cache_requests=True)
