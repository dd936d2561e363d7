"""Second factors' secrets are encrypted at rest, and key rotation re-encrypts them."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from pytest_django import Settings

from accounts.operations import second_factors
from gateway.core.encryption.fields import decrypt, encrypt
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SEED = "0123456789abcdef" * 5


def stored() -> list[dict[str, Any]]:
    return list(Authenticator.objects.order_by("pk").values_list("data", flat=True))


def plain(texts: list[dict[str, Any]]) -> bool:
    return SECRET in str(texts) or SEED in str(texts)


def _key() -> str:
    return Fernet.generate_key().decode()


def code_of(secret: str) -> str:
    [counter] = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, counter))


@pytest.fixture
def rows() -> list[Authenticator]:
    """Create rows with secrets, and a passkey, which has none."""
    person = make_account()
    data = (
        ("totp", {"secret": encrypt(SECRET)}),
        ("recovery_codes", {"seed": encrypt(SEED), "used_mask": 5}),
        ("webauthn", {"name": "Key", "credential": {"public": "part"}}),
    )
    made = [Authenticator.objects.create(user=person, type=kind, data=of_kind) for kind, of_kind in data]
    moved = {"seed": encrypt(SEED), "used_mask": 0, "migrated_codes": [encrypt("11112222"), encrypt("33334444")]}
    return [*made, Authenticator.objects.create(user=make_account("bob"), type="recovery_codes", data=moved)]


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


def test_rotation_writes_them_under_the_new_key(rows: list[Authenticator], settings: Settings) -> None:
    codes, old, new = RecoveryCodes(rows[1]).generate_codes(), settings.FIELD_ENCRYPTION_KEYS, [_key()]
    settings.FIELD_ENCRYPTION_KEYS = [*new, *old]
    call_command("reencrypt", verbosity=0)
    settings.FIELD_ENCRYPTION_KEYS = new
    assert not plain(stored())
    for row in rows:
        row.refresh_from_db()
    assert TOTP(rows[0]).validate_code(code_of(SECRET))
    assert RecoveryCodes(rows[1]).generate_codes() == codes
    assert rows[1].data["used_mask"] == 5
    assert rows[2].data == {"name": "Key", "credential": {"public": "part"}}
    assert RecoveryCodes(rows[3]).get_unused_codes() == ["11112222", "33334444"]
    assert "11112222" not in str(rows[3].data)


def test_many_rows_are_written_some_at_a_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_factors, "ROWS_AT_ONCE", 2)
    for number in range(5):
        data = {"secret": encrypt(SECRET)}
        Authenticator.objects.create(user=make_account(f"p{number}"), type="totp", data=data)
    settings.FIELD_ENCRYPTION_KEYS = [_key(), *settings.FIELD_ENCRYPTION_KEYS]
    assert second_factors.reencrypt() == 5
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    assert {decrypt(data["secret"]) for data in stored()} == {SECRET}


def test_rotation_without_the_old_key_changes_nothing(rows: list[Authenticator], settings: Settings) -> None:
    before = stored()
    settings.FIELD_ENCRYPTION_KEYS = [_key()]
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("reencrypt")
    assert stored() == before
