"""How a ranking is read, against the standard library and sets."""

import json
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.results.conftest import OnePool
from turkic_idiom_tasks.dataset.retrieval import Pool, RetrievalData
from turkic_idiom_tasks.results.reader import MAX_FAULTS, read_lines

N_DOCUMENTS = 12
DOCUMENTS = {f"d{n:02d}": "text" for n in range(N_DOCUMENTS)}
POOL = Pool("T2", "tur", RetrievalData({"q": "q"}, DOCUMENTS, {"q": {"d03": 1}}))
ODD_GROUPS = st.integers(-3, 25) | st.integers() | st.booleans() | st.none() | st.floats() | st.text(max_size=3)
ODD_GROUPS |= st.sampled_from([10**400, -(10**400), []])


@st.composite
def rankings(draw):
    """Permutations of the pool, cut and tied at will, and now and then spoilt."""
    order = draw(st.permutations(range(N_DOCUMENTS)))[: draw(st.sampled_from([12, 12, 12, 5, 1]))]
    groups = []
    while order:
        size = draw(st.sampled_from([1, 1, 1, 2, 4]))
        tied = draw(st.booleans()) or size > 1
        groups.append(list(order[:size]) if tied else order[0])
        order = order[size:] if tied else order[1:]
    if draw(st.integers(0, 4)) == 0:
        groups.insert(draw(st.integers(0, len(groups))), draw(ODD_GROUPS))
    text = json.dumps(groups, separators=(",", ":"))
    at = draw(st.integers(0, len(text)))
    spoilt = text[:at] + draw(st.sampled_from(",[]01-.")) + text[at + draw(st.integers(0, 1)) :]
    return draw(st.sampled_from([text, text, text, spoilt]))


@settings(max_examples=100, deadline=None)
@given(rankings())
@example("[0,[1,2,1]]")  # a document twice inside a tie
@example("[0,[1,2],1]")
def test_a_ranking_is_read_as_json_and_sets_say(text):
    lines = [
        json.dumps({"task": "T2", "subset": "tur", "documents": list(POOL.documents)}),
        f'{{"query":"q","ranking":{text}}}',
    ]
    predictions, faults = read_lines(Path("x"), [line.encode() for line in lines], OnePool(POOL), file_task="T2")
    assert len(faults) <= MAX_FAULTS
    try:
        groups = [group if isinstance(group, list) else [group] for group in json.loads(text)]
    except (ValueError, TypeError):
        groups = [[]]
    flat = [position for group in groups for position in group]
    is_in_pool = all(type(position) is int and 0 <= position < N_DOCUMENTS for position in flat)
    if not (flat and all(groups) and is_in_pool) or len(set(flat)) < len(flat):
        assert faults
        return
    expected = [len(flat)] * N_DOCUMENTS  # what is left out stands behind all that are listed
    n_before = 0
    for group in groups:
        for position in group:
            expected[position] = n_before
        n_before += len(group)
    assert not faults
    assert predictions["T2", "tur"].above[0].tolist() == expected
