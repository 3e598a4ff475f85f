"""The README of a published dataset, with the YAML block that the Hub reads, and the eval.yaml that registers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hub_datasets.card import card, read_readings
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.retrieval.relevance import SUBSETS, TASKS
from turkic_idiom_tasks.spans import LABELS

NAME = "Turkic idioms"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_TAGS = "ner_tags"
_USE = """# {name}

Idioms with meanings and examples, joined by concept, and the tasks derived from them. Languages: {languages}.

- Retrieval, configs `<task>-<subset>-queries`, `-corpus` and `-qrels`: T1, from a Turkish idiom to the idiom of another
  language; T2, from an idiom to its meaning; T3, from a Turkish idiom to the meaning in another language. Queries are
  those of the test concepts, the corpus is all of the target language.
- Span detection, configs `span-<language>`: example sentences with the tags of their words in `ner_tags`
  ({labels}; every part of a discontinuous idiom begins with B-IDIOM), split by concept.
- The lexicon itself, configs `lexicon-<language>`: what all of it was derived from.

```python
from datasets import load_dataset

load_dataset("ORG/NAME", "{example}")  # ORG/NAME: this dataset; add revision="COMMIT" to pin it
```

With turkic-idiom-tasks installed, the stock `mteb` and `lm-eval` commands score models on it; set
`TURKIC_IDIOM_DATA=ORG/NAME@COMMIT`.

Exported by turkic-idiom-tasks from a lexicon with the content hash `{revision}`.

| config | rows |
|---|---:|
{rows}

"""


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """One split of one config.

    Attributes:
        config, split: their names.
        schema: of the table, from pyarrow.
        rows: how many.
        arrow_bytes: size of the table in memory.
        content: the parquet file.
    """

    config: str
    split: str
    schema: Any
    rows: int
    arrow_bytes: int
    content: bytes

    @property
    def path(self) -> str:
        """Where it stands in the repository."""
        return f"data/{self.config}/{self.split}.parquet"


def readme(lexicon: Lexicon, files: Sequence[DataFile], *, licence: str) -> str:
    """The README as Markdown, with its YAML block.

    Args:
        lexicon: what the files were derived from.
        files: of the dataset.
        licence: Hub identifier.
    """
    import yaml

    block = yaml.safe_dump(_metadata(lexicon, files, licence=licence), sort_keys=False, allow_unicode=True, width=120)
    languages = [LANGUAGES[code].name for code in LANGUAGES if lexicon.of(code)]
    by_config = _by_config(files)
    rows = [f"| {config} | {_rows(parts)} |" for config, parts in by_config.items()]
    use = _USE.format(
        name=NAME,
        languages=", ".join(languages),
        labels=", ".join(f"{number}: {label}" for number, label in enumerate(LABELS)),
        example=next(iter(by_config)),
        revision=lexicon.revision,
        rows="\n".join(rows),
    )
    about = re.sub("^#", "##", card(lexicon, read_readings(Path(lexicon.source))), flags=re.MULTILINE)
    return f"---\n{block}---\n\n{use}{about}"


def eval_yaml(files: Iterable[DataFile]) -> str:
    """What registers the dataset as a benchmark on the Hub: a task per retrieval task, and one per subset of it."""
    import yaml

    by_config = _by_config(files)
    tasks: list[dict[str, str]] = []
    for short, subsets in SUBSETS.items():
        found = [subset for subset in subsets if f"{short}-{subset}-queries" in by_config]
        name = TASKS[short].name
        tasks += [{"id": name}] if found else []
        for subset in found:
            config = f"{short}-{subset}-queries"
            tasks.append({"id": f"{name}-{subset}", "config": config, "split": by_config[config][0].split})
    content = {
        "name": NAME,
        "description": "Idiom understanding in Turkic languages: from an idiom to its meaning, and to its counterpart "
        "and that one's meaning in another language. The score is nDCG without a cut-off, in [0, 1]; that of a task is "
        "the mean over its subsets.",
        "evaluation_framework": "mteb",
        "tasks": tasks,
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))


def _metadata(lexicon: Lexicon, files: Sequence[DataFile], *, licence: str) -> dict[str, Any]:
    codes = [code for code in LANGUAGES if lexicon.of(code)]
    entries = sum(len(lexicon.of(code)) for code in codes)
    by_config = _by_config(files)
    has_spans = any(_TAGS in file.schema.names for file in files)
    ours = {
        "annotations_creators": ["machine-generated"],
        "language_creators": ["machine-generated"],
        "source_datasets": ["original"],
    }
    return {
        "license": licence,
        "language": codes,
        "pretty_name": NAME,
        "multilinguality": ["multilingual" if len(codes) > 1 else "monolingual"],
        **(ours if lexicon.source == str(BUNDLED) else {}),
        "task_categories": ["text-retrieval", *(["token-classification"] if has_spans else [])],
        "task_ids": ["document-retrieval"],
        "tags": ["idioms", "mteb"],
        "size_categories": [next((name for limit, name in _SIZES if entries < limit), "n>1M")],
        "configs": [
            {"config_name": config, "data_files": [{"split": part.split, "path": part.path} for part in parts]}
            for config, parts in by_config.items()
        ],
        "dataset_info": [_info(config, parts) for config, parts in by_config.items()],
    }


def _info(config: str, parts: Sequence[DataFile]) -> dict[str, Any]:
    return {
        "config_name": config,
        "features": [{"name": field.name, **_feature(field.name, field.type)} for field in parts[0].schema],
        "splits": [{"name": part.split, "num_bytes": part.arrow_bytes, "num_examples": part.rows} for part in parts],
        "download_size": sum(len(part.content) for part in parts),
        "dataset_size": sum(part.arrow_bytes for part in parts),
    }


def _feature(name: str, kind: Any) -> dict[str, Any]:
    """A column as `datasets` writes it in YAML; parquet cannot say the names of the tags."""
    import pyarrow.types as types

    if name == _TAGS:
        return {"list": {"class_label": {"names": {str(number): label for number, label in enumerate(LABELS)}}}}
    if not types.is_list(kind):
        return {"dtype": str(kind)}
    inner = kind.value_type
    if types.is_struct(inner):
        return {"list": [{"name": field.name, "dtype": str(field.type)} for field in inner]}
    return {"list": _feature("", inner) if types.is_list(inner) else str(inner)}


def _by_config(files: Iterable[DataFile]) -> Mapping[str, list[DataFile]]:
    by_config: dict[str, list[DataFile]] = {}
    for file in files:
        by_config.setdefault(file.config, []).append(file)
    return by_config


def _rows(parts: Sequence[DataFile]) -> str:
    """`38`, or `216 train, 25 validation, 38 test` where there are several splits."""
    return ", ".join(f"{part.rows} {part.split}" for part in parts) if len(parts) > 1 else str(parts[0].rows)
