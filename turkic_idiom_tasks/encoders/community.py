"""Encoders for Turkic languages that mteb does not list: what is known of them, and what is not."""

from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from turkic_idiom_tasks.encoders.folders import is_local
from turkic_idiom_tasks.encoders.names import NO_REVISION, PAPER_ENCODERS

# From model cards and file listings on the Hub; a field that no public source confirms is left out
FILE = Path(__file__).parent / "community_encoders.json"

Commit = Annotated[str, Field(pattern="^[0-9a-f]{40}$")]


class CommunityEncoder(BaseModel):
    """What is known of an encoder; None is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]  # on the Hub
    languages: list[str]  # codes of those that it was trained for
    revision: Commit | None = None  # a commit that is known to exist; None means that the newest one is loaded
    n_parameters: Annotated[int, Field(gt=0)] | None = None  # often rounded by its authors
    license: str | None = None  # by mteb's names
    # role -> prompt before a text; None leaves it to the checkpoint. Those of the paper's encoders are not in the file.
    prompts: dict[Literal["query", "document"], str] | None = None
    needs_remote_code: bool = False
    weights: Literal["safetensors", "pickle"] | None = None  # pickles are loaded by the stock `mteb` command only
    is_gated: bool | None = None  # whether its conditions must be accepted on the Hub
    note: str | None = None  # where it comes from, or what a field stands on


@cache
def community_encoders() -> MappingProxyType[str, CommunityEncoder]:
    """Return name -> record of every encoder, in the order of the file."""
    records = {}
    for record in TypeAdapter(list[CommunityEncoder]).validate_json(FILE.read_bytes()):
        _, prompts = PAPER_ENCODERS.get(record.name, (NO_REVISION, record.prompts))
        records[record.name] = record.model_copy(update={"prompts": prompts})
    return MappingProxyType(records)


def pinned_revision(name: str) -> str | None:
    """Return the commit at which one of the paper's or the community's encoders is loaded; None is the newest.

    A local folder has none, also one of the same name.
    """
    if is_local(name):
        return None
    revision, _ = PAPER_ENCODERS.get(name, (NO_REVISION, None))
    if revision != NO_REVISION:
        return revision
    record = community_encoders().get(name)
    return record.revision if record else None
