"""`turkic-idiom lm report`: scores from what lm-eval has logged; those of Inspect: tests/harnesses/test_inspect.py."""

import re

import pytest

from tests.lm_eval_runs import evaluate, manager, our_tasks, write_samples  # noqa: F401
from turkic_idiom_tasks.cli import main
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.metrics.bootstrap import mean
from turkic_idiom_tasks.results.item_answers import ItemAnswers, find_items
from turkic_idiom_tasks.results.scored import score_subset


def rows_of(printed):
    """Label -> cells of each row."""
    rows = {}
    for line in printed.splitlines():
        label, _, cells = line.strip().partition("  ")
        rows[label] = cells.split()
    return rows


def shown(value):
    return f"{value:.3f}".replace("0.", ".")


def by_position(document):
    """The first option to two items of three, of a usage item the right one to half of the pairs."""
    if document["kind"] == "usage":
        return document["answer"] if len(document["concept"]) % 2 else "A"
    return "A" if len(document["concept"]) % 3 else "no letter"


def test_a_row_for_each_set_and_their_mean(item_lexicon, manager, tmp_path, monkeypatch, capsys):  # noqa: F811
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(item_lexicon))
    monkeypatch.setenv("COLUMNS", "80")
    found = evaluate(by_position, ["turkic_idiom_meaning_gen", "turkic_idiom_usage_tr_gen"], our_tasks())
    write_samples(tmp_path, found)
    assert main(["lm", "report", str(tmp_path), "--data", str(item_lexicon)]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.startswith("org/llm, 0 examples, en1, generation\n")
    rows, dataset = rows_of(printed), open_dataset(str(item_lexicon))
    subsets = [label.split()[1] for label in rows if re.fullmatch("meaning [a-z]+", label)]
    assert len(subsets) > 1
    sets = []
    for subset in subsets:
        items = find_items(dataset, "meaning", subset)
        answers = tuple(0 if len(item.concept) % 3 else None for item in items.rows)
        right = [item.gold == 0 and len(item.concept) % 3 > 0 for item in items.rows]
        traps = [item.options[0].trap for item in items.rows if item.gold != 0 and len(item.concept) % 3]
        accuracy, near = sum(right) / len(right), traps.count("near") / len(traps)
        shares = (accuracy, (accuracy - 1 / 4) / (3 / 4), near, answers.count(None) / len(answers))
        cells = rows[f"meaning {subset}"]
        assert [cells[n] for n in (0, 1, 2, 4, 5, 8)] == [str(len(right)), ".250", *map(shown, shares)]
        sets.append(score_subset(ItemAnswers(items, answers, "en1", "generation")))
    total, _, macro, interval, *_ = rows["meaning, mean"]
    assert int(total) == sum(len(scored.items) for scored in sets)
    assert macro == shown(mean([scored.resampled() for scored in sets]).score)
    low, high = map(float, interval.split("-"))
    assert low < float(macro) < high
    usage = [row["acc"] for row in found["samples"]["turkic_idiom_usage_tr_gen"] if row["filter"] == "flexible"]
    both = [min(pair) for pair in zip(usage[::2], usage[1::2], strict=True)]
    assert rows["both of a pair"][0] == shown(sum(both) / len(both))


@pytest.mark.parametrize("prompts", ["en2", "all"])
def test_a_part_of_the_items_and_every_prompt_count(item_lexicon, tmp_path, monkeypatch, capsys, prompts):
    monkeypatch.setenv("TURKIC_IDIOM_DATA", str(item_lexicon))
    tasks = our_tasks(metadata={"prompt": prompts})
    found = evaluate(lambda document: document["answer"], ["turkic_idiom_cloze_tr"], tasks, limit=8)
    write_samples(tmp_path, found)
    arguments = [str(tmp_path), "--data", str(item_lexicon)]
    assert main(["lm", "report", *arguments]) == 0
    printed = capsys.readouterr().out
    asked = re.findall(r"^org/llm, 0 examples, (\w+), loglikelihood$", printed, re.MULTILINE)
    assert asked == (["en2"] if prompts == "en2" else ["en1", "en2", "en3", "native"])
    assert rows_of(printed)["cloze tr"][:3] == ["8" if prompts == "en2" else "2", ".250", "1.000"]
    assert main(["submit", *arguments, "--contact", "@me", "--training-data", "unknown"]) != 0
    assert "run it without --limit" in capsys.readouterr().err
