"""lm-eval's own API in this process, with nothing of ours replaced; its command is in test_lm_eval_command.py."""

import json
import math
import warnings
from functools import partial
from itertools import cycle

import pytest
from lm_eval.tasks import TaskManager
from seqeval.metrics import f1_score
from sklearn.metrics import precision_recall_fscore_support as per_tag

from tests.dataset.conftest import ROW
from tests.lm_eval_runs import evaluate, our_tasks
from tests.spans.conftest import by_first_letter
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import TASK_FOLDER
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.harnesses.lm_eval_model import TokenClassifierLM
from turkic_idiom_tasks.languages import LANGUAGES, counted
from turkic_idiom_tasks.spans import LABELS

O, B, I = LABELS  # noqa: E741
FILTERS = ("strict", "flexible")


def assert_scores_are_seqevals(row, samples, name):
    """The scores of a task against seqeval and scikit-learn, from the documents and the filtered answers alone."""
    rows = [sample for sample in samples if sample["filter"] == name]
    gold = [[LABELS[number] for number in sample["doc"]["ner_tags"]] for sample in rows]
    found = [json.loads(sample["filtered_resps"][0])["tags"] for sample in rows]
    assert [len(tags) for tags in gold] == [len(tags) for tags in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {"f1": f1_score(gold, found)}
        flat = ([tag for tags in part for tag in tags] for part in (gold, found))
        tokens = per_tag(*flat, labels=[B, I], average="micro", zero_division=0)[2]
    if name == "strict":
        expected["token_f1"] = tokens
        expected["exact_match"] = sum(tags == words for tags, words in zip(gold, found, strict=True)) / len(rows)
        expected["unreadable"] = sum(json.loads(s["filtered_resps"][0])["format_error"] for s in rows) / len(rows)
    for metric, value in expected.items():
        ours = row[f"{metric},{name}"]
        assert value == pytest.approx(0.0 if math.isnan(ours) else ours, abs=1e-9), metric
    assert {key.partition(",")[0] for key in row if key.endswith(f",{name}") and "_stderr" not in key} <= {
        *expected, "subword_f1"
    }  # fmt: skip


def assert_subword_scores(row, samples):
    """The paper's scores of sub-words: B on the first sub-word of an idiom, I on all later ones."""
    gold, found = [], []
    for sample in (sample for sample in samples if sample["filter"] == "strict"):
        answer = json.loads(sample["resps"][0][0])["subwords"]
        tags = [LABELS[number] for number in sample["doc"]["ner_tags"]]
        seen = set()
        for word in answer["words"]:
            gold.append(I if tags[word] == B and word in seen else tags[word])
            seen.add(word)
        found += answer["labels"]
    f1 = per_tag(gold, found, labels=[B, I], average="micro")[2]
    assert row["subword_f1,strict"] == pytest.approx(f1)


def right_json(document):
    return json.dumps({"idioms": [span["text"] for span in document["spans"]]}, ensure_ascii=False)


def right_xml(document):
    text = document["sentence"]
    for span in reversed(document["spans"]):
        text = f"{text[: span['start']]}<idiom>{span['text']}</idiom>{text[span['end'] :]}"
    return text


def plain_task(folder, output="generate_until"):
    """A task of another kind, whose documents hold no words; returns its folder."""
    folder.mkdir()
    (folder / "data.jsonl").write_text('{"question": "2+2?", "answer": "four"}\n')
    (folder / "plain.yaml").write_text(
        "task: plain_question\ndataset_path: json\n"
        f"dataset_kwargs: {{data_files: {{test: {folder / 'data.jsonl'}}}}}\n"
        f"test_split: test\noutput_type: {output}\ndoc_to_text: '{{{{question}}}}'\ndoc_to_target: '{{{{answer}}}}'\n"
        + ("doc_to_choice: [four, five]\n" if output == "multiple_choice" else "generation_kwargs: {until: ['\\n']}\n")
    )
    return folder


def test_a_token_classifier_is_scored_as_seqeval_does(manager, first_letter_classifier):
    model = TokenClassifierLM(pretrained=str(first_letter_classifier))
    found = evaluate(model, ["turkic_idiom_span", "turkic_idiom_span_gag_xml"], manager)
    tasks = [f"turkic_idiom_span_{code}" for code in counted(LANGUAGES)]  # no mean counts a provisional language
    assert set(found["samples"]) == {*tasks, "turkic_idiom_span_gag_xml"}
    dataset = current_dataset()
    for task, samples in found["samples"].items():
        row = found["results"][task]
        for name in FILTERS:
            assert_scores_are_seqevals(row, samples, name)
        assert_subword_scores(row, samples)
        assert row["unreadable,strict"] == 0
        strict = [sample for sample in samples if sample["filter"] == "strict"]
        sentences = dataset.test_sentences(strict[0]["doc"]["lang"]).rows
        assert sorted(sample["doc"]["id"] for sample in strict) == [sentence.id for sentence in sentences]
        for sample in samples:
            tags = json.loads(sample["filtered_resps"][0])["tags"]
            assert "".join(tag[0] for tag in tags) == by_first_letter(sample["doc"]["tokens"])
    assert any(found["results"][task]["f1,strict"] > 0 for task in tasks)
    for metric in ("f1", "token_f1"):
        mean = sum(found["results"][task][f"{metric},strict"] for task in tasks) / len(tasks)  # languages alike
        assert found["groups"]["turkic_idiom_span"][f"{metric},strict"] == pytest.approx(mean)


def test_a_language_without_sentences_in_the_data_is_named_and_left_out_of_the_groups(turkish_only, monkeypatch):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(turkish_only))
    for suffix, answer in (("", right_json), ("_xml", right_xml), ("_native", right_json)):
        found = evaluate(answer, [f"turkic_idiom_span{suffix}"], our_tasks())
        assert found["group_subtasks"][f"turkic_idiom_span{suffix}"] == [f"turkic_idiom_span_tr{suffix}"]
        assert found["groups"][f"turkic_idiom_span{suffix}"]["f1,strict"] == 1
    with pytest.raises(InputError, match=r"no annotated test sentence in Azerbaijani \(az\).*have some: tr"):
        our_tasks().load(["turkic_idiom_span_az"])


def test_our_tasks_are_known_beside_the_folders_of_the_user(tmp_path):
    manager = TaskManager(include_path=str(plain_task(tmp_path / "tasks")), include_defaults=False)
    assert "plain_question" in manager.all_subtasks
    assert "turkic_idiom_span" in manager.all_groups
    assert str(manager.include_path) == str(tmp_path / "tasks")  # as the user gave it


def test_scores_of_mixed_answers(manager):
    kinds = [
        right_json,
        lambda document: f"Yanıt: {right_json(document)}",
        lambda document: '{"idioms": []}',
        lambda document: "bilmiyorum",
        lambda document: f"- {document['tokens'][0]}",
        lambda document: json.dumps({"idioms": [document["spans"][0]["text"], "olmayan bir deyim"]}),
        lambda document: json.dumps({"bio": [I] * len(document["tokens"])}),
        lambda document: document["idiom"],
        lambda document: json.dumps({"bio": [O]}),
    ]
    in_turn = cycle(kinds)
    found = evaluate(lambda document: next(in_turn)(document), ["turkic_idiom_span_uz"], manager)
    row = found["results"]["turkic_idiom_span_uz"]
    for name in FILTERS:
        assert_scores_are_seqevals(row, found["samples"]["turkic_idiom_span_uz"], name)
    assert 0.5 < row["unreadable,strict"] < 0.6  # the strict reading calls five kinds of nine unreadable
    assert row["f1,strict"] < row["f1,flexible"] < 1
    nothing = evaluate(lambda document: "lol", ["turkic_idiom_span_uz"], manager)["results"]["turkic_idiom_span_uz"]
    assert [nothing[f"{metric},strict"] for metric in ("f1", "token_f1", "unreadable")] == [0, 0, 1]


def test_the_standard_error_is_larger_with_fewer_idioms_than_sentences(manager, hub_layout, monkeypatch):
    """Forty sentences, ten of them missed: of one idiom in four, or of ten idioms in forty."""

    def answer(document):
        return '{"idioms": []}' if int(document["id"]) % 4 == 1 else right_json(document)

    errors = {}
    for n_idioms in (4, 40):
        rows = []
        for n in range(40):
            tokens = ["Ali", str(n), "kez", "göz", "yumdu"]
            rows.append({"id": str(n), "idiom": f"deyim {n % n_idioms}", "sentence": " ".join(tokens),
                         "tokens": tokens, "ner_tags": [0, 0, 0, 1, 2]})  # fmt: skip
        monkeypatch.setenv("TURKIC_IDIOM_DATA", str(hub_layout({"test": rows}, name=f"of-{n_idioms}")))
        results = evaluate(answer, ["turkic_idiom_span_tr"], manager, bootstrap_iters=1)
        row = results["results"]["turkic_idiom_span_tr"]
        assert row["f1,strict"] == pytest.approx(2 * 30 / (30 + 40))
        errors[n_idioms] = row["f1_stderr,strict"]
    # Of F = n / d a sentence has the influence (n_i - F d_i) / d: -F / 70 where it is missed, else (2 - 2 F) / 70
    f1 = 60 / 70
    sentences = math.sqrt(10 * f1**2 + 30 * (2 - 2 * f1) ** 2) / 70
    assert errors[40] == pytest.approx(sentences * math.sqrt(40 / 39))
    idioms = 10 * math.sqrt(f1**2 + 3 * (2 - 2 * f1) ** 2) / 70  # ten sentences of each idiom
    assert errors[4] == pytest.approx(idioms * math.sqrt(4 / 3))


def test_requests_that_lm_eval_cached_for_other_data_are_refused(manager, hub_layout, monkeypatch, tmp_path):
    """Its cache is named by the task alone, so the requests of one data set would be scored on another."""
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "cache"))
    cached = partial(evaluate, right_json, ["turkic_idiom_span_tr"], manager, cache_requests=True)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(hub_layout({"test": [ROW]}, name="asked")))
    cached()
    other = ROW | {"sentence": "Ona göz yumdu.", "tokens": ["Ona", "göz", "yumdu", "."]}
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(hub_layout({"test": [other]}, name="other")))
    with pytest.raises(InputError, match=r"document 's1': .*--cache_requests refresh"):
        cached()
    cached(rewrite_requests_cache=True)


@pytest.mark.parametrize("suffix", ["", "_xml", "_native"])
def test_examples_come_from_train_with_their_right_answers_which_have_full_marks(manager, suffix):
    answer = right_xml if suffix == "_xml" else right_json
    task = f"turkic_idiom_span_uz{suffix}"
    found = evaluate(answer, [task], manager, num_fewshot=2, limit=5)
    row = found["results"][task]
    assert {row[name] for name in ("f1,strict", "f1,flexible", "token_f1,strict", "exact_match,strict")} == {1}
    assert row["unreadable,strict"] == 0
    assert "subword_f1,strict" not in row  # a language model has no sub-words that are scored
    splits = current_dataset().sentences("uz")
    train = {row.sentence: row.document() for row in splits["train"]}
    held_out = [row.sentence for split in ("validation", "test") for row in splits[split]]
    for sample in found["samples"][task]:
        prompt = sample["arguments"][0][0]
        shown = [sentence for sentence in train if f": {sentence}\n" in prompt]
        assert len(shown) == 2
        assert ("<idiom>" in prompt, "JSON" in prompt) == (suffix == "_xml", suffix != "_xml")
        assert ("sentence" in prompt) == (suffix != "_native")
        for sentence in shown:  # the answer, and nothing of it in the question
            assert answer(train[sentence]) in prompt
        assert [sentence for sentence in held_out if f": {sentence}\n" in prompt] == [sample["doc"]["sentence"]]


def test_the_model_class_in_python(manager, first_letter_classifier):
    """By its name or as an object, with windows of any size, examples and a chat template: none changes a tag."""
    model = TokenClassifierLM(pretrained=str(first_letter_classifier), device="cuda:0", batch_size="auto",
                              max_length=16)  # fmt: skip
    task = "turkic_idiom_span_gag"
    by_class = evaluate(model, [task], manager, num_fewshot=2, apply_chat_template=True)
    by_name = evaluate("token-classifier", [task], manager, batch_size=7,
                       model_args={"pretrained": str(first_letter_classifier)})  # fmt: skip
    answers = [[sample["filtered_resps"] for sample in run["samples"][task]] for run in (by_class, by_name)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"pretrained": ""}, "needs pretrained="),
        ({"temperature": 0.7, "peft": "x"}, "takes no peft, temperature"),
        ({"dtype": "float7"}, "float7"),
        ({"max_length": 5}, "max_length is 5"),
        ({"max_length": "long"}, "max_length.*long"),
        ({"device": "tpu9"}, "tpu9"),
        ({"pretrained": "/absent/folder"}, "/absent/folder"),
    ],
)
def test_arguments_that_cannot_be_used(first_letter_classifier, arguments, part):
    with pytest.raises(InputError, match=part) as error:
        TokenClassifierLM(**{"pretrained": str(first_letter_classifier)} | arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("output", ["generate_until", "multiple_choice"])
def test_a_classifier_refuses_other_tasks(tmp_path, first_letter_classifier, output, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    other = TaskManager(include_path=str(plain_task(tmp_path / "tasks", output)), include_defaults=False)
    with pytest.raises(InputError, match="span tasks only: the documents of 'plain_question' have no `tokens`"):
        evaluate(TokenClassifierLM(pretrained=str(first_letter_classifier)), ["plain_question"], other)


@pytest.mark.parametrize("content", [None, "{"])
def test_data_that_cannot_be_used_stops_our_tasks_alone(tmp_path, monkeypatch, content):
    folder = tmp_path / "data"
    if content:
        folder.mkdir()
        (folder / "tr.jsonl").write_text(content)
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(folder))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    fresh = TaskManager(include_path=[str(TASK_FOLDER), str(plain_task(tmp_path / "tasks"))], include_defaults=False)
    with pytest.raises(InputError, match="tr.jsonl:1: malformed JSON" if content else "no such directory"):
        evaluate(right_json, ["turkic_idiom_span"], fresh)
    found = evaluate(lambda document: "four", ["plain_question"], fresh)
    assert found["results"]["plain_question"]["exact_match,none"] == 1
