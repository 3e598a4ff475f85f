"""A grid that is killed before each of its writes, one after the other, with toy cells."""

import pytest

from tests.killing import every_kill
from tests.runs.grid_data import stamps
from tests.runs.toy_kind import open_toys
from turkic_idiom_tasks.runs.grid import DONE, FAILED, run_here


@pytest.mark.long
def test_killed_before_any_write_it_goes_on_with_the_same_command(toy_data, tmp_path):
    """Finished cells stay untouched, the others are run, a failed one is known; no temporary file is left."""
    settings = {"n": 3, "together": 2, "fails": (1,)}
    folders = iter(tmp_path / str(number) for number in range(1000))
    current = []

    def prepare():
        current[:] = [next(folders)]

    def run():
        for _ in open_toys(current[0], toy_data, **settings).run(run_here):
            pass

    n_kills, n_finished = 0, set()
    for _ in every_kill(prepare, run, below=tmp_path):
        n_kills += 1
        before = stamps(current[0])
        n_finished.add(len(before))
        run()
        grid = open_toys(current[0], toy_data, **settings)
        assert {cell.seed: state for cell, state in grid.states().items()} == {0: DONE, 1: FAILED, 2: DONE}
        assert grid.failure(list(grid.job_of)[1]).error == "ZeroDivisionError: no such idiom"
        assert before.items() <= stamps(current[0]).items()
        assert len(stamps(current[0])) == 2
        assert not list(current[0].rglob(".tmp-*"))
    assert n_kills > 10
    assert n_finished == {0, 1, 2}
