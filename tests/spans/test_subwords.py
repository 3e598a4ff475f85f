"""Tags of words as labels of sub-words and back, by hand and by law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turkic_idiom_tasks.spans import LABELS
from turkic_idiom_tasks.tasks.spans.subwords import IGNORED, project_tags, subword_labels, word_tags

O, B, I = LABELS  # noqa: E741
#        [CLS] göz  ##den düş  ##müş ##tü  .  [SEP]
WORD_IDS = [None, 0, 0, 1, 1, 1, 2, None]


@st.composite
def sentences(draw):
    """Tags of proper IOB2, and for each word how many sub-words it has, perhaps none."""
    tags = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=10))
    tags = [B if tag == I and (n == 0 or tags[n - 1] == O) else tag for n, tag in enumerate(tags)]
    counts = draw(st.lists(st.integers(0, 4), min_size=len(tags), max_size=len(tags)))
    return tags, [word for word, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize(
    ("tags", "word_ids", "of_all", "of_first"),
    [
        # as in the paper: B on the first sub-word of the idiom, I on every later one, also of the first word
        ([B, I, O], WORD_IDS, [-100, 1, 2, 2, 2, 2, 0, -100], [-100, 1, -100, 2, -100, -100, 0, -100]),
        ([O, B, B], WORD_IDS, [-100, 0, 0, 1, 2, 2, 1, -100], [-100, 0, -100, 1, -100, -100, 1, -100]),
        # a special token between two windows does not begin a word again; word 1 has no sub-words
        (
            [B, B, I],
            [None, 0, 0, None, 2, 2, None],
            [-100, 1, 2, -100, 2, 2, -100],
            [-100, 1, -100, -100, 2, -100, -100],
        ),
        ([B, I], [None, None], [-100, -100], [-100, -100]),
    ],
)
def test_labels_of_all_subwords_and_of_the_first_alone(tags, word_ids, of_all, of_first):
    assert subword_labels(tags, word_ids) == of_all
    assert subword_labels(tags, word_ids, labelling="first") == of_first


@given(sentences())
def test_words_to_subwords_and_back(case):
    tags, owners = case
    found = word_tags(project_tags(tags, owners), owners, len(tags))
    assert found == [tag if word in owners else None for word, tag in enumerate(tags)]


@given(sentences(), st.sampled_from(["all", "first"]))
def test_labels_follow_the_projection(case, labelling):
    tags, owners = case
    word_ids = [None, *owners, None]
    labels = subword_labels(tags, word_ids, labelling=labelling)
    assert len(labels) == len(word_ids)
    assert labels[0] == labels[-1] == IGNORED
    for position, (owner, label, projected) in enumerate(
        zip(owners, labels[1:-1], project_tags(tags, owners), strict=True)
    ):
        is_first = owner not in owners[:position]
        assert label == (LABELS.index(projected) if is_first or labelling == "all" else IGNORED)
        # a sub-word is O exactly where its word is, and only a word's first sub-word can be B
        assert (projected == O) == (tags[owner] == O)
        assert (projected == B) == (tags[owner] == B and is_first)
