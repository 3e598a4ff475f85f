"""A small data set and scored submissions of it, for tests of what is made of them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np

from hub_datasets.questionnaire import questionnaire_page
from leaderboard.board import RETRIEVAL_TASKS, ScoredSubmission
from leaderboard.data import BoardData, SubsetItems
from leaderboard.submission import Metadata
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT
from turkic_idiom_tasks.metrics.ranking import random_ndcg
from turkic_idiom_tasks.results.headlines import Headline
from turkic_idiom_tasks.results.item_answers import ITEM_TASKS, ItemAnswers, find_items, item_subsets, row_digest
from turkic_idiom_tasks.results.predictions import SPANS, Rankings, Tags
from turkic_idiom_tasks.results.scored import MAIN_SCORES, ScoredSubset
from turkic_idiom_tasks.tasks.items.open_tasks import OPEN_TASKS

REVISION = "0123456789abcdef0123456789abcdef01234567"
POOL = 200
FLOOR = random_ndcg(POOL, 1)
ALL_TASKS = (*RETRIEVAL_TASKS, SPANS)
HOSTILE = (
    "<img src=x onerror='window.hacked=1'>",
    '"><script>window.hacked=1</script>',
    "javascript:window.hacked=1",
    "</title></script><svg onload=window.hacked=1>",
    "{{ 7 * 7 }}{% raw %}",
)


def make_data(n=40, *, languages=("tr", "az", "tk", "gag", "uz"), text="{language} {concept}", few=None, extra=()):
    """The four tasks and extra ones with `n` concepts in each language; `few` maps a language to its own number."""
    subsets = []
    for task in (*ALL_TASKS, *extra):
        for code in languages:
            crosses, is_spans = task in ("T1", "T3"), task == SPANS
            if crosses and code == PIVOT:
                continue
            asked = LANGUAGES["tr" if crosses else code]
            concepts = tuple(f"c{number:03d}" for number in range((few or {}).get(code, n)))
            ids = [c if is_spans else f"{asked.subset}:{c}" for c in concepts]
            texts, answers = (
                {item: text.format(language=language.name, concept=c) for item, c in zip(ids, concepts, strict=True)}
                for language in (asked, LANGUAGES[code])
            )
            subset = SubsetItems(
                task=task,
                name=code if is_spans else "-".join(dict.fromkeys((asked.subset, LANGUAGES[code].subset))),
                language=code,
                concepts=concepts,
                texts=texts,
                answers=answers,
                n_right=dict.fromkeys(ids, 1),
                floor=0.0 if is_spans else FLOOR,
                pool=None if is_spans else POOL,
                headline_floor=0.0 if is_spans else FLOOR,
                spelling_free=frozenset(ids[len(ids) // 4 :]) if task == "T1" else None,
            )
            subsets.append(subset)
    return BoardData("tests/data", REVISION, tuple(subsets))


def make_metadata(**values):
    """Metadata with everything filled in; some of it replaced by `values`, which are not checked."""
    usual = {
        "name": "org/model",
        "revision": "a" * 40,
        "n_parameters": 110_000_000,
        "type": "encoder",
        "regime": "pretrained",
        "training_data": "Wikipedia; no idioms of the benchmark",
        "pooling": "mean",
        "few_shot": None,
        "dataset": "tests/data",
        "dataset_revision": REVISION,
        "versions": {"mteb": "2.10.0", "torch": "2.6.0"},
        "contact": "someone",
    }
    return Metadata.model_construct(**(usual | values))


def make_scored(key, data, *, skill=0.3, seed=0, tasks=ALL_TASKS, **metadata):
    """A scored submission whose ranks are drawn so that a higher `skill` in [0, 1] scores higher."""
    generator = np.random.default_rng(seed)
    values = {}
    for subset in data.subsets:
        if subset.task not in tasks:
            continue
        if subset.task == SPANS:
            right = (generator.random(subset.n) < skill).astype(float)
            found = np.maximum(right, generator.random(subset.n) < 0.8)
            values[subset.task, subset.name] = np.stack([right, found, np.ones(subset.n)], axis=1)
        else:
            ranks = np.ceil((POOL + 1) ** ((1 - skill) * generator.random(subset.n)))
            values[subset.task, subset.name] = 1 / np.log2(1 + ranks)
    return scored_of(key, data, values, **metadata)


def scored_of(key, data, values, **metadata):
    """A scored submission from (task, subset) -> nDCG of each query, or for each sentence spans right, found, true."""
    subsets = []
    for subset in data.subsets:
        if (subset.task, subset.name) not in values:
            continue
        of_subset = np.asarray(values[subset.task, subset.name], dtype=float)
        if subset.task == SPANS:  # F1 is 2 * right / (found + true)
            sums = np.stack([2 * of_subset[:, 0], of_subset[:, 1] + of_subset[:, 2]], axis=1)
        else:
            sums = np.stack([of_subset, np.ones(len(of_subset))], axis=1)
        above, below = sums.sum(axis=0)
        free = subset.spelling_free or subset.texts
        chosen = [position for position, item in enumerate(subset.texts) if item in free]
        concepts = tuple(subset.concepts[position] for position in chosen)
        scored = ScoredSubset(
            task=subset.task,
            subset=subset.name,
            language=subset.language,
            items=tuple(subset.texts),
            concepts=subset.concepts,
            sums=sums,
            floor=subset.floor,
            headline=Headline(concepts, sums[chosen], subset.floor),
            scores={MAIN_SCORES[subset.task]: above / below if below else math.nan},
        )
        subsets.append(scored)
    return ScoredSubmission(key, make_metadata(**({"name": f"org/{key}"} | metadata)), tuple(subsets))


def make_submissions(data):
    """Every kind of submission that the pages must show, hostile texts among them."""
    submissions = []
    for n, (name, kind, regime, size) in enumerate(
        (
            ("Küçük-İdiom", "encoder", "pretrained", 66_000_000),
            ("middle", "encoder", "tr-only", 278_000_000),
            ("big", "llm", "few-shot", 7_000_000_000),
            ("unknown", "baseline", "pretrained", None),
        )
    ):
        about = {"name": f"org/{name}", "type": kind, "regime": regime, "n_parameters": size}
        submissions.append(make_scored(f"model-{n}", data, skill=0.1 + 0.1 * n, seed=n, **about))
    for n, text in enumerate(HOSTILE):
        about = {"name": text, "training_data": text, "texts_per_second": 1234.4, "device": text}
        submissions.append(make_scored(f"hostile-{n}", data, skill=0.02, seed=20 + n, tasks=("spans",), **about))
    for n, text in enumerate(HOSTILE[:2]):
        about = {"name": HOSTILE[0], "contact": text, "few_shot": n}
        submissions.append(make_scored(f"shots-{n}", data, skill=0.3, seed=40, tasks=("spans",), **about))
    turkish = make_scored("turkish", data, skill=0.3, seed=9, tasks=("T2",))
    return [*submissions, replace(turkish, subsets=turkish.subsets[:1])]


def random_rankings(dataset, task, subset, seed):
    pool = dataset.pool(task, subset)
    shape = (len(pool.queries), len(pool.documents))
    return Rankings.from_similarities(pool, np.random.default_rng(seed).random(shape))


def random_tags(dataset, language, seed):
    """Tags that are right now and then."""
    generator = np.random.default_rng(seed)
    sentences = dataset.test_sentences(language)
    letters = []
    for row in sentences.rows:
        is_right = generator.random() < 0.5
        letters.append("".join(tag[0] if is_right else "O" for tag in row.tags))
    return Tags(sentences, tuple(letters))


def gold(item, is_open):
    return item.options[item.gold].text if is_open else item.gold


def near(item, is_open):
    """The near trap, or any wrong option where there is none; in an open task nothing that can be read."""
    if is_open:
        return None
    traps = [option.trap for option in item.options]
    wrong = next(position for position in range(len(traps)) if position != item.gold)
    return traps.index("near") if "near" in traps else wrong


def answers_of(data, choose, tasks=ITEM_TASKS):
    predictions = {}
    for task in tasks:
        for subset in item_subsets(data, task):
            items = find_items(data, task, subset)
            chosen = tuple(choose(item, task in OPEN_TASKS) for item in items.rows)
            predictions[task, subset] = ItemAnswers(items, chosen, "en1", "generation")
    return predictions


def save_person(folder, number, dataset, n_right):
    """Saves what the page for people saves: answers to the first items of these subsets, `n_right` of them right."""
    page, _ = questionnaire_page(dataset, list(n_right), n=4 * len(n_right))
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])
    answers, n_done = [], dict.fromkeys(n_right, 0)
    for row in data["items"]:
        key = (row["task"], row["subset"])
        (item,) = [item for item in find_items(dataset, *key).rows if row_digest(item) == row["digest"]]
        is_right = n_done[key] < n_right[key]
        n_done[key] += 1
        answers.append({name: row[name] for name in ("task", "subset", "digest")})
        answers[-1]["answer"] = item.gold if is_right else (item.gold + 1) % len(item.options)
    profile = {"native": "Türkçe", "region": "", "age": "30-44"}
    content = {"format": data["format"], "revision": data["revision"], "profile": profile, "answers": answers}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"answers-0000000{number}.json"
    path.write_text(json.dumps(content), "utf-8")
    return path
