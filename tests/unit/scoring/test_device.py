import numpy as np
import pytest
import torch

from evenhand.errors import InputError
from evenhand.learning.probes import probed_features
from evenhand.scoring.device import one_thread, prepare_device, repeatable, settle


def test_weights_get_memory_that_begins_evenly():
    """Mapped from a file they begin anywhere, and with that the last bits of sums may differ."""
    model = torch.nn.Linear(5, 5)
    odd = torch.frombuffer(
        bytearray(np.arange(64, dtype=np.float32).tobytes()), dtype=torch.float32
    )
    shift = 1 if odd.data_ptr() % 64 == 0 else 0
    model.bias = torch.nn.Parameter(odd[shift : shift + 5])
    assert model.bias.data_ptr() % 64
    wanted = {name: value.clone() for name, value in model.state_dict().items()}
    settle(model)
    assert not any(one.data_ptr() % 64 for one in model.parameters())
    for name, value in model.state_dict().items():
        assert (value == wanted[name]).all()


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no GPU"):
        prepare_device("cuda:0")
    with pytest.raises(InputError, match="unknown"):
        prepare_device("tpu")


def test_all_is_put_back():
    before = torch.random.get_rng_state(), torch.get_num_threads()
    drawn = []
    for threads in (1, 2):
        with pytest.raises(ValueError, match="stop"), repeatable(7, threads=threads):
            assert torch.get_num_threads() == threads
            assert torch.are_deterministic_algorithms_enabled()
            drawn.append(torch.rand(1).item())
            raise ValueError("stop")
    assert drawn[0] == drawn[1]
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]
    assert not torch.are_deterministic_algorithms_enabled()


def test_one_thread_for_a_while(monkeypatch):
    said = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    monkeypatch.setattr(torch, "set_num_threads", said.append)
    with pytest.raises(ValueError, match="stop"), one_thread():
        assert said == [1]
        raise ValueError("stop")
    assert said == [1, 3]


def test_stored_features_do_not_depend_on_the_threads_of_linear_algebra():
    import scipy.linalg
    import scipy.sparse
    from threadpoolctl import threadpool_limits

    features = scipy.sparse.random(1500, 900, 0.05, "csr", np.float32, random_state=0)
    split = np.repeat(["train", "test"], [1000, 500])
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(probed_features(features, split, np.arange(1000)))
    assert found[0].tobytes() == found[1].tobytes()
