import math

import torch

from turkic_idiom_tasks.training.training import BestWeights


def test_the_best_weights_are_those_of_the_highest_rank_and_of_equal_ones_the_first():
    model = torch.nn.Linear(1, 1)
    model.bias.requires_grad_(False)  # what is not trained is left alone
    best = BestWeights(model)
    best.restore()  # nothing was offered: nothing happens
    # the weight of each evaluation, its rank, and whether it is the best so far
    evaluations = [
        (1.0, (math.nan, 0.9), True),
        (2.0, (0.5, -0.4), True),
        (3.0, (0.5, -0.4), False),  # equal: the first stays
        (4.0, (0.5, -0.3), True),  # the second score decides
        (5.0, (0.4, 9.0), False),
        (6.0, (math.nan, 9.0), False),
    ]
    for weight, rank, is_best in evaluations:
        with torch.no_grad():
            model.weight.fill_(weight)
            model.bias.fill_(weight)
        assert best.offer(*rank) == is_best
    best.restore()
    assert (model.weight.item(), model.bias.item()) == (4.0, 6.0)
