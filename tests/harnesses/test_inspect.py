"""The tasks of Inspect AI: run by Inspect itself with recorded answers, and by its stock command."""

import json
import math
import re
from functools import partial
from itertools import cycle
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.metrics.spans import word_scores
from turkic_idiom_tasks.tasks.items.item_types import LETTERS
from turkic_idiom_tasks.tasks.items.items import build_items
from turkic_idiom_tasks.tasks.items.prompts import open_prompt, prompt
from turkic_idiom_tasks.tasks.items.scoring import answers_digest, score_items, score_open

pytest.importorskip("inspect_ai", reason="pip install 'turkic-idiom-tasks[inspect]'")
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from tests.items.conftest import byte_tokenizer, untrained_gpt  # noqa: F401
from tests.items.model_server import answering
from tests.llm_server import running_llm
from tests.lm_eval_runs import clustered_error
from turkic_idiom_tasks.harnesses import inspect_tasks
from turkic_idiom_tasks.harnesses.current_data import current_dataset
from turkic_idiom_tasks.results.harness_files import find_predictions
from turkic_idiom_tasks.results.inspect_files import read_log


@pytest.fixture(scope="module")
def dataset(item_lexicon):
    return open_dataset(str(item_lexicon))


@pytest.fixture(scope="module")
def run(item_lexicon, tmp_path_factory):
    """Runs a task by Inspect on recorded answers: the text of a question -> the text of the model."""
    folder = tmp_path_factory.mktemp("logs")

    def recorded(task, answer, *, epochs=1, **arguments):
        def generate(messages, *_):
            output = ModelOutput.from_content("recorded", answer(messages[-1].content))
            output.usage = ModelUsage()  # or Inspect counts tokens with a table that it downloads
            return output

        model = get_model("mockllm/recorded", memoize=False, custom_outputs=generate)
        made = task(**{"data": str(item_lexicon)} | arguments)
        (log,) = inspect_eval(made, model=model, epochs=epochs, display="none", log_dir=str(folder))
        assert log.status == "success", log.error
        (scores,) = log.results.scores
        return log, {name: metric.value for name, metric in scores.metrics.items()}

    return recorded


@pytest.mark.parametrize(
    "task",
    ["meaning", *(pytest.param(task, marks=pytest.mark.long) for task in ("recall", "spans", "equivalent", "cloze"))],
)
def test_every_task_runs_with_a_local_transformer(task, item_lexicon, tmp_path, untrained_gpt):  # noqa: F811
    path = str(untrained_gpt)
    model = get_model("hf/local", memoize=False, model_path=path, tokenizer_path=path, device="cpu")
    made = getattr(inspect_tasks, task)(data=str(item_lexicon))
    (log,) = inspect_eval(made, model=model, limit=2, max_tokens=4, display="none", log_dir=str(tmp_path))
    assert log.status == "success", log.error
    assert len(log.samples) >= 2
    assert all(sample.error is None for sample in log.samples)


def in_its_log(log, folder, dataset):
    """The predictions that we read in a log when it is written."""
    write_eval_log(log, str(folder / "log.eval"))
    return read_log(folder / "log.eval", dataset).predictions


def scripted(items, texts):
    """Question -> a text of `texts` in turn."""
    return {prompt(item, "en2"): text for item, text in zip(items, cycle(texts), strict=False)}


@pytest.mark.parametrize(
    ("task", "language", "texts", "answers"),
    [
        # two sentences of each concept; C has no option, and the fifth text names no letter
        (
            "usage",
            "tr",
            ["A", "The answer is B.", "<think>A or B?</think> (B)", "C", "figurative, I think", "A"],
            [0, 1, 1, None, None, 0],
        ),
        # of the ten options none is I, and L is beyond the tenth
        ("meaning_rivals", "gag", ["J", "I think K", "The answer is (E).", "L"], [8, 9, 4, None]),
    ],
)
def test_one_set_has_the_shares_of_right_and_unreadable_answers_and_errors_clustered_by_concept(
    run, tmp_path, task, language, texts, answers
):
    dataset = current_dataset()
    items = build_items(dataset, task, language)
    script = scripted(items, texts)
    made = getattr(inspect_tasks, task)
    log, scores = run(made, script.__getitem__, language=language, prompt="en2", data="")
    read = [answer for answer, _ in zip(cycle(answers), items, strict=False)]
    right = [float(answer == item.gold) for answer, item in zip(read, items, strict=True)]
    assert 0 < scores["accuracy"] < 1
    assert scores["accuracy"] == pytest.approx(sum(right) / len(right), abs=1e-12)
    assert scores["unreadable"] == pytest.approx(read.count(None) / len(read), abs=1e-12)
    assert scores["stderr"] == pytest.approx(clustered_error(right, [item.concept for item in items]), abs=1e-12)
    assert log.eval.metadata["data_revision"] == dataset.revision
    assert log.eval.metadata["prompt"] == "en2"
    reasons = [sample.scores["idiom_choice"].reason for sample in log.samples]
    assert reasons.count("invalid_response_format") == read.count(None)
    assert {len(sample.choices) for sample in log.samples} == {2 if task == "usage" else 10}
    assert list(in_its_log(log, tmp_path, dataset)[task, language].answers) == read


def test_several_sets_weigh_alike_and_few_shot_examples_come_from_training_items(run, dataset, item_lexicon):
    by_set = {name: build_items(dataset, "meaning", name) for name in ("tr", "az", "uz")}
    script = {}
    for language, items in by_set.items():
        script |= scripted(items, ["B"] if language == "uz" else [LETTERS[item.gold] for item in items])
    log, scores = run(inspect_tasks.meaning, script.__getitem__, prompt="en2", few_shot=2)
    first = list(inspect_tasks.meaning(data=str(item_lexicon)).dataset)[:3]  # a limited run sees every set
    assert [sample.metadata["set"] for sample in first] == ["meaning_tr", "meaning_az", "meaning_uz"]
    uz = score_items(by_set["uz"], [1] * len(by_set["uz"]))
    assert len(by_set["az"]) != len(by_set["uz"])  # or a mean over items would be the same
    assert scores["accuracy"] == pytest.approx((1 + 1 + uz["accuracy"]) / 3, abs=1e-12)
    assert scores["accuracy_meaning_uz"] == pytest.approx(uz["accuracy"], abs=1e-12)
    # the variance of the mean of two constants and of one set is a ninth of that set's; all clusters count
    right = [float(item.gold == 1) for item in by_set["uz"]]
    n = len(right)
    concepts = {item.concept for items in by_set.values() for item in items}
    squares = sum((value - sum(right) / n) ** 2 for value in right) / n**2
    expected = math.sqrt(squares / 9 * len(concepts) / (len(concepts) - 1))
    assert scores["stderr"] == pytest.approx(expected, abs=1e-12)
    train = {prompt(item, "en2"): LETTERS[item.gold] for item in build_items(dataset, "meaning", "uz", split="train")}
    sample = next(sample for sample in log.samples if sample.id.startswith("meaning_uz/"))
    roles = [message.role for message in sample.input]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert [train[sample.input[k].content] for k in (0, 2)] == [sample.input[k].content for k in (1, 3)]


def test_epochs_are_averaged(run, dataset):
    items = build_items(dataset, "usage", "tr")
    rounds = {prompt(item, "en1"): cycle([LETTERS[item.gold], "no letter at all"]) for item in items}
    _, scores = run(inspect_tasks.usage, lambda text: next(rounds[text]), language="tr", epochs=2)
    assert scores["accuracy"] == 0.5
    assert scores["unreadable"] == 0.5


@pytest.mark.parametrize(("task", "variant"), [("cloze_open", "native"), ("recall", "en1")])
def test_open_tasks_accept_what_the_scorer_accepts_and_name_the_answers_file(run, dataset, tmp_path, task, variant):
    items = build_items(dataset, task, "tr")
    script, read = {}, []
    for number, item in enumerate(items):
        answers = [item.idiom, f"Answer: {item.idiom}.", "kitap okumak", ""]
        script[open_prompt(item, task, variant)] = answers[number % 4]
        read.append([item.idiom, item.idiom, "kitap okumak", None][number % 4])
    log, scores = run(getattr(inspect_tasks, task), script.__getitem__, language="tr", prompt=variant)
    expected = score_open(task, items, read, dataset.lexicon)
    assert scores["accuracy"] == pytest.approx(expected["accepted"], abs=1e-12)
    assert scores["unreadable"] == pytest.approx(expected["unreadable"], abs=1e-12)
    assert "unjudged" in scores
    if task == "recall":
        assert scores["unjudged"] == pytest.approx(read.count("kitap okumak") / len(items))
    assert log.eval.metadata["judged_answers"] == answers_digest()
    assert list(in_its_log(log, tmp_path, dataset)[task, "tr"].answers) == read


def test_spans_are_read_and_scored_as_in_the_span_tasks(run, dataset, tmp_path):
    sentences = dataset.sentences("tr")["test"]

    def answer(question):
        number = next(k for k, sentence in enumerate(sentences) if sentence.sentence in question)
        idioms = [span.of(sentences[number].sentence) for span in sentences[number].spans()]
        return json.dumps({"idioms": idioms}) if number % 2 else "I see none"

    log, scores = run(inspect_tasks.spans, answer, language="tr")
    gold = [list(sentence.tags) for sentence in sentences]
    predicted = [tags if number % 2 else ["O"] * len(tags) for number, tags in enumerate(gold)]
    assert scores["f1"] == pytest.approx(word_scores(gold, predicted)["span_f1"], abs=1e-12)
    assert scores["unreadable"] == pytest.approx(math.ceil(len(gold) / 2) / len(gold))
    assert "unjudged" not in scores
    (prediction,) = in_its_log(log, tmp_path, dataset).values()
    assert prediction.letters == tuple("".join(tag[0] for tag in tags) for tags in predicted)


@pytest.mark.parametrize(
    ("task", "arguments", "message"),
    [
        (inspect_tasks.meaning, {"prompt": "en9"}, "prompt=en9"),
        (inspect_tasks.equivalent, {"language": "tr", "target": "tk"}, "tr tk"),
        (inspect_tasks.usage, {"few_shot": 10_000}, "few_shot=10000"),
        (inspect_tasks.usage, {"prompt": "en9", "few_shot": -1}, "prompt=en9.*few_shot=-1"),
        (inspect_tasks.spans, {"prompt": "en1"}, "json, xml, native"),
        (inspect_tasks.spans, {"language": "gag"}, "gag"),
    ],
)
def test_a_wrong_argument_is_named(item_lexicon, task, arguments, message):
    with pytest.raises(InputError, match=message):
        task(data=str(item_lexicon), **arguments)


@pytest.mark.long
@pytest.mark.slow
def test_the_stock_command_finds_the_task_and_its_log_is_read(command, dataset, item_lexicon, tmp_path):
    items = build_items(dataset, "meaning", "az")
    gold = {prompt(item): f"The answer is ({LETTERS[item.gold]})." for item in items}
    wrong = prompt(items[0])
    gold[wrong] = LETTERS[1 - min(items[0].gold, 1)]
    with running_llm(answering(gold.__getitem__), takes_all=True) as server:
        run = command(
            "inspect", "eval", "turkic_idiom_tasks/meaning", "-T", "language=az", "--log-dir", "logs",
            "--model", "openai-api/local/some-model", "--display", "plain",
            data=item_lexicon, LOCAL_API_KEY="none", LOCAL_BASE_URL=server.url,
        )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(server.requests) == len(items)
    (found,) = find_predictions([tmp_path / "logs"], dataset)
    assert (found.name, found.regime) == ("local/some-model", "pretrained")
    answers = found.predictions["meaning", "az"].answers
    is_right = [answer == item.gold for answer, item in zip(answers, items, strict=True)]
    assert is_right == [False] + [True] * (len(items) - 1)


@pytest.fixture(scope="module")
def finished(run):
    """The log of a model that answers A to every question about a meaning in Azerbaijani."""
    log, _ = run(inspect_tasks.meaning, lambda question: "A", language="az")
    return log


@pytest.fixture
def changed(finished, tmp_path):
    """Writes the log of a task, changed by a function, in a format of Inspect, and returns its path."""

    def write(change=lambda log: None, suffix=".eval", name="2026-11-26T15-14-30+00-00_meaning_x"):
        copy = finished.model_copy(deep=True)
        change(copy)
        path = tmp_path / "changed" / f"{name}{suffix}"
        path.parent.mkdir(exist_ok=True)
        write_eval_log(copy, str(path))
        return path

    return write


@pytest.mark.parametrize(
    ("model", "arguments", "expected"),
    [
        ("openai/gpt-5", {}, ("openai/gpt-5", "pretrained")),
        ("together/meta-llama/Llama-3", {}, ("meta-llama/Llama-3", "pretrained")),
        ("hf/local", {"model_path": "./tuned"}, ("./tuned", None)),
        ("hf//home/me/tuned", {}, ("/home/me/tuned", None)),
    ],
)
def test_a_log_of_weights_in_a_folder_does_not_say_how_they_were_tuned(changed, dataset, model, arguments, expected):
    def name(log):
        log.eval.model, log.eval.model_args = model, arguments

    predictions = read_log(changed(name), dataset)
    assert (predictions.name, predictions.regime) == expected


def another_scorer(log, *, keeps_ours=False):
    for sample in log.samples:
        right = sample.scores["idiom_choice"].model_copy(update={"answer": sample.target})
        sample.scores = {"lenient": right, **(sample.scores if keeps_ours else {})}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: setattr(log.samples[0], "id", "meaning_az/none"), "has no item 'meaning_az/none'"),
        (
            lambda log: log.samples[0].metadata.update(digest="0" * 12),
            "item 'meaning_az/.*' is not as the data in use have it: .*another edition",
        ),
        (another_scorer, "sample 'meaning_az/.*' has no score of idiom_choice.*'lenient'"),
        (lambda log: log.samples.append(log.samples[0]), "item 'meaning_az/.*' appears twice"),
    ],
)
def test_a_log_that_does_not_fit_is_refused_by_name(changed, dataset, change, message):
    path = changed(change, ".json")
    with pytest.raises(InputError, match=message) as caught:
        read_log(path, dataset)
    assert str(path) in str(caught.value)


def test_a_member_of_an_archive_that_repeats_another_is_refused(changed, dataset):
    path = changed()
    with ZipFile(path, "a") as file:
        name = next(name for name in file.namelist() if name.startswith("samples/"))
        file.writestr("samples/again_epoch_1.json", file.read(name))
    with pytest.raises(InputError, match=r"\.eval: item 'meaning_az/.*' appears twice"):
        read_log(path, dataset)


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_sample_in_an_archive_may_have_failed_before_but_has_one_answer(changed, dataset, is_answered):
    """Inspect itself takes the last of two members of the same name."""

    def fail(log):
        if not is_answered:
            log.samples[0].scores = None

    path, before = changed(fail), changed(name="before")
    with ZipFile(before) as file:
        name = f"samples/{read_eval_log(str(path)).samples[0].id}_epoch_1.json"
        answered = file.read(name)
    with ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr(name, answered)
    if is_answered:
        with pytest.raises(InputError, match=rf"x\.eval: .*'{name}' stands in it twice, each time with an answer"):
            read_log(path, dataset)
    else:
        assert read_log(path, dataset).predictions.keys() == read_log(before, dataset).predictions.keys()


def test_a_small_archive_that_stands_for_much_is_refused(changed, dataset):
    path = changed()
    with (
        ZipFile(path, "a", compression=ZIP_DEFLATED, compresslevel=1) as file,
        file.open("samples/x_epoch_1.json", "w") as member,
    ):
        for _ in range(520):
            member.write(bytes(2**20))
    with pytest.raises(InputError, match="more than the 536,870,912 bytes"):
        read_log(path, dataset)


def test_the_answers_of_another_scorer_do_not_count(changed, dataset):
    path = changed(partial(another_scorer, keeps_ours=True))
    (prediction,) = read_log(path, dataset).predictions.values()
    assert set(prediction.answers) == {0}


def test_logs_in_json_are_found_read_as_others_are_and_reported(changed, dataset, item_lexicon, capsys):
    path = changed(suffix=".json")
    (found,) = find_predictions([path.parent], dataset)
    assert main(["lm", "report", str(path.parent), "--data", str(item_lexicon)]) == 0
    answers = found.predictions["meaning", "az"].answers
    assert re.search(rf"^meaning az +{len(answers)} +\.250 ", capsys.readouterr().out, re.MULTILINE)
    assert found.path == path
    assert answers == read_log(changed(), dataset).predictions["meaning", "az"].answers
