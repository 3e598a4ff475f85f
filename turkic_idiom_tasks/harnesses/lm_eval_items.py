"""What the task files in ``lm_eval_tasks/items/`` name: documents, reading of answers, and scores.

A document is one item under one prompt. The answer is the position of the chosen option, the words of an open
task, or None if the response could not be read.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from datasets import Dataset as HarnessDataset
from lm_eval.api.samplers import ContextSampler

from turkic_idiom_tasks.dataset import Dataset
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.harnesses import lm_eval_bridge as bridge
from turkic_idiom_tasks.harnesses.lm_eval_bridge import Document, Part
from turkic_idiom_tasks.results.item_answers import find_items, row_digest
from turkic_idiom_tasks.splits import TEST, TRAIN
from turkic_idiom_tasks.tasks.items import prompts
from turkic_idiom_tasks.tasks.items.answers import read_letter, read_open
from turkic_idiom_tasks.tasks.items.item_types import NEAR, USAGE, is_found
from turkic_idiom_tasks.tasks.items.items import build_items, whole_of
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS
from turkic_idiom_tasks.tasks.items.scoring import judge_open

ALL_PROMPTS = "all"


class _Splits(dict[str, HarnessDataset]):
    """Splits of a task, each built when it is first asked for."""

    def __init__(
        self, test_data: Dataset, kind: str, languages: tuple[str, str | None], variants: Sequence[str]
    ) -> None:
        super().__init__()
        self._test_data, self._kind, self._languages, self._variants = test_data, kind, languages, variants

    def __missing__(self, split: str) -> HarnessDataset:
        # Making training items takes long, and lm-eval takes no split before it needs one
        documents = []
        dataset = self._test_data if split == TEST else bridge.open_data()
        for item in build_items(dataset, self._kind, *self._languages, split=split):
            for variant in self._variants:
                query, answer = prompts.asked(self._kind, item, variant)
                document = {
                    "id": item.id,
                    "kind": self._kind,  # of the task: an open task is apart from the kind of its items
                    "concept": item.concept,  # unit of the resampling for the interval
                    "lang": item.language,
                    "target_lang": item.target,
                    "idiom": item.idiom,
                    "text": item.text,
                    "options": [option.text for option in item.options],
                    "traps": [option.trap for option in item.options],
                    "gold": item.gold,
                    "digest": row_digest(item),
                    "prompt": variant,
                    "query": query,
                    "letters": list(prompts.letters(item)),
                    "answer": answer,
                }
                documents.append(document)
        self[split] = HarnessDataset.from_list(documents)
        return self[split]


class ItemTask(bridge.IdiomTask):
    """A task whose examples (`--num_fewshot`) are training items under the prompt of the question itself."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._samplers: dict[str, ContextSampler] = {}
        self._seed: int | None = None
        super().__init__(config)

    def fewshot_docs(self) -> None:
        """Return nothing: lm-eval would make a list of all examples at once, even if none are asked for."""

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Begin to draw examples anew."""
        self._seed = seed
        self._samplers.clear()

    def fewshot_context(self, doc: Document, num_fewshot: int, *args: Any, **options: Any) -> Any:
        """Return the prompt of a document with its examples; see lm-eval."""
        if num_fewshot:
            # A run under several prompts asks every item under each. One sampler would mix them in the examples
            variant = doc["prompt"]
            if variant not in self._samplers:
                examples = [example for example in self.dataset[TRAIN] if example["prompt"] == variant]
                self._samplers[variant] = ContextSampler(examples, rnd=self._seed)
            self.sampler = self._samplers[variant]
        return super().fewshot_context(doc, num_fewshot, *args, **options)


def load(
    kind: str,
    language: str,
    target: str = "",
    prompt: str = prompts.EN1,
    all_prompts: bool = False,
    found: bool = False,
    **_metadata: Any,
) -> Mapping[str, HarnessDataset]:
    """Return the splits of a task; the arguments are the metadata of its file and the user's ``--metadata``.

    The user chooses one of `prompts.VARIANTS`, or `ALL_PROMPTS`: ``--metadata '{"prompt": "en2"}'``. Groups that end in
    ``_prompts`` ask every item under every prompt (`all_prompts`). Examples of the items of found text, which has no
    training split, are those of the other data.
    """
    dataset = bridge.open_data(found=found)
    n_items = len(build_items(dataset, kind, language, target or None))
    name = "_".join(part for part in (kind, language, target) if part)
    if not n_items:
        raise InputError(f"{dataset.path}: has no test item for {name}; `turkic-idiom lm stats` lists what it has")
    bridge.warn_if_small(name, n_items, "items", dataset)
    if not dataset.lexicon.equivalents:
        bridge.log.warning(
            "%s: %s has no judged equivalents, so traps are only kept apart from the answer by how close they are",
            name,
            dataset.path,
        )
    variants = prompts.VARIANTS if all_prompts or prompt == ALL_PROMPTS else (prompt,)
    return _Splits(dataset, kind, (language, target or None), variants)


def _read(document: Document, response: str, *, strict: bool) -> dict[str, Any]:
    if document["kind"] in OPEN_TASKS:
        n_answers = OPEN_TASKS[document["kind"]].n_answers
        answer: object = read_open(response, document["text"], n_answers=n_answers, strict=strict)
    else:
        answer = read_letter(response, len(document["letters"]), strict=strict)
    return {"answer": answer, "strict": strict}


def process_loglikelihoods(document: Document, results: Sequence[Sequence[Any]]) -> dict[str, Part | None]:
    """Return metric -> part of the answer; see `lm_eval_bridge.likeliest_option`."""
    return _metrics(document, bridge.likeliest_option(document, results))


def process_results(document: Document, results: Sequence[str]) -> dict[str, Part | None]:
    """Return metric -> part of the answer; the strict reading, which shows how the format is kept, has one metric."""
    reading = bridge.checked_reading(document, results)
    metrics = _metrics(document, reading["answer"])
    return dict(list(metrics.items())[:1]) if reading["strict"] else metrics


def _metrics(document: Document, answer: int | str | None) -> dict[str, Part | None]:
    add = partial(bridge.part, document["concept"])
    unreadable = add(answer is None)
    if document["kind"] in OPEN_TASKS:
        dataset = bridge.open_data(found=is_found(document["id"]))
        subset = "-".join(dict.fromkeys((document["lang"], document["target_lang"])))
        items = find_items(dataset, document["kind"], subset)
        assert items is not None
        item = items.rows[items.row[document["id"]]]
        (judgement,) = judge_open(document["kind"], [item], [None if answer is None else str(answer)], dataset.lexicon)
        has_several = OPEN_TASKS[document["kind"]].n_answers > 1
        own = {"first": add(judgement["first"])} if has_several else {"exact_match": add(judgement["exact"])}
        of_all = {"accepted": add(judgement["accepted"]), "unjudged": add(judgement["unjudged"])}
        return {**own, **of_all, "unreadable": unreadable}
    is_right = answer == document["gold"]
    chance = 1 / len(document["options"])
    metrics: dict[str, Part | None] = {
        "acc": add(is_right),
        "acc_corrected": add((is_right - chance) / (1 - chance)),
        "unreadable": unreadable,
    }
    if is_found(document["id"]):
        return metrics
    if whole_of(document["kind"]) == USAGE:
        return metrics | {"pair_acc": add(is_right, pair=(document["prompt"], document["concept"]))}
    # Of the wrong answers that could be read
    is_counted = isinstance(answer, int) and not is_right
    return metrics | {"near_share": add(document["traps"][answer] == NEAR) if is_counted else None}


# What the task files name: the filters
filter_loglikelihood = bridge.mark_loglikelihoods
filter_strict = partial(bridge.read_responses, _read, strict=True)
filter_flexible = partial(bridge.read_responses, _read, strict=False)
