import torch

from evenhand.learning.individual_loss import NOBODY, near_enough, nearest


def test_a_row_of_zeros_leaves_the_others_their_pairs():
    # COMPAS has 117 such rows; a plain quotient would make the whole batch NaN
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    similarity, partner = nearest(x)
    assert partner[1:3].tolist() == [2, 1]
    assert similarity[0] == 0
    assert similarity[1] > 0.99
    assert torch.isfinite(similarity).all()


def test_the_first_of_equals_is_taken():
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert nearest(x)[1].tolist() == [1, 2, 1, 1]


def test_nobody_is_near_to_one_alone():
    similarity, _ = nearest(torch.ones(1, 3))
    assert similarity.item() == NOBODY
    for unit, epsilon in (("cosine", -1.0), ("quantile", 0.0)):
        assert near_enough(similarity, torch.tensor([epsilon]), unit).sum() == 0


def test_parallel_rows_do_not_pass_one():
    x = torch.tensor([[1.0, 2.0, 3.0]]) * torch.arange(1, 50)[:, None] / 7
    similarity, _ = nearest(x)
    assert near_enough(similarity, torch.tensor([1.0]), "cosine").sum() == 0
    assert near_enough(similarity, torch.tensor([0.999]), "cosine").sum() == 49


def test_a_quantile_switches_nobody_off_who_is_as_near_as_others():
    # people of few features are often parallel; their cosines differ from 1 by rounding alone
    x = torch.tensor([[1.0, 2.0, 3.0]]) * torch.arange(1, 9)[:, None] / 7
    far = torch.eye(3)[:2] * torch.tensor([[1.0], [-1.0]])
    similarity, _ = nearest(torch.cat([x, far]))
    for quantile in (0.3, 0.5, 0.8, 1.0):
        found = near_enough(similarity, torch.tensor([quantile]), "quantile")[0]
        assert found.tolist() == [1.0] * 8 + [0.0] * 2


def test_thresholds_are_strict_cosines_or_quantiles_with_ties():
    similarity = torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.5], [0.9, 0.8, 0.7, 0.6, 0.5]])
    epsilons = torch.tensor([0.5, 0.3])
    found = near_enough(similarity, epsilons, "cosine")
    assert found.shape == (2, 2, 5)
    assert found[0].tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]
    assert found[1].tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    found = near_enough(similarity, torch.tensor([0.5, 0.75]), "quantile")
    assert found[0].tolist() == [[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    assert found[1].tolist() == [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0]]
