"""Progress where stderr is no terminal."""

from itertools import count
from types import SimpleNamespace

import pytest

from turkic_idiom_tasks.io.progress import progress, track


@pytest.fixture
def pass_seconds(monkeypatch):
    """Makes every look at the clock take as many seconds as are given."""

    def set_pace(seconds):
        ticks = count()
        clock = SimpleNamespace(monotonic=lambda: seconds * next(ticks))
        monkeypatch.setattr("turkic_idiom_tasks.io.progress.time", clock)

    return set_pace


def test_a_line_for_each_tenth_and_nothing_for_what_ends_soon(pass_seconds, capsys):
    pass_seconds(3)
    assert list(track(range(1000), "items")) == list(range(1000))
    assert capsys.readouterr().err.splitlines() == [f"items: {n:,} of 1,000" for n in range(100, 1001, 100)]
    pass_seconds(0.001)
    assert list(track("abc", "items")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_a_name_from_outside_cannot_change_the_terminal(pass_seconds, capsys):
    pass_seconds(3)
    with progress("\x1b[2Jmodel") as show:
        show(1, 2)
        show(2, 2)
    written = capsys.readouterr().err
    assert "\x1b" not in written
    assert [line.rpartition(": ")[2] for line in written.splitlines()] == ["1 of 2", "2 of 2"]
