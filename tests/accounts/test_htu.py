"""Normalization and comparison of target URIs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules import htu

BASE = "https://gateway.example"
ACCOUNT = "https://gateway.example/v1/account"


@pytest.mark.parametrize(
    "sent",
    [
        ACCOUNT,
        "HTTPS://gateway.example/v1/account",
        "https://GATEWAY.Example/v1/account",
        "https://gateway.example:443/v1/account",
        "https://gateway.example:/v1/account",
        "https://gateway.example:0443/v1/account",
        "https://gateway.example/v1/account?limit=5",
        "https://gateway.example/v1/account#top",
        "https://gateway.example/v1/account?a=b#c?d",
        "https://gateway.example/v1/%61ccount",
        "https://gateway.example/v1/./account",
        "https://gateway.example/v1/models/../account",
        "https://gateway.example/v1/models/%2e%2E/account",
        "https://gateway.example/../v1/account",
    ],
)
def test_spellings_of_one_target_are_one(sent: str) -> None:
    assert htu.matches(sent, htu.target(BASE, "/v1/account"))


@pytest.mark.parametrize(
    "sent",
    [
        "http://gateway.example/v1/account",
        "https://gateway.example/v1/account/",
        "https://gateway.example/v1//account",
        "https://gateway.example//v1/account",
        "https://gateway.example/V1/account",
        "https://gateway.example/v1/accounts",
        "https://gateway.example/v1",
        "https://gateway.example",
        "https://gateway.example:8443/v1/account",
        "https://gateway.example:80/v1/account",
        "https://gateway.example.evil/v1/account",
        "https://gateway.example./v1/account",
        "https://evil@gateway.example/v1/account",
        "https://gateway.example@evil/v1/account",
        "https://gateway.example:443@evil/v1/account",
        "https://gateway.example%2fv1/account",
        "https://gateway.example/v1%2Faccount",
        "https://gateway.example/v1/account%00",
        "https://gateway.example/v1/account%",
        "https://gateway.example/v1/account%2",
        "https://gateway.example/v1/account;a=b",
        "https://gateway.example\\v1\\account",
        "https:\\\\gateway.example/v1/account",
        "https:/gateway.example/v1/account",
        "https:gateway.example/v1/account",
        "//gateway.example/v1/account",
        "/v1/account",
        "v1/account",
        "",
        " https://gateway.example/v1/account",
        "https://gateway.example/v1/account ",
        "https://gateway.example/v1/account\n",
        "https://gateway.example/v1/acc\tount",
        "https://gateway.example/v1/acc\x00ount",
        "https://gatew\u0430y.example/v1/account",
        "https://gateway.example/v1/account\u2028",
        "javascript:alert(1)",
        "wss://gateway.example/v1/account",
        "file:///v1/account",
        "https:///v1/account",
        "https://:443/v1/account",
        "https://gateway.example:99999/v1/account",
        "https://gateway.example:0/v1/account",
        "https://gateway.example:-1/v1/account",
        "https://gateway.example:443:443/v1/account",
        "https://gateway.example:\uff14\uff14\uff13/v1/account",
        "https://[::1/v1/account",
        "https://[]/v1/account",
        "https://gateway.example/" + "a/../" * 4000 + "v1/account",
    ],
)
def test_other_targets_and_hostile_texts_do_not_match(sent: str) -> None:
    assert not htu.matches(sent, htu.target(BASE, "/v1/account"))


@pytest.mark.parametrize("sent", [None, 1, True, 1.5, [ACCOUNT], {"uri": ACCOUNT}])
def test_values_other_than_text_do_not_match(sent: object) -> None:
    assert not htu.matches(sent, ACCOUNT)


def test_the_raw_path_decides_not_the_decoded_one() -> None:
    escaped = htu.target(BASE, "/v1/models/vendor%2Flarge")
    assert htu.matches("https://gateway.example/v1/models/vendor%2flarge", escaped)
    assert not htu.matches("https://gateway.example/v1/models/vendor/large", escaped)


def test_the_query_of_the_request_does_not_count() -> None:
    assert htu.target(BASE, "/v1/usage?limit=5") == "https://gateway.example/v1/usage"


def test_a_base_url_with_a_path_and_a_port_counts_whole() -> None:
    target = htu.target("http://127.0.0.1:8000/gateway", "/v1/account")
    assert htu.matches("http://127.0.0.1:8000/gateway/v1/account", target)
    assert not htu.matches("http://127.0.0.1:8000/v1/account", target)
    assert not htu.matches("http://127.0.0.1/gateway/v1/account", target)


def test_an_ipv6_host_minds_no_case() -> None:
    assert htu.matches("http://[::FFFF]:80/a", htu.target("http://[::ffff]", "/a"))


@pytest.mark.parametrize("raw_path", ["/v1/\x00", "/v1/%", "/v1/%zz", "/v1/é", "/v1/a b", "/v1/\\", "@evil/", ":80/"])
def test_a_path_that_no_url_can_have_is_refused(raw_path: str) -> None:
    with pytest.raises(ValueError):
        htu.target(BASE + ":1", raw_path)


def test_normalizing_twice_changes_nothing() -> None:
    once = htu.normalize("HTTPS://Gateway.Example:443/a/./b/../%7e/%2f/%c3%a9?q#f")
    assert once == "https://gateway.example/a/~/%2F/%C3%A9"
    assert htu.normalize(once) == once


@given(st.text(max_size=100))
def test_any_text_is_no_target(text: str) -> None:
    assert not htu.matches(text, ACCOUNT)


@given(st.text("/.%2eE5cfFa~-_", max_size=40))
def test_any_path_normalizes_to_a_fixed_point_or_is_refused(path: str) -> None:
    try:
        once = htu.normalize(BASE + "/" + path)
    except ValueError:
        return
    assert htu.normalize(once) == once
    assert "/../" not in once
    assert "/./" not in once


def test_the_cache_of_foreign_uris_is_bounded_in_bytes() -> None:
    for number in range(3000):
        htu.normalize(f"https://gateway.example/{'a' * (number % 8000)}{number}")
    assert 0 < htu._known.size_bytes <= htu.REMEMBERED_MAX_BYTES
    expected = "https://gateway.example/known"
    assert htu.normalize(expected) == htu.normalize(expected) == expected
