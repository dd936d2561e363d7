"""Stops aiohttp's session from repeating requests by itself."""

import aiohttp


def send_once(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
    """Return the session, which from now on sends each request once.

    aiohttp sends a GET a second time if the connection is lost before the response, even on a new connection. Whether a call is
    repeated is for the gateway to decide. The attribute is aiohttp's own and has no public name; a test counts requests.
    """
    session._retry_connection = False  # noqa: SLF001
    return session
