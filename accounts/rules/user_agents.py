"""What a browser calls itself, in words. The header is a guess (RFC 9110 section 10.1.5), so it names and decides nothing."""

# A product token and its name, what imitates others first: nearly every browser also names Chrome and Safari.
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


def named(user_agent: str) -> str:
    """Return a name such as "Firefox on Linux"; "Unknown browser" for what is not in the tables."""
    browser = _first(BROWSERS, user_agent) or UNKNOWN
    system = _first(SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for token, name in table if token in user_agent), "")
