"""Learns a client's address and scheme from the proxies in front, and from nobody else."""

from collections.abc import Sequence
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware


def behind(proxies: Sequence[str], application: Any) -> Any:
    """Return the application as it is seen through these networks' proxies (`X-Forwarded-For`, `X-Forwarded-Proto`).

    Everything behind it, Django, its pages and the sign-in limits, sees one client address. Without proxies the headers
    are a client's own words and are left alone.
    """
    return ProxyHeadersMiddleware(application, list(proxies)) if proxies else application
