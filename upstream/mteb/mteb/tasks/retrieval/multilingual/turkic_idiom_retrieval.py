from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

_DATASET = {
    "path": "ORG/turkic-idioms",
    "revision": "0000000000000000000000000000000000000000",
}


class TurkicIdiomEquivalentRetrieval(AbsTaskRetrieval):
    metadata = TaskMetadata(
        dataset=_DATASET,
        name="TurkicIdiomEquivalentRetrieval",
        description="Given a Turkish idiom, retrieve the idiom with the same meaning in Azerbaijani, Turkmen, Gagauz, Uzbek, Kazakh, Tatar or Kyrgyz from all idioms of that language.",
        reference="https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark",
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        main_score="ndcg_at_10",
        date=("2026-01-01", "2026-12-31"),
        domains=["Written", "Constructed"],
        task_subtypes=["Cross-Lingual Semantic Discrimination"],
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        dialect=[],
        sample_creation="LM-generated and verified",
        prompt={"query": "Given a Turkish idiom, retrieve the idiom with the same figurative meaning in another Turkic language"},
        eval_langs={
            "T1-tur-azj": ["tur-Latn", "azj-Latn"],
            "T1-tur-tuk": ["tur-Latn", "tuk-Latn"],
            "T1-tur-gag": ["tur-Latn", "gag-Latn"],
            "T1-tur-uzn": ["tur-Latn", "uzn-Latn"],
            "T1-tur-kaz": ["tur-Latn", "kaz-Cyrl"],
            "T1-tur-tat": ["tur-Latn", "tat-Cyrl"],
            "T1-tur-kir": ["tur-Latn", "kir-Cyrl"],
        },
        bibtex_citation=r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
""",
    )


class TurkicIdiomMeaningRetrieval(AbsTaskRetrieval):
    metadata = TaskMetadata(
        dataset=_DATASET,
        name="TurkicIdiomMeaningRetrieval",
        description="Given an idiom in Turkish, Azerbaijani, Turkmen, Gagauz, Uzbek, Kazakh, Tatar or Kyrgyz, retrieve its dictionary-style definition from all definitions in the same language.",
        reference="https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark",
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        main_score="ndcg_at_10",
        date=("2026-01-01", "2026-12-31"),
        domains=["Written", "Constructed"],
        task_subtypes=[],
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        dialect=[],
        sample_creation="LM-generated and verified",
        prompt={"query": "Given an idiom, retrieve the definition of its figurative meaning in the same language"},
        eval_langs={
            "T2-tur": ["tur-Latn"],
            "T2-azj": ["azj-Latn"],
            "T2-tuk": ["tuk-Latn"],
            "T2-gag": ["gag-Latn"],
            "T2-uzn": ["uzn-Latn"],
            "T2-kaz": ["kaz-Cyrl"],
            "T2-tat": ["tat-Cyrl"],
            "T2-kir": ["kir-Cyrl"],
        },
        bibtex_citation=r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
""",
    )


class TurkicIdiomCrossLingualMeaningRetrieval(AbsTaskRetrieval):
    metadata = TaskMetadata(
        dataset=_DATASET,
        name="TurkicIdiomCrossLingualMeaningRetrieval",
        description="Given a Turkish idiom, retrieve the definition of its meaning in Azerbaijani, Turkmen, Gagauz, Uzbek, Kazakh, Tatar or Kyrgyz from all definitions in that language.",
        reference="https://github.com/gozdeaslantas/Turkic_Idiom_Understanding_Benchmark",
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        main_score="ndcg_at_10",
        date=("2026-01-01", "2026-12-31"),
        domains=["Written", "Constructed"],
        task_subtypes=["Cross-Lingual Semantic Discrimination"],
        license="cc-by-4.0",
        annotations_creators="LM-generated",
        dialect=[],
        sample_creation="LM-generated and verified",
        prompt={"query": "Given a Turkish idiom, retrieve the definition of its figurative meaning in another Turkic language"},
        eval_langs={
            "T3-tur-azj": ["tur-Latn", "azj-Latn"],
            "T3-tur-tuk": ["tur-Latn", "tuk-Latn"],
            "T3-tur-gag": ["tur-Latn", "gag-Latn"],
            "T3-tur-uzn": ["tur-Latn", "uzn-Latn"],
            "T3-tur-kaz": ["tur-Latn", "kaz-Cyrl"],
            "T3-tur-tat": ["tur-Latn", "tat-Cyrl"],
            "T3-tur-kir": ["tur-Latn", "kir-Cyrl"],
        },
        bibtex_citation=r"""
@article{aslantas2026turkic,
  author = {Aslanta{\c{s}}, G{\"o}zde and G{\"u}ng{\"o}r, Tunga},
  title = {A Unified Turkic Idiom Understanding Benchmark: Idiom Detection and Semantic Retrieval
    Across Five Turkic Languages},
  year = {2026},
}
""",
    )
