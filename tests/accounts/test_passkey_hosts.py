"""The hosts for which a browser makes a passkey: names, never addresses."""

import pytest

from accounts.rules.passkey_hosts import can_have_passkeys


@pytest.mark.parametrize(
    ("host", "can"),
    [
        ("localhost", True),
        ("localhost:8000", True),
        ("gateway.example", True),
        ("127.0.0.1:8000", False),
        ("[::1]:8000", False),
        ("[::1]", False),
    ],
)
def test_a_name_can_have_passkeys_and_an_address_cannot(host: str, can: bool) -> None:
    assert can_have_passkeys(host) is can
