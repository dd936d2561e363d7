"""Parses and compares scopes. RFC 6749 section 3.3.

A scope that ends in `:*` covers all scopes with that prefix: `infer:*` covers `infer:fast`. There are no other
wildcards.
"""

import re
from collections.abc import Collection, Iterable

SCOPE_MAX_CHARACTERS = 4096

_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_LIST = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*")
_WILDCARD = "*"


def parse(text: str) -> list[str]:
    """Split a space-separated list into its distinct scopes, in order. Raises ValueError if RFC 6749 does not allow
    it.
    """
    if len(text) > SCOPE_MAX_CHARACTERS or not _LIST.fullmatch(text):
        raise ValueError("not a list of scopes separated by single spaces")
    return list(dict.fromkeys(text.split(" ")))


def is_scope(value: object) -> bool:
    """Return whether a value of unknown type is one well-formed scope."""
    return isinstance(value, str) and len(value) <= SCOPE_MAX_CHARACTERS and _TOKEN.fullmatch(value) is not None


def covers(granted: Collection[str], scope: str) -> bool:
    """Return whether a scope was granted, itself or by its prefix's wildcard."""
    if scope in granted:
        return True
    prefix, colon, name = scope.partition(":")
    return bool(colon and name) and f"{prefix}:{_WILDCARD}" in granted


def within(requested: Iterable[str], granted: Collection[str]) -> list[str]:
    """Return the part of `requested` that `granted` covers. If one side has a wildcard and the other a scope, that is the
    scope.
    """
    requested = list(dict.fromkeys(requested))
    covered = [scope for scope in requested if covers(granted, scope)]
    narrowed = [scope for scope in granted if scope not in covered and covers(requested, scope)]
    return covered + narrowed


def missing(required: Iterable[str], granted: Collection[str]) -> list[str]:
    """Return the scopes that are required but not granted, in order."""
    return [scope for scope in required if not covers(granted, scope)]
