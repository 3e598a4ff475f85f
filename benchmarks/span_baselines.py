"""Span scores of three taggers that learn nothing, on the test sentences of one language.

    python benchmarks/span_baselines.py [--lang tr] [--data DIR]

- closed list: the annotator looks for every idiom of the training sentences; what it finds is marked. The best that a
  list of known idioms can do, and nothing at all on idioms that are not on it.
- given idiom: the annotator is told the sentence's own idiom; not a fair competitor, but what fair ones approach.
- untuned: an encoder with a random head (--model DIR), three seeds.
"""

from __future__ import annotations

import argparse
import json
import os

from hub_datasets.annotation.annotate import annotate
from turkic_idiom_tasks.finetuning.span import SEEDS, load_untuned
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE
from turkic_idiom_tasks.span_detection.classifier import Prediction
from turkic_idiom_tasks.span_detection.scoring import score_predictions
from turkic_idiom_tasks.span_detection.sentences import TaggedSentence, current_spans
from turkic_idiom_tasks.span_detection.words import locate
from turkic_idiom_tasks.spans import Span, iob2_tags

SHOWN = ("span_f1", "span_precision", "span_recall", "span_f1_ci_low", "span_f1_ci_high", "token_f1", "n_sentences")


def tagged(sentence: TaggedSentence, idioms: list[str]) -> Prediction:
    """The tags of everything that the annotator finds of some idioms; of overlapping finds the first."""
    spans: list[Span] = []
    for idiom in idioms:
        for span in annotate(idiom, sentence.sentence, LANGUAGES[sentence.language]).spans:
            if not any(other.start < span.end and span.start < other.end for other in spans):
                spans.append(span)
    tags = iob2_tags(sorted(spans), locate(sentence.tokens, sentence.sentence))
    return Prediction(tuple(tags), tuple(tags), tuple(range(len(tags))))


def main() -> None:
    """Scores and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lang", default="tr")
    parser.add_argument("--data", help="as in turkic-idiom run")
    parser.add_argument("--model", help="encoder for the untuned tagger")
    options = parser.parse_args()
    if options.data:
        os.environ[DATA_VARIABLE] = options.data
    splits = current_spans().load(options.lang)
    test = splits["test"]
    known = sorted({sentence.idiom for sentence in splits["train"]})
    runs = {
        "closed list": [tagged(sentence, known) for sentence in test],
        "given idiom": [tagged(sentence, [sentence.idiom]) for sentence in test],
    }
    for seed in SEEDS if options.model else ():
        classifier = load_untuned(options.model, seed=seed)
        runs[f"untuned, seed {seed}"] = classifier.predict([s.tokens for s in test], [s.language for s in test])
    for name, found in runs.items():
        scores = score_predictions(test, found)
        print(json.dumps({"tagger": name} | {key: round(scores[key], 4) for key in SHOWN}))


if __name__ == "__main__":
    main()
