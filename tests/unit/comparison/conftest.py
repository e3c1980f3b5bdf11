import pytest


@pytest.fixture
def folders(tmp_path):
    """Two empty results folders."""
    return tmp_path / "base", tmp_path / "head"
