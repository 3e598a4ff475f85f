"""Names of a harness that it does not promise to keep, and a check that the installed one has them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A name of a harness.

    Attributes:
        module: module of the name.
        name: the attribute or the field of a dataclass, with the class before it.
        reason: our use of it.
        used_in: for an attribute of instances, a function of the same module whose code must have the name.
    """

    module: str
    name: str
    reason: str
    used_in: str | None = None

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    def is_there(self) -> bool:
        """Return whether the installed harness has the name."""
        try:
            value: object = importlib.import_module(self.module)
        except ImportError:
            return False
        for part in (self.used_in or self.name).split("."):
            if part in getattr(value, "__dataclass_fields__", {}):
                return True
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        if self.used_in is None:
            return True
        return self.name.rpartition(".")[2] in value.__code__.co_names  # type: ignore[attr-defined]


def missing(names: Iterable[PrivateName]) -> list[PrivateName]:
    """Return the names that the installed harness no longer has."""
    return [name for name in names if not name.is_there()]
