"""Data of the benchmark, opened once and passed on: retrieval subsets, tagged sentences, entries, revision."""

from turkic_idiom_tasks.dataset.base import Dataset
from turkic_idiom_tasks.dataset.dataset import BUNDLED_PATH, LexiconDataset, open_dataset
from turkic_idiom_tasks.dataset.hub_dataset import HubDataset

__all__ = ["BUNDLED_PATH", "Dataset", "HubDataset", "LexiconDataset", "open_dataset"]
