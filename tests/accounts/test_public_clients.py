"""Public clients: accepted ids and redirect URIs, and tables of malicious ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules.public_clients import (
    ClientError,
    check_loopback_redirect,
    check_origin,
    check_redirect,
    check_registered_redirect,
    registration_fault,
)

APP = "https://app.example"

GOOD_ORIGINS = [
    APP,
    "https://app.example:8443",
    "https://xn--bcher-kva.example",
    "https://192.0.2.7",
    "https://[2001:db8::1]:444",
    "http://127.0.0.1",
    "http://127.0.0.1:5173",
    "http://[::1]:5173",
    "http://localhost:3000",
]

BAD_ORIGINS = {
    "empty": "",
    "slash at the end": "https://app.example/",
    "path": "https://app.example/app",
    "query": "https://app.example?x=1",
    "fragment": "https://app.example#x",
    "user information": "https://user@app.example",
    "password": "https://a:b@app.example",
    "plain http": "http://app.example",
    "loopback in name only": "http://localhost.evil.example",
    "another loopback address": "http://127.0.0.2",
    "short loopback": "http://127.1",
    "decimal address": "https://2130706433",
    "octal address": "https://0300.0.2.7",
    "default port": "https://app.example:443",
    "port 0": "https://app.example:0",
    "port too large": "https://app.example:65536",
    "empty port": "https://app.example:",
    "padded port": "https://app.example:08443",
    "upper case": "https://App.example",
    "upper case scheme": "HTTPS://app.example",
    "trailing dot": "https://app.example.",
    "empty label": "https://app..example",
    "leading hyphen": "https://-app.example",
    "underscore": "https://app_1.example",
    "percent": "https://app%2eexample",
    "unicode": "https://bücher.example",
    "full width dot": "https://app。example",
    "space": "https://app.example ",
    "line break": "https://app.example\n",
    "tab": "https://app\t.example",
    "nul": "https://app.example\x00",
    "backslash": "https://app.example\\evil.example",
    "no scheme": "//app.example",
    "other scheme": "ftp://app.example",
    "javascript": "javascript://app.example",
    "wildcard": "https://*.example",
    "long IPv6": "https://[2001:0db8::1]",
    "zone": "https://[fe80::1%25eth0]",
    "null origin": "null",
    "long": "https://" + "a" * 250 + ".example",
}

BAD_REDIRECTS = {
    "another origin": "https://evil.example/cb",
    "prefix of a name": "https://app.example.evil.example/cb",
    "user information": "https://app.example@evil.example/cb",
    "port added": "https://app.example:8443/cb",
    "default port spelled": "https://app.example:443/cb",
    "scheme lowered": "http://app.example/cb",
    "fragment": "https://app.example/cb#x",
    "empty fragment": "https://app.example/cb#",
    "relative": "/cb",
    "backslash": "https://app.example\\@evil.example/cb",
    "backslash in path": "https://app.example/\\evil.example",
    "space": "https://app.example/c b",
    "line break": "https://app.example/cb\r\nSet-Cookie: a=b",
    "tab": "https://app.example/\tcb",
    "unicode": "https://app.example/ü",
    "stray percent": "https://app.example/%zz",
    "upper case": "https://APP.example/cb",
    "long": APP + "/" + "a" * 2048,
    "empty": "",
    "javascript": "javascript:alert(1)//https://app.example/cb",
    "data": "data:text/html,https://app.example",
}


@pytest.mark.parametrize("client_id", GOOD_ORIGINS)
def test_takes_an_origin(client_id: str) -> None:
    assert check_origin(client_id) == client_id


@pytest.mark.parametrize("client_id", BAD_ORIGINS.values(), ids=BAD_ORIGINS.keys())
def test_refuses_ids_that_are_not_origins(client_id: str) -> None:
    with pytest.raises(ClientError):
        check_origin(client_id)


@pytest.mark.parametrize("rest", ["", "/", "/cb", "/cb?x=1&y=%2F", "?x=1", "/a/../b", "//evil.example/"])
def test_takes_redirects_of_the_same_origin(rest: str) -> None:
    assert check_redirect(APP + rest, APP) == APP + rest


@pytest.mark.parametrize("redirect_uri", BAD_REDIRECTS.values(), ids=BAD_REDIRECTS.keys())
def test_refuses_other_redirects(redirect_uri: str) -> None:
    with pytest.raises(ClientError):
        check_redirect(redirect_uri, APP)


def test_a_registered_client_has_exactly_its_redirects() -> None:
    registered = ["com.example.app:/callback"]
    assert check_registered_redirect(registered[0], registered) == registered[0]
    for other in ("com.example.app:/callback/", "com.example.app:/Callback", "com.example.app:/callback?x=1"):
        with pytest.raises(ClientError):
            check_registered_redirect(other, registered)


GOOD_LOOPBACKS = ["http://127.0.0.1:1/", "http://127.0.0.1:65535/callback", "http://[::1]:8080/a/b-c_d.e~f/"]

BAD_LOOPBACKS = {
    "https": "https://127.0.0.1:8080/cb",
    "an app's scheme": "agw://127.0.0.1:8080/cb",
    "upper case scheme": "HTTP://127.0.0.1:8080/cb",
    "name": "http://localhost:8080/cb",
    "name under loopback": "http://127.0.0.1.evil.example:8080/cb",
    "another loopback address": "http://127.0.0.2:8080/cb",
    "short loopback": "http://127.1:8080/cb",
    "decimal loopback": "http://2130706433:8080/cb",
    "long IPv6": "http://[0:0:0:0:0:0:0:1]:8080/cb",
    "mapped IPv4": "http://[::ffff:127.0.0.1]:8080/cb",
    "zone": "http://[::1%25lo]:8080/cb",
    "elsewhere": "http://evil.example:8080/cb",
    "user information": "http://127.0.0.1:8080@evil.example/cb",
    "user on loopback": "http://user@127.0.0.1:8080/cb",
    "no port": "http://127.0.0.1/cb",
    "empty port": "http://127.0.0.1:/cb",
    "port 0": "http://127.0.0.1:0/cb",
    "padded port": "http://127.0.0.1:08080/cb",
    "port too large": "http://127.0.0.1:65536/cb",
    "port far too large": "http://127.0.0.1:99999/cb",
    "digits of another script": "http://127.0.0.1:٨٠٨٠/cb",
    "no path": "http://127.0.0.1:8080",
    "query": "http://127.0.0.1:8080/cb?next=//evil.example",
    "fragment": "http://127.0.0.1:8080/cb#x",
    "parent": "http://127.0.0.1:8080/cb/../admin",
    "parent at the end": "http://127.0.0.1:8080/cb/..",
    "same folder": "http://127.0.0.1:8080/./cb",
    "encoded parent": "http://127.0.0.1:8080/%2e%2e/admin",
    "backslash": "http://127.0.0.1:8080\\@evil.example/cb",
    "space": "http://127.0.0.1:8080/c b",
    "line break": "http://127.0.0.1:8080/cb\r\nSet-Cookie: a=b",
    "line break at the end": "http://127.0.0.1:8080/cb\n",
    "markup": "http://127.0.0.1:8080/<script>",
    "long": "http://127.0.0.1:8080/" + "a" * 2048,
    "empty": "",
}


@pytest.mark.parametrize("redirect_uri", GOOD_LOOPBACKS)
def test_the_command_line_redirects_to_any_port_of_loopback(redirect_uri: str) -> None:
    assert check_loopback_redirect(redirect_uri) == redirect_uri


@pytest.mark.parametrize("redirect_uri", BAD_LOOPBACKS.values(), ids=BAD_LOOPBACKS.keys())
def test_the_command_line_redirects_nowhere_else(redirect_uri: str) -> None:
    with pytest.raises(ClientError):
        check_loopback_redirect(redirect_uri)


def test_an_operator_can_only_disable_what_is_built_in() -> None:
    assert registration_fault("agw", [], trusted=False) is None
    assert "built in" in str(registration_fault("agw", [], trusted=True))
    assert "built in" in str(registration_fault("agw", ["http://127.0.0.1:8080/cb"], trusted=False))


@given(st.text(max_size=80))
def test_any_text_is_an_origin_or_refused(text: str) -> None:
    try:
        origin = check_origin(text)
    except ClientError:
        return
    assert check_redirect(origin + "/cb", origin)
