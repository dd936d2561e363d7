"""The fake provider's objects by id, in order of creation, each in one mode."""

import copy
import json
import secrets
import string
import threading
import time
from typing import Any

from tests.support.stripe.errors import no_such

Json = dict[str, Any]
ALPHABET = string.ascii_letters + string.digits
PREFIXES = {
    "account": "acct_1",
    "balance_transaction": "txn_3",
    "charge": "ch_3",
    "checkout.session": "cs_{mode}_a1",
    "customer": "cus_",
    "dispute": "du_1",
    "event": "evt_1",
    "payment_intent": "pi_3",
    "payment_method": "pm_1",
    "refund": "re_3",
    "setup_intent": "seti_1",
}
MODELESS = {"account", "balance_transaction", "refund"}
"""Kinds whose objects have no `livemode`."""


class Store:
    """Objects are plain dictionaries, as sent; a caller that changes one must hold `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.ahead_seconds = 0
        self._objects: dict[str, Json] = {}
        self._live: dict[str, bool] = {}

    def now(self) -> int:
        """Return the clock's time, which a test can advance."""
        return int(time.time()) + self.ahead_seconds

    def add(self, kind: str, *, live: bool, object_id: str = "", **members: Any) -> Json:
        """Store a new object."""
        new_id = object_id or make_id(kind, live=live)
        made: Json = {"id": new_id, "object": kind, "created": self.now(), "livemode": live, **members}
        if kind in MODELESS:
            del made["livemode"]
        with self.lock:
            self._objects[new_id] = made
            self._live[new_id] = live
        return made

    def find(self, kind: str, object_id: str, *, live: bool, param: str = "id") -> Json:
        """Find an object of a kind and mode, or refuse as the vendor does."""
        found = self._objects.get(object_id)
        if found is None or found["object"] != kind:
            raise no_such(kind, object_id, param)
        if self._live[object_id] != live:
            raise no_such(kind, object_id, param, elsewhere="live" if self._live[object_id] else "test")
        return found

    def any(self, object_id: str) -> Json:
        """Find an object by its id alone."""
        return self._objects[object_id]

    def is_live(self, object_id: str) -> bool:
        """Return an object's mode."""
        return self._live[object_id]

    def has(self, object_id: object) -> bool:
        """Return whether there is such an object."""
        return object_id in self._objects

    def every(self, kind: str, *, live: bool | None = None) -> list[Json]:
        """List the objects of a kind, newest first."""
        with self.lock:
            rows = list(self._objects.values())
        return [row for row in reversed(rows) if row["object"] == kind and live in {None, self._live[row["id"]]}]

    def dump(self) -> str:
        """Return all objects as JSON."""
        with self.lock:
            return json.dumps([self._objects, self._live])

    def load(self, text: str) -> None:
        """Replace all objects by those of a dump."""
        with self.lock:
            self._objects, self._live = json.loads(text)

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self._objects.clear()
            self._live.clear()
            self.ahead_seconds = 0


def make_id(kind: str, *, live: bool) -> str:
    """Create an id in the vendor's form."""
    return PREFIXES[kind].format(mode="live" if live else "test") + random_text(24)


def random_text(length: int) -> str:
    """Return random letters and digits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def snapshot(value: Json) -> Json:
    """Copy an object's current state, without the store's own members (with the prefix `_`)."""
    return {name: copy.deepcopy(member) for name, member in value.items() if not name.startswith("_")}
