"""Second factors' secrets are encrypted at rest, and key rotation re-encrypts them."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import Settings

from accounts.operations import second_factors
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SEED = "0123456789abcdef" * 5


def stored() -> list[dict[str, Any]]:
    return list(Authenticator.objects.order_by("pk").values_list("data", flat=True))


def plain(texts: list[dict[str, Any]]) -> bool:
    return SECRET in str(texts) or SEED in str(texts)


def code_of(secret: str) -> str:
    [counter] = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, counter))


@pytest.fixture
def old_rows() -> list[Authenticator]:
    """Create rows with plain secrets, and a passkey, which has no secret."""
    person = make_account()
    rows = (
        ("totp", {"secret": SECRET}),
        ("recovery_codes", {"seed": SEED, "used_mask": 5}),
        ("webauthn", {"name": "Key", "credential": {"public": "part"}}),
    )
    made = [Authenticator.objects.create(user=person, type=kind, data=data) for kind, data in rows]
    moved = {"seed": SEED, "used_mask": 0, "migrated_codes": ["11112222", "33334444"]}
    return [*made, Authenticator.objects.create(user=make_account("bob"), type="recovery_codes", data=moved)]


@pytest.fixture
def rewrite() -> Callable[[str], int]:
    return lambda direction: second_factors.rewrite(Authenticator, getattr(second_factors, direction))


def test_new_secrets_are_stored_encrypted_and_work() -> None:
    person = make_account()
    totp, codes = TOTP.activate(person, SECRET), RecoveryCodes.activate(person)
    [first, second] = stored()
    assert first["secret"].startswith("gAAAA")
    assert second["seed"].startswith("gAAAA")
    assert not plain([first, second])
    assert not totp.validate_code("000000" if code_of(SECRET) != "000000" else "111111")
    assert totp.validate_code(code_of(SECRET))
    assert not totp.validate_code(code_of(SECRET)), "a code is used once"
    [code, *_] = codes.get_unused_codes()
    assert codes.validate_code(code)
    assert code not in codes.get_unused_codes()


def test_old_rows_are_encrypted_and_mean_the_same(old_rows: list[Authenticator], rewrite: Callable[[str], int]) -> None:
    before = RecoveryCodes(old_rows[1]).generate_codes()
    rewrite("encrypted")
    assert not plain(stored())
    for row in old_rows:
        row.refresh_from_db()
    assert TOTP(old_rows[0]).validate_code(code_of(SECRET))
    assert RecoveryCodes(old_rows[1]).generate_codes() == before
    assert old_rows[1].data["used_mask"] == 5
    assert old_rows[2].data == {"name": "Key", "credential": {"public": "part"}}
    assert RecoveryCodes(old_rows[3]).get_unused_codes() == ["11112222", "33334444"]
    assert "11112222" not in str(old_rows[3].data)


def test_encrypting_twice_changes_nothing_and_can_be_undone(
    old_rows: list[Authenticator], rewrite: Callable[[str], int]
) -> None:
    original = stored()
    rewrite("encrypted")
    once = stored()
    rewrite("encrypted")
    assert stored() == once
    rewrite("decrypted")
    assert stored() == original


def test_many_rows_are_written_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_factors, "ROWS_AT_ONCE", 2)
    for number in range(5):
        Authenticator.objects.create(user=make_account(f"p{number}"), type="totp", data={"secret": SECRET})
    assert second_factors.rewrite(Authenticator, second_factors.encrypted) == 5
    assert not plain(stored())


def test_a_row_of_an_older_process_still_works(old_rows: list[Authenticator]) -> None:
    assert TOTP(old_rows[0]).validate_code(code_of(SECRET))


def test_rotation_writes_them_under_the_new_key(old_rows: list[Authenticator], settings: Settings) -> None:
    old, new = settings.FIELD_ENCRYPTION_KEYS, [Fernet.generate_key().decode()]
    second_factors.rewrite(Authenticator, second_factors.encrypted)
    settings.FIELD_ENCRYPTION_KEYS = [*new, *old]
    call_command("reencrypt", verbosity=0)
    settings.FIELD_ENCRYPTION_KEYS = new
    old_rows[0].refresh_from_db()
    assert TOTP(old_rows[0]).validate_code(code_of(SECRET))


def test_rotation_without_the_old_key_changes_nothing(old_rows: list[Authenticator], settings: Settings) -> None:
    second_factors.rewrite(Authenticator, second_factors.encrypted)
    before = stored()
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("reencrypt")
    assert stored() == before
