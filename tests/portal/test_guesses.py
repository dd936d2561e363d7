"""Limits on guessing: they stop the attacker, not the account's owner, and all processes share the counts."""

import re
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import mail, signing
from django.core.cache import cache
from django.template.response import TemplateResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import tasks
from accounts.models import Account, CacheEntry
from accounts.operations.suspension import suspend, unsuspend
from accounts.portal.known_devices import ACCOUNTS_MAX, SALT, device_of
from tests.factories.accounts import make_account
from tests.portal.test_pages import PASSWORD, sign_up
from tests.support.concurrency import at_once
from tests.support.database import database_url

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("untracked", "unrecorded_pages")]

SIGN_IN = "/account/login/"
ALICE = "alice@example.com"
GUESSER, HOME = "203.0.113.7", "198.51.100.20"


def attempt(client: Client, password: str, address: str, login: str = ALICE) -> bool:
    """Try a password, and tell whether home opens then. Nobody looks at the pages, so none is rendered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TemplateResponse, "rendered_content", "")
        client.post(SIGN_IN, {"login": login, "password": password}, REMOTE_ADDR=address)
        return client.get("/", REMOTE_ADDR=address).status_code == 200


def guess(address: str, times: int = 6) -> None:
    for _ in range(times):
        assert not attempt(Client(), "wrong password", address)


@pytest.fixture
def alices(client: Client) -> Client:
    """Sign Alice up and out again in her browser."""
    sign_up(client)
    client.post("/account/logout/")
    return client


def test_the_guesser_is_stopped_though_the_next_guess_is_right(alices: Client) -> None:
    guess(GUESSER)
    page = Client().post(SIGN_IN, {"login": ALICE, "password": PASSWORD}, REMOTE_ADDR=GUESSER)
    assert "Too many failed sign-in attempts" in page.content.decode()


def test_guesses_count_for_the_account_under_all_of_its_names(alices: Client) -> None:
    account = Account.objects.get(email=ALICE)
    EmailAddress.objects.create(user=account, email="alice@work.example", verified=True)
    for login in ("alice@work.example", "ALICE@EXAMPLE.COM", " alice@example.com ", "Alice@Work.example"):
        assert not attempt(Client(), "wrong password", GUESSER, login=login)
    form = {"username": account.did, "password": "wrong password"}
    Client().post("/admin/login/", form, REMOTE_ADDR=GUESSER)
    assert not attempt(Client(), PASSWORD, GUESSER)
    assert not attempt(Client(), PASSWORD, GUESSER, login="alice@work.example")
    assert attempt(Client(), PASSWORD, HOME)


def claimed_by_another(number: int) -> Account:
    """Make another account that claims Alice's address, as anybody may."""
    account = make_account(f"did:web:gateway.example:accounts:claimant{number}")
    EmailAddress.objects.create(user=account, email=ALICE, verified=False)
    return account


@pytest.mark.parametrize("is_verified", [False, True])
@pytest.mark.parametrize(("is_known", "guesses"), [(False, 5), (True, 10)])
def test_claims_to_an_address_are_no_new_counts(
    alices: Client, is_known: bool, guesses: int, is_verified: bool
) -> None:
    EmailAddress.objects.filter(email=ALICE).update(verified=is_verified)
    guesser = alices if is_known else Client()
    for number in range(guesses):
        claimed_by_another(number)
        assert not attempt(guesser, "wrong password", GUESSER)
    claimed_by_another(guesses)
    assert not attempt(guesser, PASSWORD, GUESSER)


@pytest.mark.parametrize("is_verified", [False, True])
def test_a_browser_of_a_claimant_is_not_known_for_the_addresss_owner(alices: Client, is_verified: bool) -> None:
    EmailAddress.objects.filter(email=ALICE).update(verified=is_verified)
    sign_up(Client(), email="mallory@example.com")
    EmailAddress.objects.create(user=Account.objects.get(email="mallory@example.com"), email=ALICE, verified=False)
    for password in (*("wrong password",) * 5, PASSWORD):
        fresh = Client()
        assert attempt(fresh, PASSWORD, GUESSER, login="mallory@example.com")
        fresh.post("/account/logout/")
        assert not attempt(fresh, password, GUESSER)


def test_a_right_password_is_no_failure_of_any_account_that_has_the_address(alices: Client) -> None:
    claimed_by_another(1)
    for _ in range(6):
        assert attempt(Client(), PASSWORD, GUESSER)


def test_a_claims_failures_do_not_keep_the_addresss_owner_out(alices: Client) -> None:
    EmailAddress.objects.filter(email=ALICE).update(verified=True)
    EmailAddress.objects.create(user=claimed_by_another(1), email="claimant@example.com", verified=True)
    for _ in range(6):
        assert not attempt(Client(), "wrong password", GUESSER, login="claimant@example.com")
    assert attempt(Client(), PASSWORD, GUESSER)


def test_a_reset_forgets_only_the_failures_of_its_account(alices: Client, settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    EmailAddress.objects.filter(email=ALICE).update(verified=True)
    claimant = claimed_by_another(1)
    EmailAddress.objects.create(user=claimant, email="claimant@example.com", verified=True, primary=True)
    for login in (ALICE, "claimant@example.com"):
        for _ in range(5):
            assert not attempt(Client(), "wrong password", GUESSER, login=login)
    reset = Client(REMOTE_ADDR=GUESSER)
    reset.post("/account/password/reset/", {"email": "claimant@example.com"})
    [link] = re.findall(r"/account/password/reset/key/\S+", str(mail.outbox[-1].body))
    new = {"password1": "another horse battery", "password2": "another horse battery"}
    reset.post(reset.get(link)["Location"], new)
    assert attempt(Client(), "another horse battery", GUESSER, login="claimant@example.com")
    assert not attempt(Client(), PASSWORD, GUESSER)


def test_a_known_browsers_guesses_count_for_the_account_too(alices: Client) -> None:
    EmailAddress.objects.create(user=Account.objects.get(email=ALICE), email="alice@work.example", verified=True)
    for number in range(10):
        login = ("alice@work.example", ALICE)[number % 2]
        assert not attempt(alices, "wrong password", HOME, login=login)
    assert not attempt(alices, PASSWORD, HOME)


def test_the_guessed_gets_in_from_another_address(alices: Client) -> None:
    guess(GUESSER)
    assert attempt(Client(), PASSWORD, HOME)


def test_the_guessed_gets_in_from_the_guessers_address_with_a_browser_of_hers(alices: Client) -> None:
    guess(GUESSER)
    assert not attempt(Client(), PASSWORD, GUESSER)
    assert attempt(alices, PASSWORD, GUESSER)


def test_a_flood_from_one_address_keeps_no_known_browser_out(alices: Client) -> None:
    for number in range(61):
        Client().post(SIGN_IN, {"login": f"{number}@example.com", "password": "x"}, REMOTE_ADDR=GUESSER)
    assert not attempt(Client(), PASSWORD, GUESSER)
    assert attempt(alices, PASSWORD, GUESSER)


def test_a_known_browser_guesses_no_better(alices: Client) -> None:
    for _ in range(10):
        assert not attempt(alices, "wrong password", HOME)
    assert not attempt(alices, PASSWORD, HOME)


def test_a_browser_is_known_only_for_accounts_that_signed_in_with_it(alices: Client) -> None:
    sign_up(Client(), email="bob@example.com")
    guess(GUESSER)
    for _ in range(5):
        assert not attempt(alices, "wrong password", GUESSER, login="bob@example.com")
    assert not attempt(alices, PASSWORD, GUESSER, login="bob@example.com")
    assert attempt(Client(), PASSWORD, HOME, login="bob@example.com")


@pytest.mark.parametrize("cookie", ["", "x", "W1wiYVwiLFsxXV0:1:forged", "\x00"])
def test_a_forged_cookie_makes_no_browser_known(alices: Client, cookie: str) -> None:
    forger = Client()
    forger.cookies["known_device"] = cookie
    guess(GUESSER)
    assert not attempt(forger, PASSWORD, GUESSER)


def thief_of(browser: Client) -> Client:
    """Return another browser with a copy of the cookie."""
    thief = Client()
    thief.cookies["known_device"] = browser.cookies["known_device"].value
    return thief


def test_a_stolen_cookie_shares_its_count_whatever_it_is_carried_to(alices: Client) -> None:
    carried = thief_of(alices)
    sign_up(carried, email="mallory@example.com")  # the cookie has changed, but still identifies this browser
    carried.post("/account/logout/")
    for browser in (thief_of(alices), carried):
        for _ in range(5):
            assert not attempt(browser, "wrong password", GUESSER)
    assert not attempt(carried, PASSWORD, GUESSER)
    assert attempt(Client(), PASSWORD, HOME)


def changed(account: Account) -> str:
    account.set_password("another horse battery")
    account.save()
    return "another horse battery"


def suspended_for_a_while(account: Account) -> str:
    suspend(account=account, now=timezone.now())
    unsuspend(account=account)
    return PASSWORD


@pytest.mark.parametrize("ended", [changed, suspended_for_a_while])
def test_a_browser_is_known_no_longer_than_its_sessions_could_go_on(alices: Client, ended: Any) -> None:
    password = ended(Account.objects.get(email=ALICE))
    guess(GUESSER)
    assert not attempt(thief_of(alices), password, GUESSER)
    assert attempt(alices, password, HOME)
    alices.post("/account/logout/")
    assert attempt(alices, password, GUESSER), "it is known again"


def test_a_cookie_of_an_older_version_makes_no_browser_known(alices: Client) -> None:
    old = Client()
    old.cookies["known_device"] = signing.dumps(["device", [Account.objects.get(email=ALICE).pk]], salt=SALT)
    guess(GUESSER)
    assert not attempt(old, PASSWORD, GUESSER)
    assert attempt(old, PASSWORD, HOME)


def test_the_cookie_is_for_no_script_and_keeps_few_accounts(client: Client) -> None:
    for number in range(ACCOUNTS_MAX + 1):
        sign_up(client, email=f"{number}@example.com")
        client.post("/account/logout/")
    morsel = client.cookies["known_device"]
    assert (morsel["httponly"], morsel["samesite"], morsel["max-age"]) == (True, "Lax", 180 * 86400)
    request = client.get("/account/login/").wsgi_request
    first, last = (Account.objects.get(email=f"{number}@example.com") for number in (0, ACCOUNTS_MAX))
    assert device_of(request, str(first.pk)) is None
    assert device_of(request, str(last.pk))


def test_an_ipv6_network_is_one_guesser(alices: Client) -> None:
    for number in range(6):
        assert not attempt(Client(), "wrong password", f"2001:db8:1:2::{number}")
    assert not attempt(Client(), PASSWORD, "2001:db8:1:2:3::1")
    assert attempt(Client(), PASSWORD, "2001:db8:1:3::1")


def test_addresses_of_ipv4_in_ipv6_are_not_one_guesser(alices: Client) -> None:
    guess(f"::ffff:{GUESSER}")
    assert not attempt(Client(), PASSWORD, GUESSER)
    assert attempt(Client(), PASSWORD, f"::ffff:{HOME}")


def test_a_host_of_ones_own_choice_is_no_new_count(alices: Client) -> None:
    for number in range(6):
        form = {"login": ALICE, "password": "wrong password"}
        Client().post(SIGN_IN, form, REMOTE_ADDR=GUESSER, HTTP_HOST=f"{number}.example")
    assert not attempt(Client(), PASSWORD, GUESSER)


def test_an_address_of_ones_own_choice_is_no_new_count(alices: Client) -> None:
    for number in range(6):
        form = {"login": ALICE, "password": "wrong password"}
        Client().post(SIGN_IN, form, REMOTE_ADDR=GUESSER, HTTP_X_FORWARDED_FOR=f"192.0.2.{number}")
    assert not attempt(Client(), PASSWORD, GUESSER)


def test_a_form_that_is_sent_too_often_says_so_in_plain_words() -> None:
    pages = [Client().post("/account/password/reset/", {"email": f"{number}@x.example"}) for number in range(21)]
    assert [page.status_code for page in pages] == [303] * 20 + [429]
    assert "Too many attempts" in pages[-1].content.decode()
    assert "Wait a few minutes" in pages[-1].content.decode()


@pytest.mark.django_db(transaction=True)
class TestSharedCache:
    """Django's cache in the database."""

    def test_another_process_sees_the_count(self) -> None:
        cache.set("attempts", [1.5, 2.5], 60)
        read = "import django; django.setup(); from django.core.cache import cache; print(cache.get('attempts'))"
        environment = {
            "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "DATABASE_URL": database_url(),
            "SECRET_KEY": settings.SECRET_KEY,
        }
        result = subprocess.run(
            [sys.executable, "-c", read], env=environment, capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == "[1.5, 2.5]"

    def test_of_several_concurrent_adds_one_succeeds(self) -> None:
        for expired in (False, True):
            if expired:
                CacheEntry.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
            results = at_once(*[lambda: cache.add("lock", True, 60) for _ in range(8)])
            assert sorted(results) == [False] * 7 + [True]

    def test_rows_that_others_wrote_into_the_table_are_not_trusted(self) -> None:
        cache.set("counted", [1], 60)
        CacheEntry.objects.update(value="gAWVDwAAAAAAAACMBmZvcmdlZJQu:1vMabc:forged")
        assert cache.get("counted", "none") == "none"

    def test_an_expired_entry_is_absent(self) -> None:
        cache.set("gone", 1, 60)
        assert (cache.get("gone"), cache.touch("gone", -1), cache.get("gone", "none")) == (1, True, "none")
        assert not cache.touch("gone", 60)
        assert cache.add("gone", 2)
        assert (cache.get("gone"), cache.delete("gone"), cache.delete("gone")) == (2, True, False)
        cache.set("kept", 3, None)
        assert cache.get("kept") == 3
        cache.clear()
        assert cache.get("kept") is None

    def test_expired_entries_are_purged(self) -> None:
        cache.set("old", 1, 60)
        cache.set("new", 1, 60)
        CacheEntry.objects.filter(key__endswith="old").update(expires_at=timezone.now() - timedelta(seconds=1))
        assert (tasks.purge_cache(), tasks.purge_cache()) == (1, 0)
        assert cache.get("new") == 1

    def test_a_flood_of_entries_evicts_none_that_is_live(self) -> None:
        cache.set("counted", [1], 60)
        cache.set_many({f"other:{number}": 1 for number in range(1000)}, 60)
        assert cache.get("counted") == [1]


def test_unknown_accounts_are_counted_like_known_ones(alices: Client) -> None:
    for _ in range(5):
        attempt(Client(), "x", GUESSER, login="nobody@example.com")
    page = Client().post(SIGN_IN, {"login": "nobody@example.com", "password": "x"}, REMOTE_ADDR=GUESSER)
    assert "Too many failed sign-in attempts" in page.content.decode()
    assert not Account.objects.filter(email="nobody@example.com").exists()
