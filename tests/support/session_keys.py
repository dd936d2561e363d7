"""Signing keys that all tests of a session find in the database: making them takes longer than most tests."""

import time
from typing import Any

import psycopg
import pytest

from accounts.models import SigningKey
from accounts.operations import keyring

SAVE = "SELECT json_agg(k)::text FROM accounts_signing_key k"
RESTORE = """
INSERT INTO accounts_signing_key SELECT * FROM json_populate_recordset(NULL::accounts_signing_key, %s::json)
"""
_keys: list[keyring.SigningKeys] = []
_rows: list[str] = []


def make(database: psycopg.Connection[Any]) -> None:
    """Commit the keys, on Django's connection, and remember them."""
    _keys[:] = [keyring._read()]
    _rows[:] = database.execute(SAVE).fetchone() or ()


def restore(database: psycopg.Connection[Any]) -> None:
    """Undo what tests committed to the keys, past guards that are disabled."""
    database.execute("DELETE FROM accounts_signing_key")
    database.execute(RESTORE, _rows)


def remember() -> None:
    """Let this process forget the keys that a test has rolled back, and take the session's for just read."""
    keyring.keyring.forget()
    if _keys:
        keyring.keyring._latest = time.monotonic(), _keys[0]


@pytest.fixture
def no_signing_keys(db: None) -> None:
    """Delete them, so that the test begins as a new gateway does. They are restored if the test commits that."""
    SigningKey.objects.all().delete()
    keyring.keyring.forget()
