"""Email addresses belong to the account that verifies them, no matter how many others claim them."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from gateway.core.contract.limits import EMAIL_ADDRESSES_MAX
from tests.factories.accounts import make_account
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

OWNER = "owner@example.com"
OWNERS_PASSWORD, STRANGERS_PASSWORD = "correct horse battery", "stranger horse battery"


@pytest.fixture
def _with_mail(settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_PREVENT_ENUMERATION = "strict"


def sign_up(email: str, password: str) -> Client:
    client = Client()
    assert client.post("/account/signup/", {"email": email, "password1": password}).status_code == 303
    return client


def links_to(email: str) -> list[str]:
    """Return the verification links in a mailbox, newest last."""
    bodies = [str(one.body) for one in mail.outbox if one.to == [email]]
    return [link for body in bodies for link in re.findall(r"/account/confirm-email/\S+", body)]


def verify(link: str, client: Client | None = None) -> None:
    (client or Client()).post(link)


def signs_in(email: str, password: str) -> bool:
    client = Client()
    client.post("/account/login/", {"login": email, "password": password})
    return client.get("/").status_code == 200


def person(email: str, password: str) -> Account:
    """Create a person with a verified address."""
    account = make_account(f"did:web:gateway.example:accounts:{email}", email=email, password=password)
    EmailAddress.objects.create(user=account, email=email, verified=True, primary=True)
    return account


def signed_in(account: Account, password: str) -> Client:
    client = Client()
    client.post("/account/login/", {"login": account.email, "password": password})
    assert client.get("/").status_code == 200
    return client


@pytest.mark.usefixtures("_with_mail")
class TestClaims:
    """An address that no account has verified."""

    def test_a_strangers_sign_up_does_not_keep_the_owner_out(self) -> None:
        sign_up(OWNER, STRANGERS_PASSWORD)
        sign_up(OWNER, OWNERS_PASSWORD)
        verify(links_to(OWNER)[-1])
        assert signs_in(OWNER, OWNERS_PASSWORD)
        assert not signs_in(OWNER, STRANGERS_PASSWORD)
        [proven] = EmailAddress.objects.all()
        assert (proven.verified, proven.primary, proven.user.email) == (True, True, OWNER)

    def test_a_strangers_later_sign_up_does_not_undo_the_owners(self) -> None:
        sign_up(OWNER, OWNERS_PASSWORD)
        for _ in range(3):
            sign_up(OWNER, STRANGERS_PASSWORD)
        verify(links_to(OWNER)[0])
        assert signs_in(OWNER, OWNERS_PASSWORD)
        assert not signs_in(OWNER, STRANGERS_PASSWORD)
        assert Account.objects.get(email=OWNER).check_password(OWNERS_PASSWORD)

    def test_a_link_of_a_claim_that_has_ended_does_nothing(self) -> None:
        sign_up(OWNER, STRANGERS_PASSWORD)
        sign_up(OWNER, OWNERS_PASSWORD)
        strangers, owners = links_to(OWNER)
        verify(owners)
        verify(strangers)
        assert not signs_in(OWNER, STRANGERS_PASSWORD)
        assert EmailAddress.objects.count() == 1

    def test_an_address_that_a_stranger_added_is_the_owners(self) -> None:
        stranger = person("stranger@example.com", STRANGERS_PASSWORD)
        browser = signed_in(stranger, STRANGERS_PASSWORD)
        browser.post("/account/email/", {"action_add": "", "email": OWNER})
        assert EmailAddress.objects.filter(user=stranger, email=OWNER).exists()
        sign_up(OWNER, OWNERS_PASSWORD)
        verify(links_to(OWNER)[-1])
        assert signs_in(OWNER, OWNERS_PASSWORD)
        assert not EmailAddress.objects.filter(user=stranger, email=OWNER).exists()
        assert signs_in("stranger@example.com", STRANGERS_PASSWORD)

    def test_a_person_adds_an_address_that_a_stranger_claims(self) -> None:
        sign_up(OWNER, STRANGERS_PASSWORD)
        owner = person("me@example.com", OWNERS_PASSWORD)
        browser = signed_in(owner, OWNERS_PASSWORD)
        browser.post("/account/email/", {"action_add": "", "email": OWNER})
        verify(links_to(OWNER)[-1], browser)
        browser.post("/account/email/", {"action_primary": "", "email": OWNER})
        owner.refresh_from_db()
        assert owner.email == OWNER
        assert signs_in(OWNER, OWNERS_PASSWORD)
        assert not Account.objects.filter(email=OWNER).exclude(pk=owner.pk).exists()

    def test_a_claimed_addresss_owner_cannot_reset_the_claiming_accounts_password(self) -> None:
        stranger = person("stranger@example.com", STRANGERS_PASSWORD)
        EmailAddress.objects.create(user=stranger, email=OWNER)
        sign_up("other@example.com", STRANGERS_PASSWORD)
        for claimed in (OWNER, "other@example.com"):
            mail.outbox.clear()
            Client().post("/account/password/reset/", {"email": claimed})
            [only] = mail.outbox  # as an address without an account gets it
            assert "There is no account with this address." in only.body
            assert "/reset/key/" not in only.body

    def test_of_two_accounts_that_verify_it_the_first_gets_it(self) -> None:
        first = person("first@example.com", OWNERS_PASSWORD)
        second = person("second@example.com", OWNERS_PASSWORD)
        for account in (first, second):
            browser = signed_in(account, OWNERS_PASSWORD)
            browser.post("/account/email/", {"action_add": "", "email": OWNER})
        for link in links_to(OWNER):
            verify(link)
        [proven] = EmailAddress.objects.filter(email=OWNER)
        assert (proven.user, proven.verified) == (first, True)


@pytest.mark.usefixtures("_with_mail")
class TestTaken:
    """An address that belongs to an account."""

    def test_a_proven_one_makes_no_second_account(self) -> None:
        owner = person(OWNER, OWNERS_PASSWORD)
        sign_up(OWNER, STRANGERS_PASSWORD)
        assert list(Account.objects.all()) == [owner]
        [message] = mail.outbox
        assert "/account/password/reset/" in message.body

    def test_an_operators_word_counts_as_proof(self) -> None:
        customer = make_account("customer", email=OWNER, password=OWNERS_PASSWORD)
        operator = Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost.example", "x")
        for account in (customer, operator):
            Client().post("/account/login/", {"login": account.email, "password": "x"})
            sign_up(str(account.email), STRANGERS_PASSWORD)
            account.refresh_from_db()
            assert account.email
        assert Account.objects.count() == 2

    def test_an_operators_word_lets_a_person_reset_the_password(self) -> None:
        make_account("customer", email=OWNER, password=OWNERS_PASSWORD)
        for _ in range(2):  # django-allauth records the address at the first
            Client().post("/account/password/reset/", {"email": OWNER})
        assert len([one for one in mail.outbox if "/account/password/reset/key/" in one.body]) == 2


class TestPrimary:
    """The primary address, which becomes the account's `email`."""

    @pytest.fixture(autouse=True)
    def with_mail(self, _with_mail: None) -> None:
        """Pages that exist only if mail is sent."""

    def addresses(self, account: Account) -> tuple[str | None, list[str]]:
        account.refresh_from_db()
        primary = EmailAddress.objects.filter(user=account, primary=True)
        return account.email, list(primary.values_list("email", flat=True))

    def test_changes_in_one_step(self) -> None:
        owner = person("me@example.com", OWNERS_PASSWORD)
        EmailAddress.objects.create(user=owner, email=OWNER, verified=True)
        browser = signed_in(owner, OWNERS_PASSWORD)
        assert browser.post("/account/email/", {"action_primary": "", "email": OWNER}).status_code == 303
        assert self.addresses(owner) == (OWNER, [OWNER])

    def test_changes_wholly_or_not_at_all(self) -> None:
        owner = person("me@example.com", OWNERS_PASSWORD)
        EmailAddress.objects.create(user=owner, email=OWNER, verified=True)
        browser = signed_in(owner, OWNERS_PASSWORD)
        make_account("customer", email=OWNER)  # by an operator, meanwhile
        answer = browser.post("/account/email/", {"action_primary": "", "email": OWNER}, follow=True)
        assert answer.status_code == 200
        assert b"Check them and try again" in answer.content
        assert self.addresses(owner) == ("me@example.com", ["me@example.com"])

    @pytest.mark.django_db(transaction=True)
    def test_is_one_after_many_changes_at_once(self) -> None:
        owner = person("me@example.com", OWNERS_PASSWORD)
        wanted = [f"{number}@example.com" for number in range(4)]
        EmailAddress.objects.bulk_create(EmailAddress(user=owner, email=one, verified=True) for one in wanted)
        browsers = [signed_in(owner, OWNERS_PASSWORD) for _ in wanted]

        def choose(browser: Client, email: str) -> int:
            return browser.post("/account/email/", {"action_primary": "", "email": email}).status_code

        statuses = at_once(*[lambda b=b, e=e: choose(b, e) for b, e in zip(browsers, wanted, strict=True)])
        assert set(statuses) == {303}
        email, primary = self.addresses(owner)
        assert primary == [email]


@pytest.mark.usefixtures("_with_mail")
class TestPage:
    """/account/email/: each address with its possible actions."""

    @pytest.fixture
    def rows(self) -> dict[str, str]:
        owner = person(OWNER, OWNERS_PASSWORD)
        EmailAddress.objects.create(user=owner, email="other@example.com", verified=True)
        EmailAddress.objects.create(user=owner, email="new@example.com", verified=False)
        page = signed_in(owner, OWNERS_PASSWORD).get("/account/email/").content.decode()
        found = re.findall(r"<li>\s*<div><strong>(.*?)</strong>(.*?)</li>", page, re.DOTALL)
        return dict(found)

    def test_offers_the_possible_actions(self, rows: dict[str, str]) -> None:
        actions = {email: re.findall(r'name="action_(\w+)"', row) for email, row in rows.items()}
        assert actions == {
            OWNER: [],
            "other@example.com": ["primary", "remove"],
            "new@example.com": ["send", "primary", "remove"],
        }

    def test_says_which_is_primary_and_which_is_verified(self, rows: dict[str, str]) -> None:
        tags = {email: re.findall(r'class="tag[^"]*">([^<]+)<', row) for email, row in rows.items()}
        assert tags == {
            OWNER: ["Primary", "Verified"],
            "other@example.com": ["Verified"],
            "new@example.com": ["Not verified"],
        }


class TestWithoutMail:
    """Without mail, no address can be verified."""

    @pytest.mark.parametrize("path", ["/account/email/", "/account/confirm-email/"])
    def test_there_is_no_page_for_them(self, path: str) -> None:
        browser = sign_up(OWNER, OWNERS_PASSWORD)
        assert browser.get(path)["Location"] == "/"
        assert browser.post(path, {"action_add": "", "email": "other@example.com"})["Location"] == "/"
        assert not EmailAddress.objects.filter(email="other@example.com").exists()

    def test_no_page_leads_there(self, settings: Settings) -> None:
        browser = sign_up(OWNER, OWNERS_PASSWORD)
        for path in ("/", "/account/2fa/", "/account/sessions/", "/account/password/change/", "/account/3rdparty/"):
            assert b"/account/email/" not in browser.get(path, follow=True).content
        settings.MAIL_IS_CONFIGURED = True
        assert b"/account/email/" in browser.get("/").content

    def test_the_first_to_sign_up_keeps_the_address(self) -> None:
        sign_up(OWNER, OWNERS_PASSWORD)
        client = Client()
        assert client.post("/account/signup/", {"email": OWNER, "password1": STRANGERS_PASSWORD}).status_code == 200
        assert Account.objects.filter(email=OWNER).count() == 1
        assert signs_in(OWNER, OWNERS_PASSWORD)


@pytest.mark.usefixtures("_with_mail")
def test_the_number_per_person_is_limited() -> None:
    owner = person(OWNER, OWNERS_PASSWORD)
    client = signed_in(owner, OWNERS_PASSWORD)
    for number in range(EMAIL_ADDRESSES_MAX - 1):
        EmailAddress.objects.create(user=owner, email=f"{number}@example.com")
    client.post("/account/email/", {"action_add": "", "email": "more@example.com"})
    assert EmailAddress.objects.filter(user=owner).count() == EMAIL_ADDRESSES_MAX
    EmailAddress.objects.get(email="0@example.com").delete()
    client.post("/account/email/", {"action_add": "", "email": "more@example.com"})
    assert EmailAddress.objects.filter(user=owner, email="more@example.com").exists()
