"""Idiom understanding in Turkic languages, as plugins for the evaluation harnesses that people already run."""

# Every interpreter of the environment imports this module at its start (see `harnesses.hook`): import nothing else here
from turkic_idiom_tasks.version import __version__ as __version__


def register() -> list[str]:
    """Make tasks, benchmark and models known to mteb and lm-eval now, and return the names of mteb's tasks.

    The start-up hook does this by itself; call it where the hook cannot run: ``python -S``,
    ``TURKIC_IDIOM_NO_HOOK=1``, or a notebook kernel that was started before the installation. Safe to call again.
    """
    from turkic_idiom_tasks.harnesses.hook import register_now

    return register_now()


def __getattr__(name: str) -> object:
    """Import the task classes of mteb, such as `TurkicIdiomT1`, when they are first used."""
    if name.startswith("TurkicIdiom") or name.endswith("STS"):
        import mteb  # noqa: F401  # mteb must be complete before our tasks import parts of it

        from turkic_idiom_tasks.harnesses.mteb_tasks import TASK_CLASSES

        if name in TASK_CLASSES:
            return TASK_CLASSES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
