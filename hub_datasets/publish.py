"""A lexicon to a dataset repository on the Hub, and a dataset from there into a directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hub_datasets.exported_folder import write_export
from hub_datasets.layout import EVAL, README, HubLayout
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.hub_upload import DATASET, Published, Target, check_version, publish
from turkic_idiom_tasks.lexicon.sources import DATA_VARIABLE, download


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was downloaded.

    Attributes:
        directory: where it stands.
        commit: SHA of the commit that it is.
        n_files: how many files.
    """

    directory: Path
    commit: str
    n_files: int


def publish_dataset(
    layout: HubLayout, repository: str, *, version: str | None, confirmed: bool, write: Callable[[str], object]
) -> Published | None:
    """Publishes a dataset in one commit and sets its tag; None after a dry run.

    Args:
        layout: what to publish.
        repository: ORG/NAME.
        version: the tag, such as v1.0.0; None for none.
        confirmed: False is a dry run.
        write: takes the plan, the outcome and the line that pins it, as text.

    Raises:
        InputError: the Hub refused or could not be reached, or the tag is there with other content.
    """
    check_version(version)
    target = Target(repository, DATASET)
    message = f"Publish {version}" if version else "Publish"
    published = publish(layout.contents, target, message=message, confirmed=confirmed, write=write, tag=version)
    if published:
        write(f"{DATA_VARIABLE}={repository}@{published.commit}\n")
    return published


def pull_dataset(name: str, directory: Path) -> Pulled:
    """Downloads a dataset in the Hub layout into a directory that ``--data`` accepts.

    Args:
        name: ``ORG/NAME`` or ``ORG/NAME@REVISION``.
        directory: new, empty, or an earlier export or pull.

    Raises:
        InputError: it cannot be read, is not in the Hub layout, or the directory holds something else.
    """
    dataset, folder = download(name)
    if not dataset.configs:
        raise InputError(f"{name}: no dataset in the Hub layout (no README.md with configs whose files are there)")
    data = {path for splits in dataset.configs.values() for paths in splits.values() for path in paths}
    files = [*data, *(path for path in (folder / README, folder / EVAL) if path.is_file())]
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}
    write_export(directory, contents)
    return Pulled(directory, dataset.revision, len(contents))
