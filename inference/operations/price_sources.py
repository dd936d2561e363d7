"""Reads a catalogue of prices from a file or an address."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from gateway.core.outbound.public_addresses import is_public_https
from gateway.core.outbound.public_fetch import FetchError, PublicFetcher
from inference.rules.price_catalogues.forms import Catalogue, read_catalogue
from inference.rules.price_catalogues.numbers import CATALOGUE_MAX_BYTES, CatalogueError

FETCH_SECONDS = 30.0
LOOPBACK = "127.0.0.1"

FETCHER = PublicFetcher(seconds=FETCH_SECONDS)
LOOPBACK_FETCHER = PublicFetcher(seconds=FETCH_SECONDS, allowed=lambda address: address == LOOPBACK)


def is_address(source: str) -> bool:
    """Return whether a source is an address rather than a file."""
    return "://" in source


def read(source: str, form: str | None = None) -> Catalogue:
    """Read a catalogue, in this form or in the one that it is recognized by. Raises CatalogueError, whose message is one line."""
    return read_catalogue(_fetch(source) if is_address(source) else _read(Path(source)), form)


def name_of(source: str) -> str:
    """Name a source in records: a file by its name, an address without user and query, which may be credentials."""
    if not is_address(source):
        return Path(source).name
    try:
        parts = urlsplit(source)
    except ValueError:
        return "the address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def host_of(source: str) -> str:
    """Return the host of an address, empty for a file."""
    return urlsplit(source).hostname or "" if is_address(source) else ""


def _fetch(url: str) -> bytes:
    fetcher = LOOPBACK_FETCHER if _is_local(url) else FETCHER
    if fetcher is FETCHER and not is_public_https(url):
        raise CatalogueError("an address must be https, without credentials, and of a public host")
    try:
        return asyncio.run(fetcher.fetch(url, max_bytes=CATALOGUE_MAX_BYTES, accept="application/json"))
    except FetchError as error:
        raise CatalogueError(str(error)) from error


def _is_local(url: str) -> bool:
    """Return whether an address is one of this machine, which only development may use."""
    try:
        parts = urlsplit(url)
        host, user = parts.hostname, parts.username
    except ValueError:
        return False
    return settings.DEMO_ADAPTER and (parts.scheme, host, user) == ("http", LOOPBACK, None)


def _read(file: Path) -> bytes:
    """Read at most one byte beyond the limit, so that a device or an endless pipe does not fill memory."""
    try:
        with file.open("rb") as stream:
            return stream.read(CATALOGUE_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CatalogueError(getattr(error, "strerror", None) or "it is no file's name") from None
