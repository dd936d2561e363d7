"""Makes the links of mails, which lead to the portal alone."""

from django.conf import settings


def portal_url(path: str) -> str:
    """Return the address of a page at `PORTAL_URL`. Raises ValueError for what is no path."""
    if not path.startswith("/") or path.startswith("//") or "\\" in path:
        raise ValueError(f"a mail links only to the portal, not to {path!r}")
    return f"{settings.PORTAL_URL}{path}"
