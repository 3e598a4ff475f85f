"""Run by an interpreter that has EuroEval: prints as JSON what it makes of a dataset on the Hub in the environment.

The configs are those of the dataset itself or, with names after the cache, those that EuroEval lists under them.
"""

import json
import sys
from pathlib import Path

from datasets import load_dataset
from euroeval import dataset_configs
from euroeval.string_utils import extract_multiple_choice_labels
from euroeval.yaml_config import load_yaml_config
from huggingface_hub import HfApi


def main(repository, cache, *names):
    listed = [value for value in vars(dataset_configs).values() if getattr(value, "_name", None) in names]
    described = {}
    for config in listed or load_yaml_config(HfApi(), repository, Path(cache)) or []:
        name, *_ = config.source.split("::")[1:] if listed else config.name.split("::")[1:]
        dataset = config.preprocessing_func(load_dataset(repository, name, cache_dir=cache))
        row = dataset[config.test_split][0]
        labels = extract_multiple_choice_labels(prompt=row["text"], candidate_labels=config.labels)
        prompt = config.instruction_prompt.format(text=row["text"], labels_str=config.get_labels_str(labels=labels))
        described[name] = {
            "name": config.name,
            "unofficial": config.unofficial,
            "task": config.task.name,
            "languages": [language.name for language in config.languages],
            "splits": [config.train_split, config.val_split, config.test_split],
            "prefix": config.prompt_prefix.format(labels_str=config.get_labels_str()),
            "example": config.prompt_template.format(text=row["text"], label=row["label"]),
            "prompt": prompt,
            "label": row["label"],
            "id": row["id"],
        }
    json.dump(described, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
