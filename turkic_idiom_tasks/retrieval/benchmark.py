"""The three retrieval tasks as one mteb benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mteb.benchmarks.benchmark import Benchmark

BENCHMARK_NAME = "TurkicIdiom(v1)"


def make_benchmark() -> Benchmark:
    """The benchmark, on the data in use when it is made."""
    from mteb.benchmarks.benchmark import Benchmark

    from turkic_idiom_tasks.retrieval.tasks import REFERENCE, TASK_CLASSES

    return Benchmark(
        name=BENCHMARK_NAME,
        aliases=("TurkicIdiom",),
        display_name="Turkic idioms",
        tasks=tuple(task() for task in TASK_CLASSES.values()),
        description=(
            "Idiom retrieval in Turkish, Azerbaijani, Turkmen, Gagauz and Uzbek: idiom to idiom across languages, "
            "idiom to meaning, and idiom to meaning across languages."
        ),
        reference=REFERENCE,
        citation=None,
    )
