"""Damage to files: to their bytes, and to JSON lines, of which any value is dropped, doubled, swapped or replaced."""

import copy
import json
import random

from hypothesis import strategies as st

KINDS = ("drop", "swap", "double", "retype")
ODD_VALUES = [
    None, True, -1, 0, 3, 0.5, 10**30, "", " ", "x", "NaN", "T2", "tur", "göz\n", "\u202e\x1b[31m", [], [[]], {},
    {"a": [None]}, [0, 0], [[1, "x"]],
]  # fmt: skip


@st.composite
def line_damage(draw):
    """A function from the lines of a file, as bytes, to lines of which one, or a value in one, is damaged."""
    kind, odd = draw(st.sampled_from(KINDS)), draw(st.sampled_from(ODD_VALUES))
    is_whole_line, seed = draw(st.booleans()), draw(st.integers(0, 2**32 - 1))

    def change(lines):
        chance = random.Random(seed)
        number = chance.randrange(len(lines))
        if is_whole_line:
            return _changed_at(list(lines), (number,), kind, json.dumps(odd).encode())
        value = json.loads(lines[number])
        place = chance.choice(list(_places_in(value)))
        new = json.dumps(_changed_at(value, place, kind, odd), ensure_ascii=False).encode()
        return [*lines[:number], new, *lines[number + 1 :]]

    return change


@st.composite
def byte_damage(draw):
    """A function from the bytes of a file to bytes that are cut off, or changed, added or missing at one place."""
    place, is_cut_off = draw(st.floats(0, 1)), draw(st.booleans())
    n_missing, new = draw(st.integers(0, 4)), draw(st.binary(max_size=8))

    def change(content):
        at = int(place * len(content))
        return content[:at] if is_cut_off else content[:at] + new + content[at + n_missing :]

    return change


def _places_in(value, path=()):
    """Every path to a value inside JSON, itself included."""
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _places_in(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value[:12]):
            yield from _places_in(part, (*path, index))


def _changed_at(value, path, kind, odd):
    """JSON with one value dropped, doubled, swapped with another one of its parent, or replaced."""
    if not path:
        return odd
    value = copy.deepcopy(value)
    parent = value
    for part in path[:-1]:
        parent = parent[part]
    place = path[-1]
    if kind == "drop":
        del parent[place]
    elif kind == "swap":
        other = len(parent) - 1 - place if isinstance(parent, list) else list(parent)[-1]
        parent[place], parent[other] = parent[other], parent[place]
    elif kind == "double" and isinstance(parent, list):
        parent.insert(place, parent[place])
    elif kind == "double":
        parent[f"{place}2"] = parent[place]
    else:
        parent[place] = odd
    return value
