"""A Django cache in a PostgreSQL table, so that all processes share its counters."""

import hashlib
import pickle
from typing import Any

from django.core import signing
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection

_GET = "SELECT value FROM {} WHERE key = %s AND expires_at > clock_timestamp()"
_SET = """
    INSERT INTO {0} AS old (key, value, expires_at) VALUES (%s, %s, to_timestamp(%s))
    ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at
"""
_ADD = _SET + " WHERE old.expires_at <= clock_timestamp()"
_TOUCH = "UPDATE {} SET expires_at = to_timestamp(%s) WHERE key = %s AND expires_at > clock_timestamp()"
_DELETE = "DELETE FROM {} WHERE key = %s"
_CLEAR = "DELETE FROM {}"

FOREVER = 253_402_300_799  # the last second of the year 9999
"""When an entry without a timeout expires, in Unix seconds."""


KEY_MAX_CHARACTERS = 200
"""A longer key, from untrusted input, is replaced by its hash, because PostgreSQL cannot index a text of several
kilobytes."""

SALT = "gateway.database.cache"


class Pickled:
    """Serializes any value, like Django's own caches."""

    def dumps(self, value: Any) -> bytes:
        """Return the value as bytes."""
        return pickle.dumps(value)

    def loads(self, data: bytes) -> Any:
        """Return the value. Only data with a valid signature of this installation gets here."""
        return pickle.loads(data)  # noqa: S301


class SharedCache(BaseCache):
    """Stores entries in the table that `LOCATION` names. Each operation is one statement, so that `add` is atomic.

    Django's own database cache counts its rows at every write, evicts live entries at random once there are many, and
    trusts all data in the table.
    """

    def __init__(self, table: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._table = connection.ops.quote_name(table)

    def make_key(self, key: str, version: int | None = None) -> str:
        """Return the stored key of an entry: printable text of bounded length."""
        made = str(super().make_key(key, version))
        if len(made) <= KEY_MAX_CHARACTERS and made.isprintable():
            return made
        return hashlib.sha256(made.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """Return a live entry's value, or the default."""
        with connection.cursor() as cursor:
            cursor.execute(_GET.format(self._table), [self.make_key(key, version)])
            row = cursor.fetchone()
        try:
            return signing.loads(row[0], salt=SALT, serializer=Pickled) if row else default
        except signing.BadSignature:  # signed with another SECRET_KEY
            return default

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Write an entry, replacing an existing one."""
        self._execute(_SET, self.make_key(key, version), _signed(value), self._expiry(timeout))

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Write an entry and return True, or return False if a live one exists."""
        return self._execute(_ADD, self.make_key(key, version), _signed(value), self._expiry(timeout)) > 0

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Extend the lifetime of a live entry; return whether there was one."""
        return self._execute(_TOUCH, self._expiry(timeout), self.make_key(key, version)) > 0

    def delete(self, key: str, version: int | None = None) -> bool:
        """Remove an entry; return whether there was one."""
        return self._execute(_DELETE, self.make_key(key, version)) > 0

    def clear(self) -> None:
        """Remove every entry."""
        self._execute(_CLEAR)

    def _expiry(self, timeout: Any) -> float:
        at = self.get_backend_timeout(timeout)
        return FOREVER if at is None else min(at, FOREVER)

    def _execute(self, statement: str, *values: Any) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement.format(self._table), values or None)
            return cursor.rowcount


def _signed(value: Any) -> str:
    return signing.dumps(value, salt=SALT, serializer=Pickled)
