"""Cards: the README of a lexicon directory, and the README of a dataset on the Hub."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from huggingface_hub import DatasetCard, DatasetCardData
from pydantic import BaseModel, ConfigDict

from hub_datasets.lexicon_figures import figures_table, language_figures, markdown_table
from turkic_idiom_tasks.errors import usage_error
from turkic_idiom_tasks.io.models import model_errors
from turkic_idiom_tasks.io.reading import display, read_json
from turkic_idiom_tasks.languages import LANGUAGES, names
from turkic_idiom_tasks.lexicon.entries import Lexicon
from turkic_idiom_tasks.lexicon.load import BUNDLED
from turkic_idiom_tasks.spans import LABELS

READINGS = "readings.json"  # beside the lexicon: what the readers did, in numbers
BUNDLED_LICENCE = "cc-by-4.0"
UNKNOWN_LICENCE = "unknown"
TAGS = "ner_tags"
_FOLDER = Path(__file__).parent
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_NOT_REVIEWED = "it has **not yet been reviewed by native speakers**"
_REVIEWED = (
    "**native speakers have reviewed the share** that the table above states; `reviews.jsonl` has their verdicts"
)


class Readings(BaseModel):
    """Results of the second reading of a lexicon."""

    model_config = ConfigDict(frozen=True, strict=True)

    by_language: dict[str, dict[str, int]] = {}  # code -> what was counted -> how many; a row of the card for each
    note: str = ""


class DataFile(NamedTuple):
    """One split of one config of a dataset."""

    path: str  # in the repository
    table: pa.Table
    content: bytes  # the table as parquet


Files = dict[str, dict[str, DataFile]]  # config -> split -> file


def lexicon_card(lexicon: Lexicon) -> str:
    """Return the card of a lexicon as Markdown; the card of a lexicon other than the bundled one has only figures."""
    readings, path = Readings(), Path(lexicon.source) / READINGS
    if path.is_file():
        with model_errors(path, "restore the file"):
            readings = Readings.model_validate(read_json(path))
    account = "No account of the readings is kept with this lexicon."
    if readings.by_language:
        by_language = readings.by_language.values()
        rows = [["second reading", *readings.by_language]]
        for name in dict.fromkeys(name for counts in by_language for name in counts):  # in the order of the file
            rows.append([name, *(str(counts.get(name, 0)) for counts in by_language)])
        account = f"{markdown_table(rows)}\n{readings.note}".rstrip()
    template = _FOLDER / ("lexicon_card.md" if lexicon.source == str(BUNDLED) else "other_lexicon_card.md")
    return template.read_text("utf-8").format(
        n_concepts=len(lexicon.concepts),
        languages=", ".join(f"{LANGUAGES[code].name} (`{code}`)" for code in language_figures(lexicon)),
        provisional=names((code for code in lexicon.entries if LANGUAGES[code].provisional), "and"),
        figures=markdown_table(figures_table(lexicon)).rstrip(),
        readings=account,
        review=_REVIEWED if lexicon.is_reviewed else _NOT_REVIEWED,
    )


def dataset_card(
    template: str,
    lexicon: Lexicon,
    files: Files,
    *,
    licence: str | None,
    n_rows: int,
    texts: Mapping[str, str],
    **facts: str | list[str],
) -> str:
    """Return the README of a dataset as Markdown: a template with these texts, and the YAML block that the Hub reads.

    The licence is an identifier of the Hub; None is `BUNDLED_LICENCE` for the bundled lexicon, `UNKNOWN_LICENCE` for
    any other. The facts are further keys of the block.
    """
    configs, information = config_entries(files)
    codes = [code for code in LANGUAGES if lexicon.of(code)]
    is_ours = lexicon.source == str(BUNDLED)
    if licence is not None and not re.fullmatch("[a-z0-9][a-z0-9.-]{0,63}", licence):
        raise usage_error(f"--licence {display(licence)}: the Hub names licences as cc-by-4.0 or other")
    size_names = [name for limit, name in _SIZES if n_rows < limit]
    data = DatasetCardData(
        license=licence or (BUNDLED_LICENCE if is_ours else UNKNOWN_LICENCE),
        language=codes,
        multilinguality=["multilingual" if len(codes) > 1 else "monolingual"],
        annotations_creators=["machine-generated"] if is_ours else None,
        language_creators=["machine-generated"] if is_ours else None,
        source_datasets=["original"] if is_ours else None,
        size_categories=[*size_names, "n>1M"][:1],
        **facts,
        configs=configs,
        dataset_info=information,
    )
    shared = {
        "languages": ", ".join(LANGUAGES[code].name for code in codes),
        "revision": lexicon.revision,
        "example": next(iter(files)),
    }
    return str(DatasetCard.from_template(data, template_path=str(_FOLDER / template), **shared, **texts))


def config_entries(files: Files) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the keys ``configs`` and ``dataset_info`` of a dataset's README."""
    configs, information = [], []
    for config, splits in files.items():
        paths, sizes, download = [], [], 0
        for split, file in splits.items():
            paths.append({"split": split, "path": file.path})
            sizes.append({"name": split, "num_bytes": file.table.nbytes, "num_examples": file.table.num_rows})
            download += len(file.content)
        configs.append({"config_name": config, "data_files": paths})
        # Features and sizes, which the Hub's viewer and `datasets` read from here.
        schema = next(iter(splits.values())).table.schema
        features = [{"name": column.name, **_feature(column.name, column.type)} for column in schema]
        size = sum(part["num_bytes"] for part in sizes)
        totals = {"splits": sizes, "download_size": download, "dataset_size": size}
        information.append({"config_name": config, "features": features, **totals})
    return configs, information


def _feature(name: str, kind: pa.DataType) -> dict[str, Any]:
    """Return a column as `datasets` writes it in YAML."""
    # Made here, because importing that library takes seconds
    # Parquet has no place for the names of the tags
    if name == TAGS:
        names = {str(number): label for number, label in enumerate(LABELS)}
        return {"list": {"class_label": {"names": names}}}
    if not pa.types.is_list(kind):
        return {"dtype": str(kind)}
    inner = kind.value_type
    if pa.types.is_struct(inner):
        return {"list": [{"name": field.name, **_feature(field.name, field.type)} for field in inner]}
    return {"list": _feature("", inner) if pa.types.is_list(inner) else str(inner)}
