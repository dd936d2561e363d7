"""Keeps one test's signing keys from another."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def fresh_signing_keys() -> Iterator[None]:
    """Make the process forget the signing keys: the test before may have rolled its own back."""
    from accounts.operations.keyring import keyring

    keyring.forget()
    yield
    keyring.forget()
