"""From submitted predictions to a static leaderboard: every score on it is computed here, from the predictions.

``from leaderboard import build`` is all that a Python program needs to make a site of a folder of submissions.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.site import build

__all__ = ["build"]


def __getattr__(name: str) -> Any:
    # Late, because packing and checking submissions needs neither jinja2 nor altair, which pages are made with
    if name == "build":
        from leaderboard.site import build

        return build
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
