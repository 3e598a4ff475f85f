"""Samples that lm-eval logs of our tasks, and what a changed file may not do to a score."""

import json
from dataclasses import replace
from functools import partial

import pytest

from tests.lm_eval_runs import evaluate, manager, write_samples  # noqa: F401
from turkic_idiom_tasks.dataset import LexiconDataset, open_dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.lexicon.load import load_lexicon
from turkic_idiom_tasks.results.lm_eval_files import read_samples
from turkic_idiom_tasks.results.scored import score_subset

MEANING, WRITTEN, SPANS = "turkic_idiom_meaning_tr", "turkic_idiom_meaning_tr_gen", "turkic_idiom_span_tr"
OPEN = "turkic_idiom_cloze_open_tr"


@pytest.fixture(scope="module")
def logged(item_lexicon, manager):  # noqa: F811
    """Task -> rows of a model that always says A, so that it finds no idiom."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURKIC_IDIOM_DATA", str(item_lexicon))
        found = evaluate(lambda document: "A", [MEANING, WRITTEN, SPANS, OPEN], manager)
    return json.loads(json.dumps(found["samples"], default=str))


@pytest.fixture
def read(item_lexicon, logged, tmp_path):
    """Writes the rows of a task, changed by a function, as the command does, and reads the file."""
    dataset = open_dataset(str(item_lexicon))

    def read_changed(task, change=lambda rows: None, *, data=dataset, is_partial=False, missing=()):
        rows = json.loads(json.dumps(logged[task]))
        change(rows)
        configs = {task: {"metadata": {"data_revision": dataset.revision}}}
        results = {"samples": {task: rows}, "configs": configs, "n-shot": {task: 0}}
        write_samples(tmp_path, results | {name: {} for name in missing})
        (first, *_) = read_samples(tmp_path / f"samples_{task}_2026.jsonl", data, is_partial=is_partial)
        return next(iter(first.predictions.values()))

    return read_changed


def answered(row, answer):
    """A copy of a row in which our filter has read another answer, or other tags, or finds an option likeliest."""
    if row["filter"] == "none" and type(answer) is int:
        marks = [mark for mark, _ in row["filtered_resps"]]
        values = [[mark, float(number == answer)] for number, mark in enumerate(marks)]
        return row | {"filtered_resps": values}
    reading = {"document": "", "tags" if "tokens" in row["doc"] else "answer": answer}
    return row | {"filtered_resps": [json.dumps(reading)]}


def full(row):
    """A copy of a row in which the model gave the right answer, or found no idiom."""
    return answered(row, ["O"] * len(row["doc"]["tokens"]) if "tokens" in row["doc"] else row["doc"]["gold"])


def test_every_filter_of_ours_is_read(read):
    by_likelihood, written = read(MEANING), read(WRITTEN)
    assert 0 < score_subset(by_likelihood).main < 1
    assert score_subset(written).main == score_subset(by_likelihood).main
    assert (by_likelihood.method, written.method) == ("loglikelihood", "generation")
    assert set("".join(read(SPANS).letters)) == {"O"}
    assert set(read(OPEN).answers) == {"A"}


def test_of_a_run_over_several_prompts_the_first_counts_and_invisible_letters_do_not(read):
    def ask_again(rows):
        other = [answered(row, "başqa") | {"doc": row["doc"] | {"prompt": "native"}} for row in rows]
        rows[:] = [*(answered(row, "göz\u200b yummaq") for row in rows), *other]

    assert set(read(OPEN, ask_again).answers) == {"göz yummaq"}
    assert read(OPEN, ask_again).prompt == "en1"


@pytest.mark.parametrize("missing", ["configs", "n-shot"])
def test_results_that_do_not_say_of_which_data_they_are_are_refused(read, missing):
    with pytest.raises(InputError, match=f"results_2026.json: does not say which data {MEANING} is of"):
        read(MEANING, missing=[missing])


def test_a_report_may_be_of_a_part_of_the_items(read):
    def leave_one_out(rows):
        rows[:] = [row for row in rows if row["doc"]["id"] != rows[0]["doc"]["id"]]

    assert len(read(OPEN, leave_one_out, is_partial=True).answers) == len(read(OPEN).answers) - 1
    with pytest.raises(InputError, match=r"1 of the .* have no answer"):
        read(OPEN, leave_one_out)


@pytest.mark.parametrize("task", [MEANING, WRITTEN, SPANS])
def test_a_second_answer_is_refused_by_name(read, task):
    name = "sentence '" if task == SPANS else "item 'meaning_tr/"
    with pytest.raises(InputError, match=rf"samples_{task}_2026\.jsonl: {name}.*' appears twice"):
        read(task, lambda rows: rows.extend(list(map(full, rows))))


@pytest.mark.parametrize(("task", "name"), [(MEANING, "flexible"), (WRITTEN, "none"), (SPANS, "none")])
def test_rows_of_a_filter_that_is_not_ours_do_not_count(read, task, name):
    expected = read(task)
    found = read(task, lambda rows: rows.extend([full(row) | {"filter": name} for row in rows]))
    for field in ("letters",) if task == SPANS else ("answers", "method"):
        assert getattr(found, field) == getattr(expected, field)


def of_document(**changes):
    return lambda row: row | {"doc": row["doc"] | changes}


NO_POSITIONS = [partial(answered, answer=answer) for answer in (True, 1.0, 9)]
NO_READINGS = [
    lambda row, response=response: row | {"filtered_resps": response}
    for response in (["A"], [["mark", "none"]], [["mark"]], ["[" * 10_000], ['{"tags": [1]}'])
]


@pytest.mark.parametrize(
    ("tasks", "copy", "message"),
    [
        *(([WRITTEN], copy, "item '.*': needs the position of an option") for copy in NO_POSITIONS),
        ([WRITTEN], of_document(id="x"), "no item 'x'"),
        ([WRITTEN], of_document(prompt="mine"), "known prompt"),
        ([MEANING, SPANS], of_document(digest=""), "older version"),
        *(([MEANING, WRITTEN, SPANS], copy, "not as our") for copy in NO_READINGS),
    ],
)
def test_what_our_task_and_filter_do_not_write_is_refused(read, tasks, copy, message):
    def change(rows):
        rows[:] = map(copy, rows)

    for task in tasks:
        with pytest.raises(InputError, match=rf"{message}|field 'filtered_resps"):
            read(task, change)


@pytest.mark.parametrize(("task", "field"), [(MEANING, "meaning"), (SPANS, "example")])
def test_an_item_of_another_edition_is_refused(item_lexicon, read, task, field):
    """The data say that they are the same, but one entry differs, and with it options or a sentence."""
    original = load_lexicon(item_lexicon)
    sentence = open_dataset(str(item_lexicon)).test_sentences("tr").rows[0]
    concept = sentence.id if task == SPANS else read(task).items.rows[0].concept
    entries = dict(original.of("tr"))
    changed = f"{getattr(entries[concept], field)} ve"
    entries[concept] = replace(entries[concept], **{field: changed})
    other = replace(original, entries={**original.entries, "tr": entries})
    assert other.revision == original.revision
    with pytest.raises(InputError, match=r"(item|sentence) '.*' is not as the data in use have it: .* another edition"):
        read(task, data=LexiconDataset(other, "other"))
