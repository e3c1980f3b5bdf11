import pytest
import torch

from evenhand.errors import InputError
from evenhand.scoring.models import load_causal_lm, load_masked_lm
from evenhand.scoring.selection import enable_selection, logits_at
from unit.scoring import tiny_causal, tiny_models


@pytest.mark.parametrize(
    ("load", "save", "family"),
    [
        *((load_masked_lm, tiny_models.save, family) for family in tiny_models.FAMILIES),
        *((load_causal_lm, tiny_causal.save, family) for family in tiny_causal.FAMILIES),
    ],
)
def test_the_last_layer_sees_selected_places_only(load, save, family, tmp_path):
    lm = load(save(tmp_path, family))
    ids = torch.randint(5, lm.vocabulary, (3, 9), generator=torch.Generator().manual_seed(1))
    rows, columns = torch.tensor([0, 0, 2]), torch.tensor([1, 8, 4])
    shapes = []
    hook = lm.model.get_output_embeddings().register_forward_hook(
        lambda _module, _arguments, output: shapes.append(tuple(output.shape[:-1]))
    )
    with torch.inference_mode():
        selected = logits_at(lm.model, ids, rows, columns)
        whole = lm.model(input_ids=ids).logits
    hook.remove()
    torch.testing.assert_close(selected, whole[rows, columns], rtol=1e-4, atol=1e-4)
    assert shapes == [(1, 3), (3, 9)]


def test_a_head_that_looks_at_several_places_is_an_error():
    torch.manual_seed(0)
    model, good = (tiny_models.model("bert", 30).train(mode) for mode in (True, False))
    enable_selection(good)
    assert not good.training
    model.cls.register_forward_pre_hook(lambda _, given: (100 * given[0].cumsum(dim=1),))
    with pytest.raises(InputError, match="BertForMaskedLM has a head that looks at several places"):
        enable_selection(model)
    assert model.training  # as it was
