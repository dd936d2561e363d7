"""The rotation of an upstream's key: the next one is added and tried, then it is switched to, then the old one is removed.

Both keys are valid in between. An operator who comes second is refused instead of undoing what the first one did.
"""

from datetime import datetime
from typing import Literal

from django.db import transaction

from inference.models import Upstream

Other = Literal["next", "old"]
COLUMNS: dict[Other, str] = {"next": "next_api_key", "old": "previous_api_key"}
"""The keys that are not current, and their columns."""


class RefusedError(Exception):
    """A step cannot be done. The message is a sentence for the operator."""


@transaction.atomic
def add_next(upstream_id: int, key: str, *, replaces: bool = False) -> bool:
    """Store the key that is to follow the current one; return whether it took the place of another next key.

    Raises RefusedError if the old key is still kept, if it is the current key, or if there is another next key and it is not
    meant to be replaced.
    """
    upstream = _locked(upstream_id)
    if not upstream.api_key:
        raise RefusedError("There is no key yet that another one could follow. Set the key itself.")
    if upstream.previous_api_key:
        raise RefusedError("The old key is still kept. Remove it first.")
    if key == upstream.api_key:
        raise RefusedError("This is the current key.")
    is_replaced = upstream.next_api_key not in ("", key)
    if is_replaced and not replaces:
        raise RefusedError(
            "There is a next key already. Switch to it, remove it, or confirm that this one replaces it."
        )
    upstream.next_api_key = key
    upstream.save(update_fields=["next_api_key"])
    return is_replaced


@transaction.atomic
def switch(upstream_id: int, *, now: datetime) -> Upstream:
    """Make the next key the current one, and keep the current one as the old one. Raises RefusedError if there is none."""
    upstream = _locked(upstream_id)
    if not upstream.next_api_key:
        raise RefusedError("There is no next key. Somebody may have switched already.")
    upstream.previous_api_key, upstream.api_key = upstream.api_key, upstream.next_api_key
    upstream.next_api_key, upstream.api_key_set_at = "", now
    upstream.save(update_fields=["api_key", "next_api_key", "previous_api_key", "api_key_set_at"])
    return upstream


@transaction.atomic
def switch_back(upstream_id: int, *, now: datetime) -> Upstream:
    """Make the old key the current one again, and the current one the next one. Raises RefusedError if there is none."""
    upstream = _locked(upstream_id)
    if not upstream.previous_api_key:
        raise RefusedError("There is no old key. Somebody may have removed it.")
    upstream.next_api_key, upstream.api_key = upstream.api_key, upstream.previous_api_key
    upstream.previous_api_key, upstream.api_key_set_at = "", now
    upstream.save(update_fields=["api_key", "next_api_key", "previous_api_key", "api_key_set_at"])
    return upstream


@transaction.atomic
def remove_other(upstream_id: int, seen: Other) -> Upstream:
    """Remove the next or the old key, whichever the operator saw. Raises RefusedError if it is not there, or no other key any more."""
    upstream, column = _locked(upstream_id), COLUMNS[seen]
    if not getattr(upstream, column):
        raise RefusedError(f"There is no {seen} key. Somebody may have removed it, or switched.")
    setattr(upstream, column, "")
    upstream.save(update_fields=[column])
    return upstream


def _locked(upstream_id: int) -> Upstream:
    return Upstream.objects.select_for_update(no_key=True).get(pk=upstream_id)
