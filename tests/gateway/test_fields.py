"""Columns that rest encrypted, and the rotation of their keys."""

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection

from inference.models import Upstream
from tests.support.session_keys import no_signing_keys  # noqa: F401

pytestmark = pytest.mark.usefixtures("no_signing_keys")  # they are encrypted with another key

OLD, NEW, FOREIGN = (Fernet.generate_key().decode() for _ in range(3))


@pytest.fixture(autouse=True)
def _old_key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [OLD]


def stored(name: str = "up") -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM inference_upstream WHERE name = %s", [name])
        return str(cursor.fetchone()[0])


def make(api_key: str) -> Upstream:
    return Upstream.objects.create(name="up", adapter="demo", api_key=api_key)


def test_the_database_holds_no_plain_text() -> None:
    make("sk-secret")
    assert "sk-secret" not in stored()
    assert Fernet(OLD).decrypt(stored().encode()) == b"sk-secret"
    assert Upstream.objects.get().api_key == "sk-secret"


def test_equal_secrets_look_different() -> None:
    make("sk-secret")
    Upstream.objects.create(name="other", adapter="demo", api_key="sk-secret")
    assert stored() != stored("other")


@pytest.mark.parametrize("secret", ["", "ä ☃ 𝄞", "x" * 5000, "gAAAAA-not-ours"])
def test_any_text_comes_back(secret: str) -> None:
    make(secret)
    assert Upstream.objects.get().api_key == secret


def test_nothing_stays_nothing() -> None:
    make("")
    assert stored() == ""


def test_a_new_key_in_front_reads_the_old_and_writes_the_new(settings: Any) -> None:
    make("sk-secret")
    before = stored()

    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    upstream = Upstream.objects.get()
    assert (upstream.api_key, stored()) == ("sk-secret", before)
    upstream.save()

    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert Upstream.objects.get().api_key == "sk-secret"
    assert Fernet(NEW).decrypt(stored().encode()) == b"sk-secret"


def test_a_key_that_is_gone_is_named_and_the_secret_is_not(settings: Any) -> None:
    make("sk-secret")
    settings.FIELD_ENCRYPTION_KEYS = [FOREIGN]
    with pytest.raises(
        ImproperlyConfigured, match=r"No key of FIELD_ENCRYPTION_KEYS decrypts Upstream.api_key"
    ) as caught:
        Upstream.objects.get()
    assert "sk-" not in str(caught.value)
    assert Upstream.objects.defer("api_key").get().name == "up"


def test_text_that_somebody_changed_is_refused() -> None:
    make("sk-secret")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE inference_upstream SET api_key = left(api_key, -2) || 'xx'")
    with pytest.raises(ImproperlyConfigured):
        Upstream.objects.get()


def test_an_update_statement_encrypts_too() -> None:
    make("sk-secret")
    Upstream.objects.update(api_key="sk-other")
    assert "sk-other" not in stored()
    assert Upstream.objects.get().api_key == "sk-other"


def test_the_command_writes_every_secret_anew(settings: Any) -> None:
    make("sk-secret")
    Upstream.objects.create(name="empty", adapter="demo")
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    out = StringIO()

    call_command("reencrypt", stdout=out)

    assert "inference.Upstream.api_key: 1 row\n" in out.getvalue()
    assert Fernet(NEW).decrypt(stored().encode()) == b"sk-secret"
    assert stored("empty") == ""


def test_the_command_changes_nothing_where_a_key_is_missing(settings: Any) -> None:
    make("sk-secret")
    before = stored()
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    with pytest.raises(CommandError, match=r"Upstream.api_key"):
        call_command("reencrypt", stdout=StringIO())
    assert stored() == before
