"""Which addresses and URLs a stranger may have the gateway connect to."""

import pytest

from gateway.core.outbound.public_addresses import is_public, is_public_https


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2606:4700::1%eth0",
        "localhost",
        "127.1",
        "0x7f.1",
        "2130706433",
        "",
    ],
)
def test_what_is_not_of_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_what_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://[::ffff:127.0.0.1]/a.png",
        "https://[::ffff:7f00:1]/a.png",
        "https://[::1]/a.png",
        "https://[fe80::1%25eth0]/a.png",
        "https://0x7f.1/a.png",
        "https://2130706433/a.png",
        "https://017700000001/a.png",
        "https://0/a.png",
        "https://images.localhost/a.png",
        "https://images.example:0/a.png",
        "https://images.example:99999/a.png",
        "https://user:password@images.example/a.png",
        "https://images.example\t/a.png",
    ],
)
def test_a_url_that_does_not_look_public(url: str) -> None:
    assert not is_public_https(url)


@pytest.mark.parametrize(
    "url", ["https://images.example/a.png", "https://8.8.8.8:8443/", "https://[2606:4700::1111]/a"]
)
def test_a_url_that_does(url: str) -> None:
    assert is_public_https(url)
