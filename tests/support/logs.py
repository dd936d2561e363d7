"""Log lines that come once per cause and minute."""

import pytest

from gateway.core.api import logs


@pytest.fixture(autouse=True)
def fresh_logs() -> None:
    """Let every test see its own lines."""
    logs.forget()
