import re

from hypothesis import given
from hypothesis import strategies as st

from hub_datasets.concept_ids import SLUG_LIMIT, concept_stems, sense_id, slug
from turkic_idiom_tasks.lexicon.entries import CONCEPT_ID
from turkic_idiom_tasks.splits import retrieval_split, span_split

IDIOMS = st.text(alphabet="abçdeəgğhıiİIjkqlmnňoöpsştţuüvyýzʻʼ' -", min_size=1, max_size=90)


def test_slugs_are_readable_ascii():
    assert slug("ağzı kulaklarına varmak", "tr") == "agzi-kulaklarina-varmak"
    assert slug("ISLIK ÇALMAK", "tr") == "islik-calmak"
    assert slug("ürəyi əsmək", "az") == "ureyi-esmek"
    assert slug("gözüň ýaşy", "tk") == "gozun-yasy"
    assert slug("koʻzi ogʻriq, taʼbi yoʻq", "uz") == "kozi-ogriq-tabi-yoq"


def test_idioms_with_one_slug_are_told_apart_whatever_the_order():
    idioms = [("tr", "kin tutmak"), ("tr", "kın tutmak"), ("tr", "göz yummak")]
    stems = concept_stems(idioms)
    assert stems == concept_stems(reversed(idioms))
    assert stems["tr", "göz yummak"] == "goz-yummak"
    assert len(set(stems.values())) == 3
    # neither of the two gets the plain slug, so it does not matter which came first
    assert all(re.fullmatch(r"kin-tutmak-[0-9a-f]{6}", stems["tr", idiom]) for idiom in ("kin tutmak", "kın tutmak"))


def test_senses_share_their_split():
    for number in range(40):
        stem = f"goz-{number}"
        for split in (retrieval_split, span_split):
            assert len({split(sense_id(stem, sense)) for sense in (1, 2, 3)}) == 1
    assert [sense_id("goz", number) for number in (1, 2, 3)] == ["goz", "goz--2", "goz--3"]


@given(st.sets(st.tuples(st.sampled_from(["tr", "az", "uz"]), IDIOMS), max_size=12))
def test_ids_are_valid_unique_and_do_not_depend_on_unrelated_idioms(keys):
    stems = concept_stems(keys)
    assert len(set(stems.values())) == len(keys)
    for key, stem in stems.items():
        assert CONCEPT_ID.fullmatch(sense_id(stem, 2))
        assert len(stem) <= SLUG_LIMIT + 7
        if stem == slug(key[1], key[0]):
            assert concept_stems([key]) == {key: stem}
