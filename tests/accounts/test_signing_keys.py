"""The life cycle of signing keys."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command, execute_from_command_line
from django.db import connection

from accounts.models import SigningKey
from accounts.operations import signing_keys
from accounts.rules import jwk
from accounts.tasks import tend_signing_keys
from tests.accounts.race import race
from tests.support.session_keys import no_signing_keys  # noqa: F401

pytestmark = pytest.mark.usefixtures("no_signing_keys")

NOW = datetime(2026, 11, 21, tzinfo=UTC)
DAY = timedelta(days=1)


def states() -> dict[str, str]:
    return dict(SigningKey.objects.order_by("id").values_list("kid", "state"))


@pytest.mark.django_db
def test_the_first_start_makes_an_active_key_and_publishes_the_next() -> None:
    key = signing_keys.ensure_active_key(now=NOW)
    assert list(states().values()) == ["active", "pending"]
    assert key.kid == jwk.parse(key.public_jwk).thumbprint
    assert signing_keys.ensure_active_key(now=NOW + DAY) == key
    assert len(states()) == 2


@pytest.mark.django_db
def test_the_private_part_rests_encrypted() -> None:
    key = signing_keys.ensure_active_key(now=NOW)
    assert key.private_pem.startswith("-----BEGIN PRIVATE KEY-----")
    with connection.cursor() as cursor:
        cursor.execute("SELECT private_pem, public_jwk::text FROM accounts_signing_key WHERE kid = %s", [key.kid])
        private, public = cursor.fetchone()
    assert "PRIVATE" not in private
    assert '"d"' not in public


@pytest.mark.django_db
def test_rotation_makes_the_published_key_the_signing_one() -> None:
    first = signing_keys.ensure_active_key(now=NOW)
    pending = SigningKey.objects.get(state="pending")
    second = signing_keys.rotate(now=NOW + DAY)
    assert second == pending
    assert list(states().items())[:2] == [(first.kid, "passive"), (second.kid, "active")]
    assert list(states().values()) == ["passive", "active", "pending"]
    assert SigningKey.objects.get(kid=second.kid).activated_at == NOW + DAY
    assert SigningKey.objects.get(kid=first.kid).passive_at == NOW + DAY


@pytest.mark.django_db
def test_a_scheduled_rotation_waits_for_the_key_to_age_and_its_successor_to_be_known() -> None:
    first = signing_keys.ensure_active_key(now=NOW)

    def rotate_if_due(since: timedelta, published: timedelta) -> SigningKey:
        return signing_keys.rotate_if_due(now=NOW + DAY, signing_since=NOW + since, published_before=NOW + published)

    assert rotate_if_due(-DAY, DAY) == first
    assert rotate_if_due(DAY, -DAY) == first
    assert rotate_if_due(DAY, DAY) != first


@pytest.mark.django_db
def test_a_passive_key_is_retired_and_wiped_when_its_last_token_has_expired() -> None:
    first = signing_keys.ensure_active_key(now=NOW)
    signing_keys.rotate(now=NOW)
    assert signing_keys.retire_expired(now=NOW + timedelta(seconds=599)) == 0
    assert signing_keys.retire_expired(now=NOW + timedelta(seconds=600)) == 1
    first.refresh_from_db()
    assert (first.state, first.private_pem) == ("retired", "")
    assert first.retired_at == NOW + timedelta(seconds=600)


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["pending", "active", "passive"])
def test_a_leaked_key_is_retired_at_once_and_replaced(state: str) -> None:
    signing_keys.ensure_active_key(now=NOW)
    signing_keys.rotate(now=NOW)
    leaked = SigningKey.objects.get(state=state)
    signing_keys.retire(leaked.kid, now=NOW + DAY)
    leaked.refresh_from_db()
    assert (leaked.state, leaked.private_pem, leaked.retired_at) == ("retired", "", NOW + DAY)
    in_use = SigningKey.objects.filter(state__in=["active", "pending"])
    assert sorted(in_use.values_list("state", flat=True)) == ["active", "pending"]
    with pytest.raises(SigningKey.DoesNotExist):
        signing_keys.retire(leaked.kid, now=NOW)


@pytest.mark.django_db(transaction=True)
def test_processes_that_start_at_once_agree_on_one_key() -> None:
    reports = race(3, "start_keys")
    assert len({kids[0] for kids in reports}) == 1
    assert sorted(states().values()) == ["active", "pending"]


@pytest.mark.django_db(transaction=True)
def test_rotations_at_once_queue_up() -> None:
    signing_keys.ensure_active_key(now=NOW)
    reports = race(3, "rotate_keys")
    assert len({kids[0] for kids in reports}) == 3
    assert sorted(states().values()) == ["active", "passive", "passive", "passive", "pending"]


@pytest.mark.django_db
def test_the_command_rotates_and_lists_the_keys_in_use() -> None:
    signing_keys.ensure_active_key(now=NOW)
    out = StringIO()
    call_command("rotate_signing_keys", stdout=out)
    kids = list(states())
    assert out.getvalue() == f"passive  {kids[0]}\nactive   {kids[1]}\npending  {kids[2]}\n"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("start", ["-Zgx", "-h", "--verbosity"])
def test_the_command_retires_a_leaked_key(start: str, capsys: pytest.CaptureFixture[str]) -> None:
    leaked = signing_keys.ensure_active_key(now=NOW)
    kid = start + leaked.kid[len(start) :]  # one in 64 begins with a hyphen
    SigningKey.objects.filter(pk=leaked.pk).update(kid=kid)
    execute_from_command_line(["manage.py", "rotate_signing_keys", "--retire", kid, "--traceback"])
    assert states()[kid] == "retired"
    for form in (["--retire", kid], [f"--retire={kid}"]):
        with pytest.raises(SystemExit):
            execute_from_command_line(["manage.py", "rotate_signing_keys", *form])
        assert capsys.readouterr().err == f"CommandError: no signing key in use has the kid {kid}\n"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--retire"], "argument --retire: expected one argument"),
        (["--retire", ""], "no signing key in use has the kid"),  # as of a shell's variable that is not set
        (["--retire="], "no signing key in use has the kid"),
    ],
)
def test_the_command_without_a_key_to_retire_changes_nothing(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    signing_keys.ensure_active_key(now=NOW)
    before = states()
    with pytest.raises(SystemExit):
        execute_from_command_line(["manage.py", "rotate_signing_keys", *words])
    assert complaint in capsys.readouterr().err
    assert states() == before


@pytest.mark.django_db
def test_the_job_may_run_twice() -> None:
    signing_keys.ensure_active_key(now=NOW - timedelta(days=40))
    tend_signing_keys()
    assert list(states().values()) == ["passive", "active", "pending"]
    tend_signing_keys()
    assert list(states().values()) == ["passive", "active", "pending"]
