"""JSON files of the site that other programs may read: what is in them, and the JSON Schemas that say so.

Each file names its schema in ``$schema`` and its version in ``format``. Within a version keys may be added; a key that
changes its meaning or goes away makes a new version, and a new schema beside the old one.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

FORMAT: Literal[1] = 1
SCHEMAS = "schema"  # folder of the schemas within the site
DIALECT = "https://json-schema.org/draft/2020-12/schema"  # in which pydantic writes them


# Six decimal places; None for an undefined figure, as JSON has no NaN
_Figure = Annotated[
    float | None, BeforeValidator(lambda value: None if value is None or math.isnan(value) else round(value, 6))
]


class _Part(BaseModel):
    """Part of a file; unknown keys are refused, so that every key is documented."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)


class _Interval(_Part):
    """Ends of the interval of a score; null where undefined."""

    low: _Figure = Field(description="Lower end of the 95% interval.")
    high: _Figure = Field(description="Upper end of the 95% interval.")
    reliable: bool = Field(description="False if few concepts decide, so that the interval may be too short.")


class StandingJson(_Interval):
    """Place of a submission in one ranking."""

    rank: int = Field(description="1 + the number of models in better groups; equal within a group.")
    group: int = Field(
        description="Number of the group, 1 for the best; no model of a group is shown to be worse than "
        "the group's best."
    )
    score: _Figure = Field(description="Chance-corrected score: 1 is perfect, 0 is chance.")


class SubsetScoresJson(_Interval):
    """Scores of a submission on one subset; null where undefined."""

    task: str = Field(description="Short name: T1 to T4, spans, or a kind of items.")
    subset: str = Field(description="Such as tur-azj; the language code for spans.")
    language: str = Field(description="Code of the language of the documents, sentences or options.")
    n: int = Field(description="Number of queries, sentences or items.")
    small_n: bool = Field(description="Whether these are fewer than 30.")
    main: _Figure = Field(
        description="nDCG without a cut-off, span F1, accuracy, or the share of accepted answers; not chance-corrected."
    )
    headline: _Figure = Field(description="Chance-corrected score that spelling alone gets by chance.")
    scores: dict[str, _Figure] = Field(description="Every score by its name in result files.")


class SubmissionJson(_Part):
    """Figures of one submission."""

    id: str = Field(description="Name of its folder.")
    badges: list[str] = Field(description="How its scores were checked.")
    metadata: dict[str, Any] = Field(
        description="What the submitter says; the fields of submission.json, texts_per_second and device among them."
    )
    overall: StandingJson | None = Field(description="Standing over all tasks but T4; null without all of them.")
    retrieval: StandingJson | None = Field(description="Standing over T1 to T3.")
    tasks: dict[str, StandingJson] = Field(
        description="Task -> standing over its subsets; without the tasks that are not complete."
    )
    subsets: list[SubsetScoresJson] = Field(description="Every submitted subset.")


class DataSubsetJson(_Part):
    """One subset of the data."""

    task: str = Field(description="Short name.")
    subset: str = Field(validation_alias="name", description="Its name within the task.")
    language: str = Field(description="Code of the language of the documents, sentences or options.")
    n: int = Field(description="Number of queries, sentences or items.")
    pool: int | None = Field(description="Number of documents that are ranked; null without any.")
    floor: _Figure = Field(description="Main score of a random ranking or choice.")


class DataJson(_Part):
    """Data that the submissions were scored on."""

    path: str = Field(description="Name of the data in results.")
    revision: str = Field(description="Content hash or commit, 40 hexadecimal digits.")
    edition: str | None = Field(description="Edition of the bundled lexicon; null for other data.")
    subsets: list[DataSubsetJson] = Field(description="Every subset.")


class OtherEditionJson(_Part):
    """Submission that predicted another edition of the lexicon; it has no scores here."""

    id: str = Field(description="Name of its folder.")
    edition: str | None = Field(description="Edition that it predicted.")
    metadata: dict[str, Any] = Field(description="What the submitter says.")


class PeopleJson(_Interval):
    """Answers of people to items of one subset; null where undefined. People have no rank."""

    task: str = Field(description="Kind of items.")
    subset: str = Field(description="Language or direction.")
    n_people: int = Field(description="Number of people.")
    n_items: int = Field(description="Number of items that somebody answered.")
    main: _Figure = Field(description="Mean of the people's accuracies, not chance-corrected.")
    best: float = Field(description="Accuracy of the best person.")


class _File(_Part):
    """A file, with its version and its schema."""

    schema_file: str = Field(serialization_alias="$schema", description="Address of this schema, relative to the file.")
    format: Literal[1] = Field(default=FORMAT, description="Version of the format.")


class LeaderboardFile(_File):
    """``leaderboard.json`` and ``language-models.json``: every figure of a board."""

    data: DataJson = Field(description="What was scored.")
    models: list[SubmissionJson] = Field(description="Submissions, best first.")
    other_editions: list[OtherEditionJson] = Field(description="Submissions that are listed without scores.")
    people: list[PeopleJson] = Field(description="Answers of people to the items of language models.")


class ScoresFile(_File):
    """``scores/ID.json``: the figures of one submission, and what it scored on every query and sentence."""

    submission: SubmissionJson = Field(description="Its figures, as in leaderboard.json.")
    items: str = Field(description="Address of the file with the ids of queries and sentences, relative to this one.")
    values: dict[str, list[int | float]] = Field(
        description="``T1/tur-azj`` -> nDCG of each query, or for each sentence numerator and denominator "
        "of its span F1."
    )


class ItemsFile(_File):
    """``items.json``: the ids of queries and sentences, in the order of the values in ``scores/ID.json``."""

    items: dict[str, list[str]] = Field(description="``T1/tur-azj`` -> ids.")


FILES: dict[str, type[_File]] = {"leaderboard": LeaderboardFile, "scores": ScoresFile, "items": ItemsFile}


def schema_path(name: str) -> str:
    """Return the path of a schema within the site."""
    return f"{SCHEMAS}/{name}-{FORMAT}.json"
