"""Stored answers of settled calls. Their bodies are what people were told, so they rest encrypted.

One that repeats itself, as a stream of events does, is compressed before: it is stored in a twentieth of the room.

One whose headers are a list was stored by an earlier version, as it is. In an encrypted one they are within an object, and
in a compressed one under another name, so that a process of an earlier version cannot take its body for the answer.
"""

import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from cryptography.fernet import InvalidToken
from django.db import transaction

from billing.models import StoredReplay
from billing.operations.ledger import Replay
from gateway.core import stored_bytes
from gateway.core.database.purge import purge as purge_rows

REENCRYPT_BATCH = 20
"""Rows in memory at once: a body may be megabytes long."""

COMPRESSED_MIN_BYTES = 4 * 1024
"""Nothing shorter is compressed, and whether the rest is worth it is tried on so much."""

_COMPRESSED_PART = 1 / 4
"""What does not shrink to so much is stored as it is: prose, numbers and images, which take long and gain little."""

_FASTEST = 1
_ENCRYPTED = "encrypted"
_COMPRESSED = "compressed"


def encrypted(replay: Replay, usage_id: str) -> Replay:
    """Return an answer as it is stored, which can be read as the answer of this call alone."""
    name, body = _ENCRYPTED, replay.body
    if _repeats_itself(body):
        name, body = _COMPRESSED, zlib.compress(body, _FASTEST)
    return Replay(replay.status, {name: replay.headers}, stored_bytes.encrypt(body, _place(usage_id)), usage_id)


def decrypted(stored: Replay) -> Replay:
    """Return a stored answer as it was given. Raises InvalidToken where no key fits, or it is another call's."""
    if not isinstance(stored.headers, dict):
        return stored
    body = stored_bytes.decrypt(stored.body, _place(stored.usage_id))
    if is_compressed(stored):
        return Replay(stored.status, stored.headers[_COMPRESSED], zlib.decompress(body), stored.usage_id)
    return Replay(stored.status, stored.headers[_ENCRYPTED], body, stored.usage_id)


def is_compressed(stored: Replay) -> bool:
    """Return whether an answer as it is stored is compressed, and so longer than it looks."""
    return isinstance(stored.headers, dict) and _COMPRESSED in stored.headers


def delete(usage_ids: Sequence[str]) -> None:
    """Delete the answers of these calls. Their idempotency keys stay taken: nothing runs, or is charged, again."""
    StoredReplay.objects.filter(pk__in=usage_ids).delete()


def purge(*, now: datetime) -> int:
    """Delete the answers whose 24 hours are over; return how many there were."""
    return purge_rows(StoredReplay.objects.filter(expires_at__lte=now).order_by("expires_at"))


def reencrypt() -> int:
    """Encrypt the stored answers with the newest key, a few rows in a transaction; return how many there were.

    There may be a day's calls, so that no transaction takes them all. An answer that no key can decrypt is left as it
    is; a repeated request is told that it is gone.
    """
    count, last = 0, ""
    while rows := _reencrypt_after(last):
        count, last = count + len(rows), rows[-1].pk
    return count


@transaction.atomic
def _reencrypt_after(last: str) -> list[StoredReplay]:
    is_ours = {"headers__has_any_keys": [_ENCRYPTED, _COMPRESSED]}
    rows = StoredReplay.objects.select_for_update(no_key=True).filter(**is_ours, pk__gt=last)
    batch = list(rows.order_by("pk")[:REENCRYPT_BATCH])
    for row in batch:
        with suppress(InvalidToken):
            place = _place(row.pk)
            row.body = stored_bytes.encrypt(stored_bytes.decrypt(bytes(row.body), place), place)
            row.save(update_fields=["body"])
    return batch


def _place(usage_id: str | None) -> str:
    return f"billing_stored_replay.body:{usage_id}"


def _repeats_itself(body: bytes) -> bool:
    start = body[:COMPRESSED_MIN_BYTES]
    return len(body) > COMPRESSED_MIN_BYTES and len(zlib.compress(start, _FASTEST)) < len(start) * _COMPRESSED_PART
