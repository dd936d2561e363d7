"""Describes a browser by its User-Agent header, for display only: the header is not reliable (RFC 9110 section
10.1.5).
"""

# Product tokens and names. The order matters, because nearly all browsers also name Chrome and Safari.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("YaBrowser/", "Yandex Browser"),
    ("Vivaldi/", "Vivaldi"),
    ("DuckDuckGo/", "DuckDuckGo"),
    ("Ddg/", "DuckDuckGo"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("Trident/", "Internet Explorer"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
UNKNOWN = "Unknown browser"


def browser_name(user_agent: str) -> str:
    """Return a name such as "Firefox on Linux", or "Unknown browser" if the tables have no match."""
    browser = _first(BROWSERS, user_agent) or UNKNOWN
    system = _first(SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for token, name in table if token in user_agent), "")
