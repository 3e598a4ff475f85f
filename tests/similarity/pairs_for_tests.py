"""A lexicon of six Turkish test concepts with a sentence, its paraphrase and its literal paraphrase."""

import pytest

from tests.dataset.conftest import TEST
from turkic_idiom_tasks.dataset import open_dataset
from turkic_idiom_tasks.lexicon.entries import Concept, Entry
from turkic_idiom_tasks.lexicon.load import write_lexicon
from turkic_idiom_tasks.spans import Span

IDIOMS = ("göz yummak", "küplere binmek", "kulak asmak", "ağzı açık kalmak", "dili tutulmak", "yüz çevirmek")
PARAPHRASES = (
    ("Müdür bu hataya göz yumdu.", "Müdür bu hatayı görmezden geldi.", "Müdür bu hatada gözlerini kapattı."),
    ("Babam dün küplere bindi.", "Babam dün çok öfkelendi.", "Babam dün büyük çömleklerin üstüne çıktı."),
    ("Sözlerime kulak asmadı.", "Sözlerimi önemsemedi.", "Sözlerime kulağını takmadı."),
    ("Haberi duyunca ağzı açık kaldı.", "Haberi duyunca çok şaşırdı.", "Haberi duyunca dudakları kapanmadı."),
    ("Korkudan dili tutuldu.", "Korkudan konuşamadı.", "Korkudan dilini biri yakaladı."),
    ("Eski dostuna yüz çevirdi.", "Eski dostundan uzaklaştı.", "Eski dostuna başını döndürdü."),
)


@pytest.fixture(scope="session")
def pair_lexicon(tmp_path_factory):
    """Folder of six Turkish test concepts with sentences of real words."""
    folder = tmp_path_factory.mktemp("pairs") / "lexicon"
    rows = []
    for concept, idiom, (sentence, paraphrase, literal) in zip(TEST, IDIOMS, PARAPHRASES, strict=True):
        span = Span(0, len(sentence) - 1)
        fields = {"paraphrase": paraphrase, "literal_paraphrase": literal}
        rows.append(Entry(concept, idiom, "anlam", sentence, (span,), **fields))
    write_lexicon(folder, [Concept(concept, "gloss") for concept in TEST], {"tr": rows})
    return folder


@pytest.fixture(scope="session")
def pair_dataset(pair_lexicon):
    return open_dataset(str(pair_lexicon))
