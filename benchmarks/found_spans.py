"""Span scores of fine-tuned taggers on sentences that people wrote, beside those on our own test sentences.

    turkic-idiom dataset found --corpora corpora --out found-spans
    python benchmarks/found_spans.py CHECKPOINT... --found found-spans [--json]

Scores are span F1 by language, and on found text also of the sentences whose idiom the tagger has not seen in
training, by length, by how the idiom stands there, and the share of sentences without an idiom in which nothing is
tagged. What people wrote has shapes that a tagger may miss although its idiom is known, so the parts say where.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence

from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, TestSentences
from turkic_idiom_tasks.metrics.spans import micro_scores, span_counts
from turkic_idiom_tasks.spans import OUTSIDE
from turkic_idiom_tasks.splits import TRAIN, VALIDATION
from turkic_idiom_tasks.tasks.spans.classifier import Prediction, TokenClassifier, score_predictions

LENGTHS = ((1, 8), (9, 16), (17, 30), (31, 1000))  # words
NEWS = ("ntrex", "xwmt", "ud-tr-boun", "ud-tr-penn", "ud-tr-pud")  # corpora with much news


def parts_of(seen_idioms: set[str]) -> dict[str, Callable[[TaggedSentence], bool]]:
    """Return name -> whether a sentence belongs to a part."""
    parts: dict[str, Callable[[TaggedSentence], bool]] = {
        "unseen idiom": lambda row: bool(row.spans()) and row.idiom not in seen_idioms,
        "seen idiom": lambda row: row.idiom in seen_idioms,
        "news": lambda row: row.id.startswith(NEWS),
        "interrupted": lambda row: row.tags.count("B-IDIOM") > 1,
    }
    for low, high in LENGTHS:
        name = f"{low} to {high} words" if high < LENGTHS[-1][1] else f"{low} words or more"
        parts[name] = lambda row, low=low, high=high: low <= len(row.tokens) <= high
    return parts


def scores(rows: Sequence[TaggedSentence], tags: Sequence[Sequence[str]]) -> dict[str, float | int]:
    """Return span F1 of some sentences, as seqeval computes it, and how many they are."""
    span_f1 = micro_scores(span_counts([row.tags for row in rows], tags), "span")["span_f1"]
    return {"n": len(rows), "span_f1": round(span_f1, 4)}


def tag(classifier: TokenClassifier, sentences: TestSentences) -> list[Prediction]:
    """Return the tags of sentences."""
    return classifier.predict([row.tokens for row in sentences.rows], [sentences.language] * len(sentences.rows))


def main() -> None:
    """Score every checkpoint, and print a table or JSON."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("checkpoints", nargs="+")
    arguments.add_argument("--found", required=True, help="output of turkic-idiom dataset found")
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    own, found = open_dataset(), open_dataset(options.found)
    results = []
    for checkpoint in options.checkpoints:
        classifier = TokenClassifier.load(checkpoint)
        for language in found.span_languages:
            row: dict[str, object] = {"checkpoint": checkpoint, "language": language}
            own_test = own.test_sentences(language)
            own_tags = [prediction.tags for prediction in tag(classifier, own_test)]
            row["own"] = scores(own_test.rows, own_tags)
            test = found.test_sentences(language)
            predictions = tag(classifier, test)
            whole = score_predictions(test, predictions)
            interval = [round(whole[f"span_f1_ci_{end}"], 4) for end in ("low", "high")]
            tags = [prediction.tags for prediction in predictions]
            row["found"] = scores(test.rows, tags) | {"interval": interval}
            training = own.sentences("tr")  # what documented checkpoints are trained on
            seen = {sentence.idiom for split in (TRAIN, VALIDATION) for sentence in training[split]}
            for name, belongs in parts_of(seen).items():
                chosen = [number for number, sentence in enumerate(test.rows) if belongs(sentence)]
                row[name] = scores([test.rows[number] for number in chosen], [tags[number] for number in chosen])
            silent = [set(tags[n]) == {OUTSIDE} for n, sentence in enumerate(test.rows) if not sentence.spans()]
            row["nothing tagged where no idiom is"] = {"n": len(silent), "share": round(sum(silent) / len(silent), 4)}
            results.append(row)
    if options.json:
        print(json.dumps(results, indent=2, ensure_ascii=False))
        return
    for row in results:
        print(row.pop("checkpoint"), row.pop("language"))
        for name, values in row.items():
            print(f"  {name:34} {json.dumps(values)}")


if __name__ == "__main__":
    main()
