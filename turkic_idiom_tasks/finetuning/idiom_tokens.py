"""Idioms of the data of a training, which are to have a token each, and their tokens in the encoder that is trained."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from turkic_idiom_tasks.annotation.annotate import annotate
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.dataset.similarity import SIMILARITY_LANGUAGES, complete_entries
from turkic_idiom_tasks.encoders.idiom_tokens import MODES, SELECT, IdiomForm, KnownIdiom, make_tokens
from turkic_idiom_tasks.encoders.idiom_transformer import IdiomTokenTransformer, add_idiom_tokens
from turkic_idiom_tasks.encoders.names import INITIAL_VECTORS
from turkic_idiom_tasks.encoders.sentence_classifier import TrainedClassifier, load_trained_classifier
from turkic_idiom_tasks.errors import usage_error
