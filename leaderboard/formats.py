"""JSON files of the site that other programs may read: what is in them, and the JSON Schemas that say so.

Each file names its schema in ``$schema`` and its version in ``format``. Within a version keys may be added; a key that
changes its meaning or goes away makes a new version, and a new schema beside the old one.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT: Literal[1] = 1
SCHEMAS = "schema"  # folder of the schemas within the site


class _Part(BaseModel):
    """Part of a file; unknown keys are refused, so that every key is documented."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class StandingJson(_Part):
    """Place of a submission in one ranking."""

    rank: int
    """1 + the number of models in better groups; equal within a group."""
    group: int
    """Number of the group, 1 for the best; no model of a group is shown to be worse than the group's best."""
    score: float | None
    """Chance-corrected score: 1 is perfect, 0 is chance."""
    low: float | None
    """Lower end of its 95% interval."""
    high: float | None
    """Upper end of its 95% interval."""
    reliable: bool
    """False if few concepts decide, so that the interval may be too short."""


class SubsetScoresJson(_Part):
    """Scores of a submission on one subset; null where undefined."""

    task: str
    """Short name: T1 to T4, spans, or a kind of items."""
    subset: str
    """Such as tur-azj; the language code for spans."""
    language: str
    """Code of the language of the documents, sentences or options."""
    n: int
    """Number of queries, sentences or items."""
    small_n: bool
    """Whether these are fewer than 30."""
    main: float | None
    """nDCG without a cut-off, span F1, accuracy, or the share of accepted answers; not chance-corrected."""
    low: float | None
    """Lower end of the 95% interval of the main score."""
    high: float | None
    """Upper end of the 95% interval of the main score."""
    reliable: bool
    """False if few concepts decide the interval."""
    corrected: float | None
    """Chance-corrected main score."""
    scores: dict[str, float | None]
    """Every score by its name in result files."""


class SubmissionJson(_Part):
    """Figures of one submission."""

    id: str
    """Name of its folder."""
    badges: list[str]
    """How its scores were checked."""
    metadata: dict[str, Any]
    """What the submitter says; the fields of submission.json, texts_per_second and device among them."""
    overall: StandingJson | None
    """Standing over all tasks but T4; null without all of them."""
    retrieval: StandingJson | None
    """Standing over T1 to T3."""
    tasks: dict[str, StandingJson]
    """Task -> standing over its subsets; without the tasks that are not complete."""
    subsets: list[SubsetScoresJson]
    """Every submitted subset."""


class DataSubsetJson(_Part):
    """One subset of the data."""

    task: str
    """Short name."""
    subset: str
    """Its name within the task."""
    language: str
    """Code of the language of the documents, sentences or options."""
    n: int
    """Number of queries, sentences or items."""
    pool: int | None
    """Number of documents that are ranked; null without any."""
    floor: float | None
    """Main score of a random ranking or choice."""


class DataJson(_Part):
    """Data that the submissions were scored on."""

    path: str
    """Name of the data in results."""
    revision: str
    """Content hash or commit, 40 hexadecimal digits."""
    edition: str | None
    """Edition of the bundled lexicon; null for other data."""
    subsets: list[DataSubsetJson]
    """Every subset."""


class OtherEditionJson(_Part):
    """Submission that predicted another edition of the lexicon; it has no scores here."""

    id: str
    """Name of its folder."""
    edition: str | None
    """Edition that it predicted."""
    metadata: dict[str, Any]
    """What the submitter says."""


class _File(_Part):
    """A file, with its version and its schema."""

    schema_file: str = Field(serialization_alias="$schema")
    """Address of this schema, relative to the file."""
    format: Literal[1] = FORMAT
    """Version of the format."""


class LeaderboardFile(_File):
    """``leaderboard.json`` and ``language-models.json``: every figure of a board."""

    data: DataJson
    """What was scored."""
    models: list[SubmissionJson]
    """Submissions, best first."""
    other_editions: list[OtherEditionJson]
    """Submissions that are listed without scores."""


class ScoresFile(_File):
    """``scores/ID.json``: the figures of one submission, and what it scored on every query and sentence."""

    submission: SubmissionJson
    """Its figures, as in leaderboard.json."""
    items: str
    """Address of the file with the ids of queries and sentences, relative to this one."""
    values: dict[str, list[int | float]]
    """``T1/tur-azj`` -> nDCG of each query, or for each sentence numerator and denominator of its span F1."""


class ItemsFile(_File):
    """``items.json``: the ids of queries and sentences, in the order of the values in ``scores/ID.json``."""

    items: dict[str, list[str]]
    """``T1/tur-azj`` -> ids."""


FILES: dict[str, type[_File]] = {"leaderboard": LeaderboardFile, "scores": ScoresFile, "items": ItemsFile}


def schema_path(name: str) -> str:
    """Return the path of a schema within the site."""
    return f"{SCHEMAS}/{name}-{FORMAT}.json"


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return path within the site -> JSON Schema."""
    schemas = {}
    for name, model in FILES.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}-{FORMAT}.json"}
        schemas[schema_path(name)] = schema | model.model_json_schema(mode="serialization")
    return schemas
