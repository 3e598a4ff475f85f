"""Span scores of three taggers that learn nothing, on the test sentences of one language.

    python benchmarks/span_baselines.py [--lang tr] [--data DATA] [--model DIR]

- closed list: the annotator looks for every idiom of the training sentences, and everything that it places is marked.
  This is the best that a list of known idioms can do, and nothing at all on idioms that are not on it.
- given idiom: the annotator is given the sentence's own idiom; not a fair competitor, but what fair ones approach.
- untuned: an encoder with a random head (--model), three seeds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.sentences import TaggedSentence, locate
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.spans import Span, iob2_tags
from turkic_idiom_tasks.splits import TRAIN
from turkic_idiom_tasks.tasks.spans.classifier import Prediction, score_predictions
from turkic_idiom_tasks.training.config import SEEDS
from turkic_idiom_tasks.training.span import load_untuned

SHOWN = ("span_f1", "span_precision", "span_recall", "span_f1_ci_low", "span_f1_ci_high", "token_f1", "n_sentences")


def annotated(sentence: TaggedSentence, idioms: Sequence[str]) -> Prediction:
    """Return the tags of everything that the annotator places of some idioms; of overlapping places the first."""
    spans: list[Span] = []
    for idiom in idioms:
        for span in annotate(idiom, sentence.sentence, LANGUAGES[sentence.language]).spans:
            if not any(other.start < span.end and span.start < other.end for other in spans):
                spans.append(span)
    tags = tuple(iob2_tags(sorted(spans), locate(sentence.tokens, sentence.sentence)))
    return Prediction(tags, subword_tags=tags, owners=tuple(range(len(tags))))


def main() -> None:
    """Score the taggers and print a line of JSON for each."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--lang", default="tr")
    arguments.add_argument("--data", default="", help="as in turkic-idiom run")
    arguments.add_argument("--model", help="encoder for the untuned tagger")
    options = arguments.parse_args()
    dataset = open_dataset(options.data)
    test = dataset.test_sentences(options.lang)
    known = sorted({sentence.idiom for sentence in dataset.sentences(options.lang)[TRAIN]})
    runs = {
        "closed list": [annotated(sentence, known) for sentence in test.rows],
        "given idiom": [annotated(sentence, [sentence.idiom]) for sentence in test.rows],
    }
    for seed in SEEDS if options.model else ():
        classifier = load_untuned(options.model, seed=seed)
        tokens = [sentence.tokens for sentence in test.rows]
        runs[f"untuned, seed {seed}"] = classifier.predict(tokens, [options.lang] * len(tokens))
    for name, predictions in runs.items():
        scores = score_predictions(test, predictions)
        print(json.dumps({"tagger": name} | {key: round(scores[key], 4) for key in SHOWN}))


if __name__ == "__main__":
    main()
