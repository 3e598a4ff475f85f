"""Whether the installed packages have versions inside our bounds, from their metadata alone: no package is imported.

It must work in a broken environment, so it needs nothing but the standard library and, once it is called, packaging.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import requires, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

DISTRIBUTION = "turkic-idiom-tasks"


@dataclass(frozen=True, slots=True)
class WrongVersion:
    """A package that is absent, or whose version does not suit who needs it.

    Attributes:
        name: of the package, as registries compare it: lower case, with hyphens.
        installed: its version; None if it is not installed.
        bounds: what is needed, as pip writes it: ``<3,>=2.11.6``.
        needed_by: the distribution that needs it.
        wanted: what to hand to pip: the name with its extras, and everything that is needed of its version.
    """

    name: str
    installed: str | None
    bounds: str
    needed_by: str
    wanted: str

    def __str__(self) -> str:
        state = f"{self.name} {self.installed} is installed" if self.installed else f"{self.name} is not installed"
        return f"{state}, but {self.needed_by} needs {self.name}{self.bounds}"


@dataclass(frozen=True, slots=True)
class _Need:
    """A requirement, and the distribution that states it."""

    owner: str
    requirement: Requirement

    @property
    def name(self) -> str:
        """Return the name of the package that is needed, as registries compare it."""
        return re.sub(r"[-_.]+", "-", self.requirement.name).lower()


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed or its metadata is damaged."""
    try:
        return version(distribution) or None  # None where the metadata states no version
    except Exception:  # metadata that cannot be read raises almost anything
        return None


def stated_requirements(distribution: str) -> list[str]:
    """Return the requirements that an installed distribution states; none if its metadata cannot be read."""
    try:
        return requires(distribution) or []
    except Exception:
        return []


def wrong_versions() -> list[WrongVersion]:
    """Return the packages whose version is outside our bounds, or outside what they need of each other; each once.

    Looked at are our own requirements, the requirements that these packages have among themselves (one transformers
    needs huggingface-hub below 2.0), and the extras of theirs that we ask for. What else they need is left to pip.
    """
    needs = _needs()
    wrong: dict[str, WrongVersion] = {}
    for need in needs:
        installed = installed_version(need.name)
        is_right = installed is not None and _is_inside(installed, need.requirement.specifier)
        if not is_right and need.name not in wrong:
            wrong[need.name] = WrongVersion(
                name=need.name,
                installed=installed,
                bounds=str(need.requirement.specifier),
                needed_by=need.owner,
                wanted=_wanted(need.name, needs),
            )
    return list(wrong.values())


def pip_command(wrong: Iterable[WrongVersion]) -> str:
    """Return the one pip command that installs versions which suit everything that needs them."""
    return " ".join(["pip install", *(f"'{item.wanted}'" for item in wrong)])


def _needs() -> list[_Need]:
    own_needs = _applying_needs(DISTRIBUTION, ())
    own_names = {need.name for need in own_needs}
    needs = list(own_needs)
    for own_need in own_needs:
        for need in _applying_needs(own_need.name, own_need.requirement.extras):
            marker = need.requirement.marker
            is_of_an_extra = marker is not None and not marker.evaluate({"extra": ""})
            if is_of_an_extra or need.name in own_names:
                needs.append(need)
    return needs


def _applying_needs(owner: str, extras: Collection[str]) -> list[_Need]:
    """Return what a distribution with some of its extras needs on this Python and system."""
    from packaging.requirements import InvalidRequirement, Requirement  # may itself be what is broken

    needs = []
    for text in stated_requirements(owner):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:  # in old metadata
            continue
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needs.append(_Need(owner, requirement))
    return needs


def _is_inside(installed: str, bounds: SpecifierSet) -> bool:
    from packaging.version import InvalidVersion

    try:
        return bounds.contains(installed, prereleases=True)
    except InvalidVersion:
        return False


def _wanted(name: str, needs: Iterable[_Need]) -> str:
    """Return what to hand to pip for a package: its extras, and all that is needed of its version."""
    from packaging.version import Version

    extras: set[str] = set()
    floors: dict[Version, str] = {}
    ceilings: dict[Version, str] = {}
    other_bounds: set[str] = set()
    for need in needs:
        if need.name != name:
            continue
        extras.update(need.requirement.extras)
        for bound in need.requirement.specifier:
            if bound.operator == ">=":
                floors.setdefault(Version(bound.version), str(bound))
            elif bound.operator == "<":
                ceilings.setdefault(Version(bound.version), str(bound))
            else:
                other_bounds.add(str(bound))
    listed_extras = f"[{','.join(sorted(extras))}]" if extras else ""
    bounds = sorted(other_bounds)
    if ceilings:
        bounds.insert(0, ceilings[min(ceilings)])
    if floors:
        bounds.insert(0, floors[max(floors)])
    return f"{name}{listed_extras}{','.join(bounds)}"
