"""Collects the observations of requests that a gateway in this process has served."""

from collections.abc import Iterator

import pytest

from gateway.core.telemetry import observers
from gateway.core.telemetry.observation import Observation
from tests.support.concurrency import eventually


class Observed:
    """The observations that have ended, in their order."""

    def __init__(self) -> None:
        self.all: list[Observation] = []

    def by(self, account: str, count: int = 1) -> list[Observation]:
        """Wait for `count` observations of an account, "" for requests without a valid token, and return all of them."""
        eventually(lambda: len(self._by(account)) >= count)
        return self._by(account)

    def only(self, account: str) -> Observation:
        """Wait for an account's one observation."""
        [found] = self.by(account)
        return found

    def _by(self, account: str) -> list[Observation]:
        return [each for each in self.all if each.account == account]


@pytest.fixture
def observed() -> Iterator[Observed]:
    """Collect what ends during a test."""
    found = Observed()
    observers.subscribe(found.all.append)
    yield found
    observers.unsubscribe(found.all.append)
