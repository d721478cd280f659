import pytest
from flask import Flask

from tests.unit.aggregator.studio.design.test_page import Researcher


@pytest.fixture
def ann(app: Flask) -> Researcher:
    """Somebody who writes a survey, on an empty database unless a test says otherwise."""
    return Researcher(app)
