"""The life cycle of the keys that sign receipts, and their publication."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line
from django.db import connection
from django.test import Client
from jwt import PyJWKSet

from accounts.models import ReceiptKey, SigningKey
from accounts.operations import receipt_keys
from accounts.operations.receipt_keyring import receipt_keyring
from accounts.rules import jwk
from accounts.tasks import tend_signing_keys
from tests.accounts.race import race

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DAY = timedelta(days=1)
PATH = "/.well-known/receipt-keys.json"


def states() -> dict[str, str]:
    return dict(ReceiptKey.objects.order_by("id").values_list("kid", "state"))


def published(client: Client) -> list[str]:
    receipt_keyring.forget()
    return [key["kid"] for key in client.get(PATH).json()["keys"]]


@pytest.mark.django_db
def test_the_first_key_is_made_with_its_successor() -> None:
    key = receipt_keys.ensure_active_key(now=NOW)
    assert list(states().values()) == ["active", "pending"]
    assert key.kid == jwk.parse(key.public_jwk).thumbprint
    assert receipt_keys.ensure_active_key(now=NOW + DAY) == key
    assert not SigningKey.objects.filter(kid__in=states()).exists()


@pytest.mark.django_db
def test_the_private_part_rests_encrypted_for_its_own_row() -> None:
    key = receipt_keys.ensure_active_key(now=NOW)
    assert ReceiptKey.objects.get(pk=key.pk).private_pem.startswith("-----BEGIN PRIVATE KEY-----")
    with connection.cursor() as cursor:
        cursor.execute("SELECT private_pem, public_jwk::text FROM accounts_receipt_key WHERE kid = %s", [key.kid])
        private, public = cursor.fetchone()
    assert "PRIVATE" not in private
    assert '"d"' not in public


@pytest.mark.django_db
def test_a_former_key_stays_published_without_its_private_part(client: Client) -> None:
    first = receipt_keys.ensure_active_key(now=NOW)
    before = published(client)
    second = receipt_keys.rotate(now=NOW + DAY)
    first.refresh_from_db()
    assert (first.state, first.private_pem, first.retired_at) == ("retired", "", NOW + DAY)
    assert (second.state, second.activated_at) == ("active", NOW + DAY)
    assert before == [first.kid, second.kid]
    assert published(client)[:2] == before
    for _ in range(3):
        receipt_keys.rotate(now=NOW + DAY)
    assert published(client) == list(states())
    assert ReceiptKey.objects.exclude(private_pem="").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["pending", "active", "retired"])
def test_a_leaked_key_is_published_no_more_and_replaced(client: Client, state: str) -> None:
    receipt_keys.ensure_active_key(now=NOW)
    receipt_keys.rotate(now=NOW)
    leaked = ReceiptKey.objects.get(state=state)
    receipt_keys.withdraw(leaked.kid, now=NOW + DAY)
    leaked.refresh_from_db()
    assert (leaked.state, leaked.private_pem, leaked.withdrawn_at) == ("withdrawn", "", NOW + DAY)
    assert leaked.kid not in published(client)
    in_use = ReceiptKey.objects.filter(state__in=["active", "pending"])
    assert sorted(in_use.values_list("state", flat=True)) == ["active", "pending"]
    with pytest.raises(ReceiptKey.DoesNotExist):
        receipt_keys.withdraw(leaked.kid, now=NOW)


@pytest.mark.django_db
def test_the_keys_are_public_and_cacheable(client: Client) -> None:
    response = client.get(PATH)
    assert response["Cache-Control"] == "public, max-age=300"
    assert len(PyJWKSet.from_dict(response.json()).keys) == 2
    assert {(key["alg"], key["use"]) for key in response.json()["keys"]} == {("ES256", "sig")}
    resource = client.get("/.well-known/oauth-protected-resource").json()
    assert resource["receipt_keys_uri"] == f"https://gateway.example{PATH}"
    assert client.post(PATH).status_code == 405


@pytest.mark.django_db(transaction=True)
def test_processes_that_start_at_once_agree_on_one_key() -> None:
    reports = race(3, "start_receipt_keys")
    assert len({kids[0] for kids in reports}) == 1
    assert sorted(states().values()) == ["active", "pending"]


@pytest.mark.django_db(transaction=True)
def test_rotations_at_once_queue_up() -> None:
    receipt_keys.ensure_active_key(now=NOW)
    reports = race(3, "rotate_receipt_keys")
    assert len({kids[0] for kids in reports}) == 3
    assert sorted(states().values()) == ["active", "pending", "retired", "retired", "retired"]


@pytest.mark.django_db
def test_the_command_rotates_and_lists_the_published_keys() -> None:
    receipt_keys.ensure_active_key(now=NOW)
    out = StringIO()
    call_command("rotate_receipt_keys", stdout=out)
    kids = list(states())
    assert out.getvalue() == f"retired  {kids[0]}\nactive   {kids[1]}\npending  {kids[2]}\n"


@pytest.mark.django_db(transaction=True)
def test_the_command_withdraws_a_leaked_key() -> None:
    leaked = receipt_keys.ensure_active_key(now=NOW)
    kid = "-Zgx" + leaked.kid[4:]  # one in 64 begins with a hyphen
    ReceiptKey.objects.filter(pk=leaked.pk).update(kid=kid)
    execute_from_command_line(["manage.py", "rotate_receipt_keys", "--withdraw", kid, "--traceback"])
    assert states()[kid] == "withdrawn"
    with pytest.raises(CommandError, match=f"no published receipt key has the kid {kid}"):
        call_command("rotate_receipt_keys", withdraw=kid)


@pytest.mark.django_db
def test_the_job_rotates_once_a_year() -> None:
    receipt_keys.ensure_active_key(now=NOW - timedelta(days=10_000))
    for _ in range(2):
        tend_signing_keys()
        assert list(states().values()) == ["retired", "active", "pending"]
