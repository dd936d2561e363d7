"""A client for servers on this machine, which speak plain HTTP."""

import ssl
from typing import Any

import httpx

NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody. A context that trusts the system's certificate authorities takes 20 ms to load, for each client anew."""


def client(**options: Any) -> httpx.Client:
    """Return a client; HTTPS fails, and a proxy that the environment names is not looked for."""
    return httpx.Client(verify=NO_AUTHORITIES, trust_env=False, **options)


def request(method: str, url: str, *, timeout: float = 60, **options: Any) -> httpx.Response:
    """Send one request, and hang up."""
    with client(timeout=timeout) as once:
        return once.request(method, url, **options)
