"""Cards: the README of a lexicon directory, and the README and eval.yaml of a dataset on the Hub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from huggingface_hub import DatasetCard, DatasetCardData
from pydantic import BaseModel, ConfigDict, ValidationError

from hub_datasets.lexicon_figures import language_figures, markdown, markdown_table
from turkic_idiom_tasks.dataset.retrieval import SUBSETS, TASKS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.io.reading import first_fault, read_json
from turkic_idiom_tasks.languages import LANGUAGES
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.spans import LABELS

NAME = "Turkic idioms"
TEMPLATE = Path(__file__).with_name("lexicon_card.md")
READINGS = "readings.json"  # beside the lexicon: what the readers did, in numbers
TAGS = "ner_tags"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_OTHER_TEMPLATE = """# Idioms of {languages}

{n_concepts} concepts. This is not the lexicon that comes with turkic-idiom-tasks: see its source for the origin of the
texts, how they were checked, and their licence.

{figures}
"""
_USE = """# {name}

Idioms with meanings and examples, joined by concept, and the tasks derived from them. Languages: {languages}.

- Retrieval, configs `<task>-<subset>-queries`, `-corpus` and `-qrels`: T1, from a Turkish idiom to the idiom of another
  language; T2, from an idiom to its meaning; T3, from a Turkish idiom to the meaning in another language. Queries are
  those of the test concepts, the corpus is all of the target language.
- Span detection, configs `span-<language>`: example sentences with the tags of their words in `ner_tags`
  ({labels}; every part of a discontinuous idiom begins with B-IDIOM), split by concept.
- The lexicon itself, configs `lexicon-<language>`: the source of all other configs.

```python
from datasets import load_dataset

load_dataset("ORG/NAME", "{example}")  # ORG/NAME: this dataset; add revision="COMMIT" to pin it
```

With turkic-idiom-tasks installed, the stock `mteb` and `lm-eval` commands score models on it; set
`TURKIC_IDIOM_DATA=ORG/NAME@COMMIT`.

Exported by turkic-idiom-tasks from a lexicon with the content hash `{revision}`.

{rows}
"""


_NOT_REVIEWED = "it has **not yet been reviewed by native speakers**"
_REVIEWED = (
    "**native speakers have reviewed the share** that the table above states; `reviews.jsonl` has their verdicts"
)


class Readings(BaseModel):
    """Results of the second reading of a lexicon.

    Attributes:
        by_language: language code -> what was counted -> how many; the card shows a row for each in this order.
        note: a remark on the reading.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    by_language: dict[str, dict[str, int]] = {}
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """One split of one config of a dataset.

    Attributes:
        config, split: their names.
        schema: columns of the table.
        rows: number of rows.
        arrow_bytes: size of the table in memory.
        content: the parquet file.
    """

    config: str
    split: str
    schema: pa.Schema
    rows: int
    arrow_bytes: int
    content: bytes

    @property
    def path(self) -> str:
        """Return the path of the file in the repository."""
        return f"data/{self.config}/{self.split}.parquet"


def read_readings(directory: Path) -> Readings:
    """Return the results of the second reading from the file in a lexicon directory; empty if there is no such file.

    Raises:
        InputError: the file is damaged.
    """
    path = directory / READINGS
    if not path.is_file():
        return Readings()
    try:
        return Readings.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(f"{path}: damaged ({first_fault(error)}); restore it") from error


def lexicon_card(lexicon: Lexicon, readings: Readings) -> str:
    """Return the card of a lexicon as Markdown; the card of a lexicon other than the bundled one has only figures.

    Args:
        lexicon: its entries.
        readings: from `read_readings`.
    """
    languages = [f"{LANGUAGES[code].name} (`{code}`)" for code in language_figures(lexicon)]
    template = TEMPLATE.read_text("utf-8") if lexicon.source == str(BUNDLED) else _OTHER_TEMPLATE
    return template.format(
        n_concepts=len(lexicon.concepts),
        languages=", ".join(languages),
        figures=markdown(lexicon).rstrip(),
        readings=_readings_text(readings),
        review=_REVIEWED if lexicon.is_reviewed else _NOT_REVIEWED,
    )


def dataset_card(lexicon: Lexicon, files: Sequence[DataFile], *, licence: str) -> str:
    """Return the README of a dataset as Markdown, with the YAML block that the Hub reads.

    Args:
        lexicon: the lexicon that the files were derived from.
        files: files of the dataset.
        licence: Hub identifier of the licence.
    """
    by_config = files_by_config(files)
    rows = []
    for config, parts in by_config.items():
        counts = [f"{part.rows} {part.split}" for part in parts]
        rows.append([config, ", ".join(counts) if len(parts) > 1 else str(parts[0].rows)])
    use = _USE.format(
        name=NAME,
        languages=", ".join(LANGUAGES[code].name for code in LANGUAGES if lexicon.of(code)),
        labels=", ".join(f"{number}: {label}" for number, label in enumerate(LABELS)),
        example=next(iter(by_config)),
        revision=lexicon.revision,
        rows=markdown_table(["config", "rows"], rows),
    )
    about = lexicon_card(lexicon, read_readings(Path(lexicon.source)))
    about = re.sub("^#", "##", about, flags=re.MULTILINE)
    block = _card_data(lexicon, by_config, licence=licence).to_yaml()
    return str(DatasetCard(f"---\n{block}\n---\n\n{use}{about}"))


def eval_yaml(files: Iterable[DataFile]) -> str:
    """Return the eval.yaml that registers the dataset as a benchmark on the Hub, with an entry per task and subset."""
    by_config = files_by_config(files)
    tasks: list[dict[str, str]] = []
    for short, subsets in SUBSETS.items():
        name = TASKS[short].name
        registered = []
        for subset in subsets:
            config = f"{short}-{subset}-queries"
            if config in by_config:
                split = by_config[config][0].split
                registered.append({"id": f"{name}-{subset}", "config": config, "split": split})
        if registered:
            tasks += [{"id": name}, *registered]
    content = {
        "name": NAME,
        "description": "Idiom understanding in Turkic languages: from an idiom to its meaning, to an idiom of the same "
        "meaning in another language, and to the meaning of that idiom. The score is nDCG without a cut-off, in "
        "[0, 1]; the score of a task is the mean over its subsets.",
        "evaluation_framework": "mteb",
        "tasks": tasks,
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))


def _card_data(lexicon: Lexicon, by_config: Mapping[str, Sequence[DataFile]], *, licence: str) -> DatasetCardData:
    codes = [code for code in LANGUAGES if lexicon.of(code)]
    n_entries = sum(len(lexicon.of(code)) for code in codes)
    categories = ["text-retrieval"]
    if any(config.startswith("span-") for config in by_config):
        categories.append("token-classification")
    is_ours = lexicon.source == str(BUNDLED)
    configs, information = described_configs(by_config)
    return DatasetCardData(
        license=licence,
        language=codes,
        pretty_name=NAME,
        multilinguality=["multilingual" if len(codes) > 1 else "monolingual"],
        annotations_creators=["machine-generated"] if is_ours else None,
        language_creators=["machine-generated"] if is_ours else None,
        source_datasets=["original"] if is_ours else None,
        task_categories=categories,
        task_ids=["document-retrieval"],
        size_categories=[size_category(n_entries)],
        tags=["idioms", "mteb"],
        configs=configs,
        dataset_info=information,
    )


def described_configs(by_config: Mapping[str, Sequence[DataFile]]) -> tuple[list[Any], list[Any]]:
    """Return the keys ``configs`` and ``dataset_info`` of a README: where the files are, and what is in them."""
    configs, information = [], []
    for config, parts in by_config.items():
        paths = [{"split": part.split, "path": part.path} for part in parts]
        configs.append({"config_name": config, "data_files": paths})
        information.append(_config_information(config, parts))
    return configs, information


def size_category(n_entries: int) -> str:
    """Return the size of a dataset in the words of the Hub."""
    for limit, name in _SIZES:
        if n_entries < limit:
            return name
    return "n>1M"


def _config_information(config: str, parts: Sequence[DataFile]) -> dict[str, Any]:
    """Return features and sizes of a config, which the Hub's viewer and `datasets` read from the README."""
    features = []
    for column in parts[0].schema:
        features.append({"name": column.name, **_feature(column.name, column.type)})
    splits = []
    for part in parts:
        splits.append({"name": part.split, "num_bytes": part.arrow_bytes, "num_examples": part.rows})
    return {
        "config_name": config,
        "features": features,
        "splits": splits,
        "download_size": sum(len(part.content) for part in parts),
        "dataset_size": sum(part.arrow_bytes for part in parts),
    }


def _feature(name: str, kind: pa.DataType) -> dict[str, Any]:
    """Return a column as `datasets` writes it in YAML."""
    if name == TAGS:  # parquet has no place for the names of the tags
        names = {str(number): label for number, label in enumerate(LABELS)}
        return {"list": {"class_label": {"names": names}}}
    if not pa.types.is_list(kind):
        return {"dtype": str(kind)}
    inner = kind.value_type
    if pa.types.is_struct(inner):
        return {"list": [{"name": field.name, "dtype": str(field.type)} for field in inner]}
    return {"list": _feature("", inner) if pa.types.is_list(inner) else str(inner)}


def files_by_config(files: Iterable[DataFile]) -> dict[str, list[DataFile]]:
    """Return config -> its files, one for each split."""
    by_config: dict[str, list[DataFile]] = {}
    for file in files:
        by_config.setdefault(file.config, []).append(file)
    return by_config


def _readings_text(readings: Readings) -> str:
    if not readings.by_language:
        return "No account of the readings is kept with this lexicon."
    counted: dict[str, None] = {}
    for counts in readings.by_language.values():
        counted |= dict.fromkeys(counts)
    rows = []
    for name in counted:
        rows.append([name, *(str(counts.get(name, 0)) for counts in readings.by_language.values())])
    table = markdown_table(["second reading", *readings.by_language], rows)
    return f"{table}\n{readings.note}".rstrip()
