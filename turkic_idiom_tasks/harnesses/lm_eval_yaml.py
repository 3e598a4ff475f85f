"""Text of each task file of the language-model tasks.

The files are written once, with ``python -m turkic_idiom_tasks.harnesses.lm_eval_yaml``, and are part of the
package; nothing is generated when lm-eval reads them. What tasks have in common is in the files that begin with an
underscore, of which those that end in ``_scores`` are written here too. A test compares the files with what this module
writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from turkic_idiom_tasks.harnesses import TASK_FOLDER
from turkic_idiom_tasks.harnesses.lm_eval_names import ALL, GENERATIVE, PREFIX, PROMPTS, groups, tasks
from turkic_idiom_tasks.io.files import write_text
from turkic_idiom_tasks.tasks.items.item_types import MEANING, USAGE
from turkic_idiom_tasks.tasks.items.prompts import CLOZE_OPEN
from turkic_idiom_tasks.tasks.items.scoring import SCORES
from turkic_idiom_tasks.tasks.spans.scoring import SUBWORD_METRICS, WORD_METRICS

FOLDER = TASK_FOLDER / "items"
VERSION = "1.0"  # raised when the same answers get other scores

_SCORE_FILES = {MEANING: "_choice_scores", USAGE: "_usage_scores", CLOZE_OPEN: "_cloze_open_scores"}
_MEANS = {
    MEANING: ("accuracy", "accuracy_corrected", "near_share", "lexical_share", "random_share"),
    USAGE: ("accuracy", "accuracy_corrected", "pair_accuracy", "recall_figurative", "recall_literal"),
    CLOZE_OPEN: ("exact", "accepted", "lemma"),
}  # other kinds are as `meaning`
_LOWER_IS_BETTER = ("_share", "_spread", "unreadable", "small_sample", "format_error", "unmatched_spans")


def files() -> dict[str, str]:
    """Return the name of every file of the tasks on items, and its text."""
    texts = {}
    for kind, name in _SCORE_FILES.items():
        texts[name] = score_file("turkic_idiom_tasks.harnesses.lm_eval_items", SCORES[kind])
    for name, (kind, languages) in tasks().items():
        way = "_generation" if name.endswith(GENERATIVE) or kind == CLOZE_OPEN else "_loglikelihood"
        keys = zip(("language", "target"), languages, strict=False)
        arguments = "".join(f", {key}: {code}" for key, code in keys)
        texts[f"{name}.yaml"] = (
            f"include: [_common, {way}, {_SCORE_FILES.get(kind, _SCORE_FILES[MEANING])}]\n"
            f"task: {name}\n"
            f"task_alias: {'-'.join(languages)}\n"
            f"metadata: {{version: {VERSION}, kind: {kind}{arguments}}}\n"
        )
    for name, members in groups().items():
        if name.startswith(ALL):
            texts[f"{name}.yaml"] = group_file(name, members)
            continue
        kind = name.removeprefix(PREFIX).removesuffix(PROMPTS).removesuffix(GENERATIVE)
        means, options = _MEANS.get(kind, _MEANS[MEANING]), ""
        if name.endswith(PROMPTS):
            means += ("accepted_spread" if kind == CLOZE_OPEN else "accuracy_spread",)
            # lm-eval hands what a group sets down to its tasks, so that no task files are needed for these groups
            options = "dataset_kwargs: {all_prompts: true}  # for every task of the group\n"
        texts[f"{name}.yaml"] = group_file(name, members, means=means, options=options)
    return texts


def span_files() -> dict[str, str]:
    """Return the file of the scores of the span tasks, whose other files are written by hand."""
    text = score_file("turkic_idiom_tasks.harnesses.lm_eval_spans", [*WORD_METRICS, *SUBWORD_METRICS])
    return {"_span_scores": text + _score_lines(["format_error", "unmatched_spans"])}


def group_file(name: str, members: Sequence[str], *, means: Iterable[str] = (), options: str = "") -> str:
    """Return the text of the file of a group, with the scores that it has as means over its members, each alike."""
    text = f"group: {name}\ntask:\n" + "".join(f"  - {member}\n" for member in members) + options
    # lm-eval weighs the members by their size unless it is told not to; languages should count alike
    lines = [f"  - {{metric: {metric}, aggregation: mean, weight_by_size: false}}\n" for metric in means]
    if lines:
        text += "aggregate_metric_list:\n" + "".join(lines)
    return text + f"metadata: {{version: {VERSION}}}\n"


def score_file(module: str, names: Iterable[str]) -> str:
    """Return the text of the file that lists scores with the functions of a module that compute them."""
    return "# Written by turkic_idiom_tasks/harnesses/lm_eval_yaml.py.\nmetric_list:\n" + _score_lines(names, module)


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files, and remove those of tasks that there are no more."""
    for path in folder.glob("*.yaml"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        write_text(folder / name, text)


def _score_lines(names: Iterable[str], module: str = "") -> str:
    lines = ""
    for name in names:
        function = f"!function {module}.{name}" if module else "mean"
        is_better = "false" if name.endswith(_LOWER_IS_BETTER) else "true"
        lines += f"  - {{metric: {name}, aggregation: {function}, higher_is_better: {is_better}}}\n"
    return lines


if __name__ == "__main__":
    write_files(FOLDER, files())
    for file_name, file_text in span_files().items():
        write_text(TASK_FOLDER / file_name, file_text)
