"""Descriptions of browsers by their User-Agent headers."""

import pytest

from accounts.rules.user_agents import browser_name

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/126.0 Safari/537.36", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/126.0 Safari/537.36", "Chrome on ChromeOS"),
        (f"Mozilla/5.0 (Linux; Android 14) {WEBKIT} Chrome/126.0 Mobile Safari/537.36", "Chrome on Android"),
        (
            f"Mozilla/5.0 (Linux; Android 14) {WEBKIT} SamsungBrowser/25.0 Chrome/121.0 Mobile Safari/537.36",
            "Samsung Internet on Android",
        ),
        (
            f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) {WEBKIT} Chrome/126.0 Safari/537.36 OPR/112.0",
            "Opera on macOS",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1 Version/17.5 Safari/605.1",
            "Safari on macOS",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 CriOS/126.0 Mobile Safari/604.1",
            "Chrome on iPhone",
        ),
        ("Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1 FxiOS/127.0 Safari/605.1", "Firefox on iPad"),
        ("Something/1.0 (Linux)", "Unknown browser on Linux"),
        ("curl/8.5.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_named_with_its_system(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name


@pytest.mark.parametrize("user_agent", ["\x00", "<script>alert(1)</script>", "Firefox/" * 1000])
def test_nothing_of_the_header_is_repeated(user_agent: str) -> None:
    assert browser_name(user_agent) in ("Unknown browser", "Firefox")
