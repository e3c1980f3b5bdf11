"""A tiny masked model in a folder, and a copy of it that a test may change."""

import shutil

import pytest

from unit.scoring import tiny_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.save(tmp_path_factory.mktemp("model"))


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")
