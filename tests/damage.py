"""Damage to files: to their bytes, and to JSON lines, of which any value is dropped, doubled, swapped or replaced."""

import copy
import json
import random

from hypothesis import strategies as st

KINDS = ("drop", "swap", "double", "retype", "drop line", "double line", "swap lines")
ODD_VALUES = [
    None, True, -1, 0, 3, 0.5, 10**30, "", " ", "x", "NaN", "T2", "tur", "göz\n", "\u202e\x1b[31m", [], [[]], {},
    {"a": [None]}, [0, 0], [[1, "x"]],
]  # fmt: skip


@st.composite
def line_damage(draw):
    """A function from the lines of a file, as bytes, to damaged lines."""
    kind, odd = draw(st.sampled_from(KINDS)), draw(st.sampled_from(ODD_VALUES))
    seed = draw(st.integers(0, 2**32 - 1))

    def change(lines):
        chance, lines = random.Random(seed), list(lines)
        number = chance.randrange(len(lines))
        if kind == "drop line":
            del lines[number]
        elif kind == "double line":
            lines.append(lines[number])
        elif kind == "swap lines":
            lines[number], lines[-1] = lines[-1], lines[number]
        else:
            value = json.loads(lines[number])
            place = chance.choice(list(_places_in(value)))
            lines[number] = json.dumps(_changed_at(value, place, kind, odd), ensure_ascii=False).encode()
        return lines

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
        for key in value:
            yield from _places_in(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 12)):
            yield from _places_in(value[index], (*path, index))


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
