from mteb.benchmarks.benchmark import Benchmark
from mteb.get_tasks import get_tasks

TURKIC_IDIOM_RETRIEVAL = Benchmark(
    name="TurkicIdiomRetrieval(v1)",
    aliases=["TurkicIdiomRetrieval"],
    display_name="Turkic Idioms",
    tasks=get_tasks(
        tasks=[
            "TurkicIdiomEquivalentRetrieval",
            "TurkicIdiomMeaningRetrieval",
            "TurkicIdiomCrossLingualMeaningRetrieval",
        ],
    ),
    description="Retrieval of idioms with the same meaning across Turkic languages, and of the definitions of idioms.",
    reference="https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark",
    citation=r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
""",
)
