"""The questions about AStitchInLanguageModels, Task 1, in lm-eval."""

import pytest
from sklearn.metrics import f1_score

from tests.lm_eval_runs import evaluate
from turkic_idiom_tasks.harnesses.siblings.lm_eval_astitch import build_questions, data_in_use
from turkic_idiom_tasks.tasks.siblings.astitch import AStitchData


def test_the_questions_say_what_is_asked_and_which_letter_is_right(labelled_astitch):
    data = AStitchData()
    idiomatic, literal, name, _ = build_questions(data, "idiomaticity", "por")
    assert idiomatic["query"].startswith("Expression: gold mine\nSentence: Data is a gold mine.\nIs the expression ")
    assert "Portuguese" in idiomatic["query"]
    assert idiomatic["query"].endswith("\nA. idiomatic\nB. not idiomatic\nAnswer:")
    assert [question["letters"][question["gold"]] for question in (idiomatic, literal, name)] == ["A", "B", "B"]
    meant = build_questions(data, "meaning", "eng")
    assert len(meant) == 3 * 3 + 2
    assert meant[0]["query"].startswith(
        "Expression: gold mine\nSentence: Data is a gold mine.\nMeaning: source of riches"
    )
    assert [question["letters"][question["gold"]] for question in meant[:3]] == ["A", "B", "B"]  # yes, no, no
    (example, *_) = build_questions(data, "idiomaticity", "eng", part="train_few_shot")
    assert "sat in the tree" in example["query"]
    assert data_in_use("meaning", "eng")[1] != data_in_use("meaning", "por")[1]


def test_the_questions_of_the_real_data_are_as_many_as_the_paper_says(outside_data):
    folder = outside_data / "astitch"
    if not folder.is_dir():
        pytest.skip("no astitch among the outside data")
    data = AStitchData(folder)
    for language, n_sentences, n_idiomatic in (("eng", 483, 149), ("por", 279, 165)):  # tables 10 and 11
        questions = build_questions(data, "idiomaticity", language)
        assert len(questions) == n_sentences
        assert sum(question["labels"][question["gold"]] == 0 for question in questions) == n_idiomatic
        meant = build_questions(data, "meaning", language)
        assert sum(question["gold"] == 0 for question in meant) == n_sentences  # each sentence has one meaning
        assert {question["idiom"] for question in meant} == {question["idiom"] for question in questions}


def test_scores_of_models_that_are_right_constant_and_mixed(labelled_astitch, manager):
    groups = ["astitch_idiomaticity", "astitch_idiomaticity_gen", "astitch_meaning", "astitch_meaning_gen"]
    results = evaluate(lambda document: document["answer"], groups, manager)
    for name, row in results["results"].items():
        for reading in ("strict", "flexible") if name.endswith("_gen") else ("none",):
            assert (row[f"macro_f1,{reading}"], row[f"acc,{reading}"]) == (1, 1), name
    metadata = results["configs"]["astitch_meaning_por"]["metadata"]
    assert metadata["data_revision"] == data_in_use("meaning", "por")[1]
    results = evaluate(lambda document: "A", groups, manager)
    # always idiomatic, 2 of 4: label 0 has 2 * 2 / (2 + 4), label 1 has 0
    assert results["results"]["astitch_idiomaticity_eng"]["macro_f1,none"] == pytest.approx(1 / 3)
    assert results["groups"]["astitch_idiomaticity_gen"]["macro_f1,flexible"] == pytest.approx(1 / 3)
    # always yes, right for 4 of 11 candidates: label 1 has 2 * 4 / (4 + 11)
    assert results["results"]["astitch_meaning_por"]["macro_f1,none"] == pytest.approx(4 / 15)
    assert results["results"]["astitch_meaning_por"]["acc,none"] == pytest.approx(4 / 11)
    # one that is wrong, two that are right, and one that cannot be read
    gold = [question["labels"][question["gold"]] for question in build_questions(AStitchData(), "idiomaticity", "eng")]
    written = iter([{"A": "B", "B": "A"}.get, str, str, lambda right: "lol"])
    results = evaluate(lambda document: next(written)(document["answer"]), ["astitch_idiomaticity_eng_gen"], manager)
    row = results["results"]["astitch_idiomaticity_eng_gen"]
    predicted = [1 - gold[0], *gold[1:3], -1]
    assert row["macro_f1,flexible"] == pytest.approx(f1_score(gold, predicted, labels=[0, 1], average="macro"))
    assert (row["acc,flexible"], row["unreadable,flexible"]) == (0.5, 0.25)


def test_examples_come_from_the_few_shot_file_and_a_further_question_is_ignored(labelled_astitch, manager):
    def goes_on(document):
        return f"{document['answer']}\n\n{document['query']} B"

    results = evaluate(goes_on, ["astitch_idiomaticity_eng_gen"], manager, num_fewshot=1)
    assert results["results"]["astitch_idiomaticity_eng_gen"]["acc,flexible"] == 1
    for sample in results["samples"]["astitch_idiomaticity_eng_gen"]:
        example, question = sample["arguments"][0][0].split("\n\n")
        assert "sat in the tree" in example
        assert example.endswith("Answer: B")
        assert question == sample["doc"]["query"]
