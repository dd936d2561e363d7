"""`expand[]`: replaces ids with objects. Without it a response refers to objects by id, and omits lists."""

from typing import Any

from tests.support.stripe.errors import Refusal
from tests.support.stripe.lists import whole
from tests.support.stripe.store import Json, Store, snapshot

DEPTH_MAX = 4


def expand(store: Store, body: Json, paths: list[str]) -> Json:
    """Return a copy of an answer in which every path is expanded."""
    shown = snapshot(body)
    for path in paths:
        parts = path.split(".")
        if len(parts) > DEPTH_MAX:
            raise Refusal(400, f"You cannot expand more than {DEPTH_MAX} levels of a property.", param="expand")
        _walk(store, shown, parts, path)
    return shown


def _walk(store: Store, at: Any, parts: list[str], path: str) -> None:
    if not parts or at is None:
        return
    if isinstance(at, list):
        for one in at:
            _walk(store, one, parts, path)
        return
    name = parts[0]
    if not isinstance(at, dict) or (name not in at and (at.get("object"), name) not in LISTS):
        raise Refusal(400, f"This property cannot be expanded ({path}).", param="expand")
    value = at.get(name)
    if (at.get("object"), name) in LISTS:
        at[name] = _list(store, at, name)
    elif isinstance(value, str) and store.has(value):
        at[name] = snapshot(store.any(value))
    _walk(store, at[name], parts[1:], path)


def _list(store: Store, owner: Json, name: str) -> Json:
    if name == "line_items":
        return whole(store.any(owner["id"])["_line_items"], url=f"/v1/checkout/sessions/{owner['id']}/line_items")
    rows = [snapshot(row) for row in store.every("refund") if row["charge"] == owner["id"]]
    return whole(rows, url=f"/v1/charges/{owner['id']}/refunds")


LISTS = {("charge", "refunds"), ("checkout.session", "line_items")}
