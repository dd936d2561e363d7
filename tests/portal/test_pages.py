"""The portal's pages: policy, cookies, sign-up, appearance, devices. Driven without a browser."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AppearanceProduct, DeviceSession, Product
from tests.factories.accounts import make_account
from tests.gateway.every_url import templates
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
SIGN_UP = {"email": "alice@example.com", "password1": PASSWORD}


def sign_up(client: Client, **changes: str) -> Any:
    return client.post("/account/signup/", {**SIGN_UP, **changes})


def device_of(account: Account, name: str = "Laptop") -> DeviceSession:
    now = timezone.now()
    return DeviceSession.objects.create(
        account=account,
        client_id="https://app.example",
        name=name,
        created_at=now,
        last_used_at=now,
        expires_at=now + timedelta(days=30),
    )


def test_signing_up_makes_an_account_with_a_did_of_this_host(client: Client) -> None:
    response = sign_up(client)
    assert (response.status_code, response["Location"]) == (303, "/")
    account = Account.objects.get(email="alice@example.com")
    assert re.fullmatch(r"did:web:gateway\.example:accounts:acc_[0-9a-z]{26}", account.did)
    home = client.get("/")
    assert b"Organizations" in home.content
    assert b"Developers" in home.content


SESSIONLESS = re.compile(r"/(v1|webhooks|static|\.well-known|healthz|livez|readyz|openapi\.json|docs)(/|$)")


@pytest.mark.usefixtures("untracked", "unrecorded_pages")
def test_no_page_of_a_session_is_stored(client: Client) -> None:
    sign_up(client)
    Account.objects.update(is_staff=True, is_superuser=True)
    pages = [path for path in templates() if "{" not in path and not SESSIONLESS.match(path)]
    for path in pages:
        answer = client.get(path)
        assert "no-store" in answer["Cache-Control"], path
    assert {"/", "/developers", "/account/email/", "/account/sessions/", "/account/2fa/totp/activate/"} <= set(pages)


def test_pages_that_a_session_begins_or_ends_with_are_not_stored_either(client: Client) -> None:
    for answer in (sign_up(client), client.get("/no/such/page"), client.post("/account/logout/")):
        assert "no-store" in answer["Cache-Control"]


def test_what_everybody_may_store_stays_so_with_a_session(client: Client) -> None:
    sign_up(client)
    assert client.get("/.well-known/jwks.json")["Cache-Control"] == "public, max-age=300"


def test_the_did_document_is_served(client: Client) -> None:
    sign_up(client)
    did = Account.objects.get().did
    path = "/" + did.removeprefix("did:web:gateway.example:").replace(":", "/") + "/did.json"
    assert client.get(path).json() == {"@context": ["https://www.w3.org/ns/did/v1"], "id": did}
    assert client.get("/accounts/acc_unknown/did.json").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_signing_up_twice_at_once_makes_one_account() -> None:
    results = at_once(*[lambda: sign_up(Client()).status_code for _ in range(8)])
    assert Account.objects.filter(email="alice@example.com").count() == 1
    assert set(results) <= {200, 303}


def test_forms_have_the_labels_that_people_and_programs_look_for(client: Client) -> None:
    for path, words in (("/account/login/", "Sign in"), ("/account/signup/", "Sign up")):
        page = client.get(path).content.decode()
        assert re.search(r"<label[^>]*>\s*Email\s*</label>", page)
        assert re.search(r"<label[^>]*>\s*Password\s*</label>", page)
        assert page.count('type="submit"') == 1
        assert words in page
    assert 'href="/account/signup/"' in client.get("/account/login/").content.decode()


def test_a_wrong_password_and_an_unknown_address_look_the_same(client: Client) -> None:
    sign_up(client)
    client.logout()
    pages = [
        client.post("/account/login/", {"login": email, "password": "wrong password"}).content.decode()
        for email in ("alice@example.com", "nobody@example.com")
    ]
    problems = [re.findall(r'class="message error".*?</div>', page, re.DOTALL) for page in pages]
    assert problems[0] == problems[1]
    assert problems[0]


def test_no_page_promises_a_mail_that_will_not_come(client: Client, settings: Settings) -> None:
    page = client.get("/account/password/reset/").content
    assert b"not set up to send email" in page
    assert b"<form" not in page, "there is nothing to ask for"
    page = client.post("/account/password/reset/", {"email": "nobody@example.com"}, follow=True).content
    assert b"not set up to send email" in page
    settings.MAIL_IS_CONFIGURED = True
    assert b"Send the link" in client.get("/account/password/reset/").content
    page = client.post("/account/password/reset/", {"email": "nobody@example.com"}, follow=True).content
    assert b"we have sent it an email with a link" in page


def test_the_session_changes_its_key_at_sign_in(client: Client) -> None:
    sign_up(client)
    client.logout()
    client.get("/authorize")
    before = client.session.session_key
    client.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
    assert client.session.session_key != before


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
def test_next_leads_nowhere_else(client: Client, target: str) -> None:
    sign_up(client)
    client.logout()
    form = {"login": "alice@example.com", "password": PASSWORD, "next": target}
    assert client.post("/account/login/", form)["Location"] == "/"


@pytest.mark.parametrize("path", ["/account/login/", "/account/signup/", "/authorize", "/account/password/reset/"])
def test_every_page_has_a_policy_without_inline_script_or_style(client: Client, path: str) -> None:
    response = client.get(path)
    policy = response["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response["X-Frame-Options"] == "DENY"
    page = response.content.decode()
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page)
    scripts = re.findall(r"<script([^>]*)>", page)
    assert all("src=" in script or 'type="application/json"' in script for script in scripts)


def test_forms_need_a_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    assert sign_up(client).status_code == 403
    assert not Account.objects.exists()


def test_production_cookies_are_bound_to_the_host(settings: Settings) -> None:
    text = (settings.BASE_DIR / "gateway/settings/production.py").read_text()
    assert 'SESSION_COOKIE_NAME = "__Host-session"' in text
    assert 'CSRF_COOKIE_NAME = "__Host-csrftoken"' in text


class TestAppearance:
    """Appearance: product and theme, by link, referrer or cookie. It is only cosmetic."""

    @pytest.fixture(autouse=True)
    def products(self, db: None) -> None:
        Product.objects.create(slug="studio", name="Studio")
        Product.objects.create(slug="courier", name="Courier")

    def cookie(self, client: Client) -> str | None:
        morsel = client.cookies.get("service_appearance")
        return morsel.value if morsel else None

    def test_a_link_is_remembered_for_thirty_days(self, client: Client) -> None:
        page = client.get("/account/login/?product=studio&theme=dark")
        assert b'data-theme="dark"' in page.content
        assert b"Studio" in page.content
        morsel = client.cookies["service_appearance"]
        assert (morsel.value, morsel["max-age"], morsel["samesite"]) == ("studio.dark", 30 * 86400, "Lax")
        assert b"Studio" in client.get("/account/login/").content

    @pytest.mark.parametrize("query", ["product=evil", "theme=blue", "product=<script>", "product=studio%00", ""])
    def test_unlisted_values_are_ignored(self, client: Client, query: str) -> None:
        page = client.get(f"/account/login/?{query}")
        assert self.cookie(client) is None
        assert b"data-theme" not in page.content

    def test_an_operators_list_wins_over_the_catalogue(self, client: Client) -> None:
        AppearanceProduct.objects.create(slug="courier")
        client.get("/account/login/?product=studio")
        assert self.cookie(client) is None
        client.get("/account/login/?product=courier")
        assert self.cookie(client) == "courier."

    def test_a_recognized_referrer_stands_in(self, client: Client) -> None:
        client.get("/account/login/", headers={"Referer": "https://studio.service.example/page"})
        assert self.cookie(client) == "studio."
        client.get("/account/login/?product=courier", headers={"Referer": "https://studio.service.example/"})
        assert self.cookie(client) == "courier."

    @pytest.mark.parametrize(
        "referrer", ["https://evil.example/studio", "studio", "https://[", "https://xstudio.example"]
    )
    def test_other_referrers_do_not(self, client: Client, referrer: str) -> None:
        client.get("/account/login/", headers={"Referer": referrer})
        assert self.cookie(client) is None

    def test_a_forged_cookie_says_nothing(self, client: Client) -> None:
        client.cookies["service_appearance"] = '"><script>.dark'
        page = client.get("/account/login/").content
        assert b"<script>.dark" not in page
        assert b'data-theme="dark"' in page

    def test_the_cookie_goes_to_the_services_subdomains(self, client: Client, settings: Settings) -> None:
        settings.APPEARANCE_COOKIE_DOMAIN = ".service.example"
        client.get("/account/login/?theme=light")
        assert client.cookies["service_appearance"]["domain"] == ".service.example"


class TestDevices:
    """Listing devices and signing one out."""

    def test_lists_and_revokes_ones_own(self, client: Client) -> None:
        sign_up(client)
        device = device_of(Account.objects.get())
        page = client.get("/apps").content.decode()
        assert "Laptop" in page
        assert "https://app.example" in page
        response = client.post(f"/devices/{device.pk}/revoke")
        assert (response.status_code, response["Location"]) == (303, "/apps")
        device.refresh_from_db()
        assert device.revoked_at is not None
        assert "Laptop" not in client.get("/apps").content.decode()

    def test_anothers_are_neither_seen_nor_ended(self, client: Client) -> None:
        device = device_of(make_account("bob"), "Bobs phone")
        sign_up(client)
        assert "Bobs phone" not in client.get("/apps").content.decode()
        client.post(f"/devices/{device.pk}/revoke")
        device.refresh_from_db()
        assert device.revoked_at is None

    def test_a_changed_password_ends_them(self, client: Client) -> None:
        sign_up(client)
        device = device_of(Account.objects.get())
        form = {"oldpassword": PASSWORD, "password1": "another horse battery", "password2": "another horse battery"}
        assert client.post("/account/password/change/", form).status_code == 303
        device.refresh_from_db()
        assert device.revoked_at is not None

    def test_strangers_sign_in_first(self, client: Client) -> None:
        for path in ("/", "/apps", "/developers", "/authorize/areq_1"):
            response = client.get(path)
            assert response.status_code == 302
            assert response["Location"].startswith("/account/login/?next=")


class TestConfirmingAgain:
    """Pages that require reauthentication."""

    def test_a_new_person_is_not_asked_for_the_password_again(self, client: Client) -> None:
        sign_up(client)
        assert client.get("/account/2fa/webauthn/add/").status_code == 200

    def test_later_it_is_required(self, client: Client, settings: Settings) -> None:
        settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
        sign_up(client)
        assert client.get("/account/2fa/webauthn/add/")["Location"].startswith("/account/reauthenticate/")

    def test_a_sign_up_counts_only_for_its_own_account(self, client: Client) -> None:
        sign_up(client)
        other = Client()
        sign_up(other, email="bob@example.com")
        other.logout()
        other.post("/account/login/", {"login": "alice@example.com", "password": PASSWORD})
        assert other.get("/account/2fa/webauthn/add/")["Location"].startswith("/account/reauthenticate/")


def test_the_password_form_is_in_sentence_case(client: Client) -> None:
    sign_up(client)
    page = client.get("/account/password/change/").content.decode()
    labels = re.findall(r"<label[^>]*>(.*?)</label>", page)
    assert labels == ["Current password", "New password", "New password (again)"]
    assert re.findall(r'placeholder="(.*?)"', page) == labels
    form = {"oldpassword": "wrong", "password1": "battery horse correct", "password2": "battery horse correct"}
    refused = client.post("/account/password/change/", form).content.decode()
    assert "Your current password is not correct." in refused
    changed = client.post("/account/password/change/", {**form, "oldpassword": PASSWORD}, follow=True)
    assert "Your password was changed." in changed.content.decode()


def test_the_page_of_a_reset_link_is_in_sentence_case(client: Client, settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True
    sign_up(client)
    client.logout()
    client.post("/account/password/reset/", {"email": "alice@example.com"})
    [link] = re.findall(r"https://gateway\.example(/account/\S+)", str(mail.outbox[-1].body))
    arrived = client.get(link, follow=True)
    page = arrived.content.decode()
    assert "<h1>Set a new password</h1>" in page
    assert re.findall(r"<label[^>]*>(.*?)</label>", page) == ["New password", "New password (again)"]
    form = {"password1": "battery horse correct", "password2": "battery horse correct"}
    done = client.post(arrived.redirect_chain[-1][0], form, follow=True)
    assert "<h1>Password changed</h1>" in done.content.decode()
    assert "<h1>This link does not work</h1>" in Client().get(link).content.decode()
