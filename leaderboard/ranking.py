"""Order of models by score, and ranks that models share if they cannot be told apart.

A group of ties is its best model and every model below it until one is significantly worse than the best. So the ranks
of any selection of models follow from one fact about each pair: whether the upper model is significantly better than
the lower one. The pages have this fact for all pairs, one bit each, and rank again what a filter leaves
(`static/table.js`).
"""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turkic_idiom_tasks.metrics.bootstrap import FEW, RESAMPLES, Interval, Resampled, difference, tail_probabilities

_FEW_DRAWS = RESAMPLES // 125  # twice as many are fewer than the interval leaves out, unless very few concepts count
_CUTS = [_FEW_DRAWS, RESAMPLES - 1 - _FEW_DRAWS]
_SAME = 1e-12  # a smaller difference is rounding
_DECIMALS = 9  # to which scores are rounded before they are put in order, so that equal ones stand by their names


@dataclass(frozen=True, slots=True)
class Score:
    """A score of at most 1, negative below chance, with its 95% interval; NaN if there is none."""

    score: float
    interval: Interval


NO_SCORE = Score(math.nan, Interval(math.nan, math.nan))


class Place(NamedTuple):
    """Where a model stands in one ranking."""

    rank: int  # 1 + the number of models in better groups; equal within a group
    group: int  # 1 for the best group; no model of a group is significantly worse than the group's best
    ranks: tuple[int, int]  # that the data allow: 1 + the number of better models, and the place before the worse


class Standings(dict[str, Score]):
    """Models of one ranking, best first: id of the submission -> its chance-corrected score."""

    def __init__(self, models: Mapping[str, Resampled]) -> None:
        names = sorted(models, key=lambda name: (-round(models[name].score, _DECIMALS), name))
        super().__init__({name: Score(models[name].score, models[name].interval()) for name in names})
        self._models = [models[name] for name in names]

    @cached_property
    def is_better(self) -> npt.NDArray[np.bool_]:
        """(M, M) whether the model of the row is significantly better than that of the column, which stands below.

        It is if the 95% interval of their difference lies above 0 and a few concepts alone cannot explain the
        difference. All models are resampled with the same draws over the same concepts.
        """
        # Compared only when a rank is asked for, as a table shows the scores of many rankings and the ranks of one.
        # The draws of hundreds of models take much memory, so they are given up.
        models, self._models = self._models, []
        is_better = np.zeros((len(models), len(models)), dtype=bool)
        if len(models) < 2:
            return is_better
        scores = np.array([model.score for model in models])
        reach = np.array([model.reach for model in models])
        influences = np.stack([model.influence for model in models])
        has_undefined = np.array([np.isnan(model.draws).any() for model in models])
        # The draw that has _FEW_DRAWS below it, and the one that has as many above it
        low, high = np.array([np.partition(model.draws, _CUTS)[_CUTS] for model in models]).T
        for upper in range(len(models) - 1):
            gaps = scores[upper] - scores[upper + 1 :]
            # A smaller gap could be the work of a few concepts alone, whatever its interval
            is_large = (gaps > FEW * np.maximum(reach[upper], reach[upper + 1 :])) & (gaps > _SAME)
            lower = upper + 1 + np.flatnonzero(is_large)
            if not len(lower):
                continue
            tails = tail_probabilities(influences[upper] - influences[lower])
            is_undefined = np.isnan(tails) | has_undefined[upper] | has_undefined[lower]
            # To sort the draws of every pair would be slow for hundreds of models. The lower end of the interval is
            # above 0 if fewer draws than lie below it are not, so they are counted, and sorted only for a pair at the
            # edge.
            n_below_end = np.floor(tails * (RESAMPLES - 1))
            threshold = models[upper].draws - _SAME
            # Apart from _FEW_DRAWS of either, all draws of the upper model lie above all draws of the other
            are_apart = (low[upper] - _SAME > high[lower]) & (n_below_end >= 2 * _FEW_DRAWS) & ~is_undefined
            is_better[upper, lower[are_apart]] = True
            for pair in np.flatnonzero(~are_apart).tolist():
                place = lower[pair]
                n_not_above = int(np.count_nonzero(models[place].draws >= threshold))
                if is_undefined[pair] or n_not_above == n_below_end[pair] + 1:
                    is_better[upper, place] = difference(models[upper], models[place]).interval().low > _SAME
                else:
                    is_better[upper, place] = n_not_above <= n_below_end[pair]
        return is_better

    @cached_property
    def places(self) -> dict[str, Place]:
        """Return id -> the place of each model, in the same order."""
        places = {}
        # Compared is the best model of the group, not the neighbour: by small steps the last of a group could
        # otherwise be far from the first
        best, group = 0, 1  # the place of the best model of the group, and its number
        for place, name in enumerate(self):
            if self.is_better[best, place]:
                best, group = place, group + 1
            n_better, n_worse = int(self.is_better[:, place].sum()), int(self.is_better[place].sum())
            places[name] = Place(best + 1, group, (1 + n_better, len(self) - n_worse))
        return places

    @property
    def pairs(self) -> str:
        """Return `is_better` above the diagonal, row by row, in base64 with one bit for each pair."""
        above_diagonal = self.is_better[np.triu_indices(len(self), 1)]
        return base64.b64encode(np.packbits(above_diagonal).tobytes()).decode("ascii")
