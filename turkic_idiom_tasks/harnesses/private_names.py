"""Every name of mteb and lm-eval that we use although they do not promise to keep it: see ``private_names.json``."""

import importlib
import importlib.metadata
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name of a harness that it does not promise to keep."""

    module: str
    name: str  # the attribute or the field of a dataclass, with the class before it
    reason: str  # our use of it
    used_in: str | None = None  # for an attribute of instances, a function of the module whose code must have the name

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    def is_there(self) -> bool:
        """Return whether the installed harness has the name."""
        try:
            value: object = importlib.import_module(self.module)
        except ImportError:
            return False
        for part in (self.used_in or self.name).split("."):
            # A field without a default is no attribute of its class
            if part in getattr(value, "__dataclass_fields__", {}):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        if self.used_in is None:
            return True
        return self.name.rpartition(".")[2] in value.__code__.co_names  # type: ignore[attr-defined]


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed or its metadata is damaged."""
    try:
        return importlib.metadata.version(distribution) or None  # None where the metadata states no version
    except Exception:
        # Metadata that cannot be read raises almost anything
        return None


# Distribution -> the versions in which all names of it that we depend on were found, as pip takes them, and the names
HARNESSES: dict[str, tuple[str, list[PrivateName]]] = {}
for _harness in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")):
    _names = [PrivateName(**fields) for fields in _harness["private_names"]]
    HARNESSES[_harness["name"]] = (_harness["versions"], _names)
