"""Refresh credentials: they contain their session and cannot be forged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules import refresh
from gateway.core.contract.ids import new_id

SECRETS = ["new-secret", "old-secret"]
SESSION = new_id("dev")


def test_a_credential_is_parsed_again() -> None:
    assert refresh.read(refresh.make(SESSION, 7, SECRETS), SECRETS) == refresh.Credential(SESSION, 7)


def test_accepts_the_seal_of_an_older_secret() -> None:
    assert refresh.read(refresh.make(SESSION, 1, SECRETS[1:]), SECRETS) == refresh.Credential(SESSION, 1)


def test_forgets_a_secret_that_is_gone() -> None:
    assert refresh.read(refresh.make(SESSION, 1, ["gone"]), SECRETS) is None


def test_two_generations_differ() -> None:
    assert refresh.make(SESSION, 1, SECRETS) != refresh.make(SESSION, 2, SECRETS)


@pytest.mark.parametrize("position", range(len(refresh.make(SESSION, 1, SECRETS))))
def test_any_changed_character_is_refused(position: int) -> None:
    made = refresh.make(SESSION, 1, SECRETS)
    changed = made[:position] + ("A" if made[position] != "A" else "B") + made[position + 1 :]
    assert refresh.read(changed, SECRETS) is None


@pytest.mark.parametrize(
    "value",
    ["", None, 1, b"drt_", "drt_", "drt_" + "a" * 300, refresh.make(SESSION, 1, SECRETS) + " "],
    ids=["empty", "none", "number", "bytes", "prefix", "long", "blank behind"],
)
def test_refuses_other_things(value: object) -> None:
    assert refresh.read(value, SECRETS) is None


@given(st.text())
def test_answers_any_text(text: str) -> None:
    assert refresh.read(text, SECRETS) is None
