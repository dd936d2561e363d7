"""A gateway process with production settings: hosts, health check, proxies and mail."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet
from django.conf import settings

from accounts.models import CacheEntry
from tests.factories.accounts import make_account
from tests.support import plain_http
from tests.support.processes import gateway_process

pytestmark = pytest.mark.django_db(transaction=True)

ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "gateway.settings",
    "GATEWAY_ENV": "production",
    "SECRET_KEY": "a-secret-key-of-more-than-thirty-two-characters",
    # The second is the tests' own, with which the signing keys are encrypted.
    "FIELD_ENCRYPTION_KEYS": f"{Fernet.generate_key().decode()},{settings.FIELD_ENCRYPTION_KEYS[0]}",
    "GATEWAY_BASE_URL": "https://gateway.service.example",
    "PORTAL_URL": "https://accounts.service.example",
    "ALLOWED_HOSTS": "",
}
ARGUMENTS = ("gateway.asgi:application", "--port={port}", "--no-proxy-headers", "--log-level=critical")
RESET = "/account/password/reset/"
PORTAL = "accounts.service.example"
ADDRESS = "alice@service.example"


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mails")


@pytest.fixture(scope="module")
def origin(django_db_setup: None, mails: Path) -> Iterator[str]:
    more = {"EMAIL_URL": f"filemail:///{mails}", "TRUSTED_PROXIES": "127.0.0.1, 10.9.0.0/16"}
    with gateway_process("uvicorn", ARGUMENTS, **ENVIRONMENT, **more) as (origin, _):
        yield origin


def page(origin: str, path: str, host: str = PORTAL, **headers: str) -> httpx.Response:
    sent = {"Host": host, "X-Forwarded-Proto": "https", **headers}
    return plain_http.request("GET", f"{origin}{path}", headers=sent)


def submit(origin: str, path: str, form: dict[str, str], host: str = PORTAL, **headers: str) -> httpx.Response:
    """Send a form as a browser does, through a proxy that ends TLS."""
    opened = page(origin, path)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', opened.text)
    assert token is not None, opened.text
    about = {
        "Host": host,
        "Origin": f"https://{PORTAL}",
        "X-Forwarded-Proto": "https",
        "Cookie": opened.headers["Set-Cookie"].partition(";")[0],
        **headers,
    }
    return plain_http.request("POST", f"{origin}{path}", data={**form, "csrfmiddlewaretoken": token[1]}, headers=about)


def test_a_reset_for_another_host_is_refused_and_mails_nothing(origin: str, mails: Path) -> None:
    make_account(email=ADDRESS, password="correct horse battery")
    assert submit(origin, RESET, {"email": ADDRESS}, host="evil.example").status_code == 400
    assert list(mails.iterdir()) == []
    assert submit(origin, RESET, {"email": ADDRESS}).status_code == 303
    [mailed] = [file.read_text() for file in mails.iterdir()]
    assert f"https://{PORTAL}/account/password/reset/key/" in mailed
    assert "evil.example" not in mailed


@pytest.mark.parametrize(
    ("host", "status"),
    [(PORTAL, 200), ("gateway.service.example", 200), ("evil.example", 400), ("sub.accounts.service.example", 400)],
)
def test_pages_are_served_for_the_hosts_of_the_public_addresses(origin: str, host: str, status: int) -> None:
    assert page(origin, "/account/login/", host).status_code == status


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "10.1.2.3", PORTAL, "evil.example"])
def test_health_is_served_for_any_host(origin: str, host: str) -> None:
    assert plain_http.request("GET", f"{origin}/healthz", headers={"Host": host}).json() == {"status": "ok"}


def test_a_trusted_proxy_names_the_client_and_the_scheme(origin: str) -> None:
    assert "Strict-Transport-Security" in page(origin, "/account/login/").headers
    for client in ("203.0.113.1", "198.51.100.9, 203.0.113.1", "203.0.113.1, 10.9.4.4"):
        submit(origin, "/account/login/", {"login": ADDRESS, "password": "x"}, **{"X-Forwarded-For": client})
    assert CacheEntry.objects.filter(key__contains=":login_address:").count() == 1, (
        "one client, identified in three ways"
    )
    assert CacheEntry.objects.filter(key__contains=":login_address:", key__endswith=":203.0.113.1").exists()
    assert not CacheEntry.objects.filter(key__contains="198.51.100.9").exists()


def test_without_trusted_proxies_the_headers_are_the_clients_own_words(mails: Path) -> None:
    with gateway_process("uvicorn", ARGUMENTS, **ENVIRONMENT, EMAIL_URL=f"filemail:///{mails}") as (origin, _):
        answer = submit(
            origin, "/account/login/", {"login": "x@y.example", "password": "x"}, **{"X-Forwarded-For": "1.2.3.4"}
        )
        assert answer.status_code == 200, "a form works although its scheme is not known"
        assert "Strict-Transport-Security" not in answer.headers
    assert not CacheEntry.objects.filter(key__contains="1.2.3.4").exists()
    assert CacheEntry.objects.filter(key__contains=":login_address:", key__endswith=":127.0.0.1").exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS must name hosts in production"),
        ({"ALLOWED_HOSTS": "a.example,*"}, "ALLOWED_HOSTS must name hosts in production"),
        ({"GATEWAY_BASE_URL": "http://gateway.example"}, "Set GATEWAY_BASE_URL to the public https:// address."),
        ({"PORTAL_URL": "http://accounts.example"}, "Set PORTAL_URL to the public https:// address."),
        ({"PORTAL_URL": "https://"}, "Set PORTAL_URL to the public https:// address."),
        ({"TRUSTED_PROXIES": "10.0.0.0/8,proxy"}, "TRUSTED_PROXIES must list addresses or networks"),
        ({"TRUSTED_PROXIES": "0.0.0.0/0"}, "TRUSTED_PROXIES must not cover every address"),
    ],
)
def test_does_not_start_with_settings_that_let_strangers_choose(changed: dict[str, str], words: str) -> None:
    command = [sys.executable, "manage.py", "check"]
    result = subprocess.run(command, env={**os.environ, **ENVIRONMENT, **changed}, capture_output=True, text=True)
    assert result.returncode != 0
    assert words in result.stderr


def test_named_hosts_come_besides_the_public_ones() -> None:
    settings = {**os.environ, **ENVIRONMENT, "ALLOWED_HOSTS": "internal.example,.service.example"}
    read = "from django.conf import settings; print(settings.ALLOWED_HOSTS)"
    result = subprocess.run([sys.executable, "-c", read], env=settings, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(
        ["internal.example", ".service.example", "gateway.service.example", "accounts.service.example"]
    )


def test_says_at_the_start_that_no_proxy_is_trusted() -> None:
    result = subprocess.run(
        [sys.executable, "manage.py", "check"], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True
    )
    assert result.returncode == 0
    assert "TRUSTED_PROXIES is empty" in result.stderr
