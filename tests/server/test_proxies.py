"""Who a client is when proxies are in front: what they say, and nothing of what it says itself."""

from typing import Any

import pytest

from gateway.core.http.server.proxies import trust_proxies

PROXY, PEER = "10.9.0.1", "203.0.113.9"
TRUSTED = ["10.9.0.0/16", "2001:db8:9::/48"]
CLIENT = "198.51.100.7"


async def seen(peer: str, *headers: tuple[str, str], proxies: list[str] = TRUSTED) -> tuple[str, str]:
    """Return the address and the scheme that the application sees."""
    scope_seen: dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        scope_seen.update(scope)

    sent = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "client": (peer, 1234), "scheme": "http", "headers": sent}
    await trust_proxies(proxies, application)(scope, None, None)
    return scope_seen["client"][0], scope_seen["scheme"]


FORWARDED = [
    ("X-Forwarded-For", CLIENT),
    ("X-Forwarded-Proto", "https"),
    ("Forwarded", f"for={CLIENT};proto=https;host=evil.example"),
    ("X-Real-IP", CLIENT),
    ("X-Client-IP", CLIENT),
    ("True-Client-IP", CLIENT),
    ("CF-Connecting-IP", CLIENT),
    ("X-Forwarded-Ssl", "on"),
    ("X-Forwarded-Scheme", "https"),
    ("Front-End-Https", "on"),
]


@pytest.mark.parametrize(("peer", "proxies"), [(PEER, TRUSTED), (PROXY, []), ("127.0.0.1", []), ("::1", TRUSTED)])
async def test_a_stranger_says_nothing(peer: str, proxies: list[str]) -> None:
    assert await seen(peer, *FORWARDED, proxies=proxies) == (peer, "http")


async def test_a_proxy_says_who_and_how_only_in_its_two_headers() -> None:
    assert await seen(PROXY, *FORWARDED[:2]) == (CLIENT, "https")
    assert await seen(PROXY, *FORWARDED[2:]) == (PROXY, "http")


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        ([CLIENT], CLIENT),
        ([f"1.1.1.1, {CLIENT}"], CLIENT),
        ([f"10.9.4.4, {CLIENT}"], CLIENT),
        ([f"{CLIENT}, 10.9.4.4, 10.9.5.5"], CLIENT),
        (["1.1.1.1", CLIENT], CLIENT),
        (["1.1.1.1", f"2.2.2.2,{CLIENT}", "10.9.4.4"], CLIENT),
        ([f"{CLIENT}:4711"], CLIENT),
        ([f"::ffff:{CLIENT}"], CLIENT),
        ([f"[::ffff:{CLIENT}]:4711, ::ffff:10.9.4.4"], CLIENT),
        (["2001:DB8:1:0::7"], "2001:db8:1::7"),
        (["[2001:db8:1::7]:4711, 2001:db8:9::1"], "2001:db8:1::7"),
        (["fe80::1%eth0"], "fe80::1"),
        (["10.9.4.4"], "10.9.4.4"),
        *(
            ([odd], PROXY)
            for odd in ("", ",", "unknown", "_hidden", "evil.example", "1.1.1.1 2.2.2.2", "1.1.1", "x" * 9000)
        ),
        *(([f"{CLIENT}, {odd}"], PROXY) for odd in ("", "unknown", "\xff", "[", "[::1", "1.1.1.1;", "0x7f.1")),
        (["1.1.1.1," * 3000 + CLIENT], CLIENT),
        (["10.9.4.4," * 3000], PROXY),
    ],
)
async def test_the_client_is_the_last_address_that_is_no_proxys(chain: list[str], client: str) -> None:
    assert (await seen(PROXY, *(("X-Forwarded-For", value) for value in chain)))[0] == client


@pytest.mark.parametrize("peer", ["::ffff:10.9.0.1", "2001:db8:9::1"])
async def test_a_proxy_is_known_in_any_form(peer: str) -> None:
    assert await seen(peer, *FORWARDED[:2]) == (CLIENT, "https")


@pytest.mark.parametrize("scheme", ["", "ftp", "https,http", "HTTPS", "javascript", "https\x00"])
async def test_a_scheme_is_one_of_two_words(scheme: str) -> None:
    assert (await seen(PROXY, ("X-Forwarded-Proto", scheme)))[1] == "http"
