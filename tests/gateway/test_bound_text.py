"""Columns that rest encrypted and bound to their rows."""

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Account
from gateway.core.encryption import fields
from gateway.core.encryption.bound_text import Token
from integrations.models import AccountKey
from tests.support.session_keys import no_signing_keys  # noqa: F401

pytestmark = pytest.mark.usefixtures("no_signing_keys")  # they are encrypted with another key

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture(autouse=True)
def _old_key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [OLD]


def make(name: str, material: str = "the secret") -> AccountKey:
    account = Account.objects.create(did=f"did:web:{name}.example")
    return AccountKey.objects.create(account=account, kid=name, material=material, created_at=timezone.now())


def stored(key: AccountKey) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT material FROM integrations_accountkey WHERE kid = %s", [key.kid])
        return str(cursor.fetchone()[0])


def read(key: AccountKey) -> str:
    return AccountKey.objects.get(kid=key.kid).material


@pytest.mark.parametrize("text", ["", "ä ☃ 𝄞", "x" * 5000, "gAAAAA-not-ours"])
def test_any_text_comes_back_and_none_of_it_rests_in_the_clear(text: str) -> None:
    key = make("a", text)
    assert read(key) == text
    assert stored(key) == "" if not text else text not in stored(key)


def test_text_in_another_row_is_not_read() -> None:
    mine, other = make("a"), make("b", "another")
    AccountKey.objects.filter(kid="b").update(material=Token(stored(mine)))
    with pytest.raises(ImproperlyConfigured, match=r"No key of FIELD_ENCRYPTION_KEYS decrypts AccountKey.material"):
        read(other)
    assert AccountKey.objects.get(kid="b").kid == "b"


@pytest.mark.parametrize("broken", ["ä", "AAAA", "no base64!", "AQ=="])
def test_text_that_somebody_changed_is_refused(broken: str) -> None:
    key = make("a")
    AccountKey.objects.filter(kid="a").update(material=Token(broken))
    with pytest.raises(ImproperlyConfigured):
        read(key)


def test_a_statement_without_the_row_writes_no_plain_text() -> None:
    make("a")
    with pytest.raises(TypeError, match=r"AccountKey.material is encrypted for one row"), transaction.atomic():
        AccountKey.objects.update(material="plain")
    assert AccountKey.objects.filter(material="").count() == 0


def test_what_was_deferred_is_read_and_saved() -> None:
    key = make("a")
    row = AccountKey.objects.defer("material").get()
    assert row.material == "the secret"
    row.material = "the other"
    row.save()
    assert read(key) == "the other"


def test_what_the_version_before_stored_is_read_and_the_command_binds_it(settings: Any) -> None:
    key, other = make("a"), make("b")
    AccountKey.objects.filter(kid="a").update(material=Token(fields.encrypt("of before")))
    assert read(key) == "of before"
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    out = StringIO()
    call_command("reencrypt", stdout=out)
    assert "integrations.AccountKey.material: 2 rows\n" in out.getvalue()
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert (read(key), read(other)) == ("of before", "the secret")
    AccountKey.objects.filter(kid="b").update(material=Token(stored(key)))
    with pytest.raises(ImproperlyConfigured):
        read(other)


def test_the_command_changes_nothing_where_a_key_is_missing(settings: Any) -> None:
    key = make("a")
    before = stored(key)
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    with pytest.raises(CommandError, match=r"AccountKey.material"):
        call_command("reencrypt", stdout=StringIO())
    assert stored(key) == before
