"""Data of the benchmark, opened once and passed on: retrieval subsets, tagged sentences, entries, revision."""

from turkic_idiom_tasks.dataset.base import Dataset, LexiconDataset
from turkic_idiom_tasks.dataset.hub_dataset import BUNDLED_PATH, HubDataset, open_dataset

__all__ = ["BUNDLED_PATH", "Dataset", "HubDataset", "LexiconDataset", "open_dataset"]
