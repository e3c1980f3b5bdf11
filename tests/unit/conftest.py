"""Draws of audits in tests: fewer than users have, unless a test is about them."""

import pytest

from evenhand.predictions import study


@pytest.fixture
def further_draws():
    """For tests with the draws that users have."""
    return study.MOST_DRAWN


@pytest.fixture(autouse=True)
def few_draws(request, monkeypatch):
    """Without `further_draws`, calibration errors have no further draws.

    These take a third of the time of an audit, and of the tests of audits.
    """
    if "further_draws" not in request.fixturenames:
        monkeypatch.setattr(study, "MOST_DRAWN", 0)
