"""Store the responses of settled calls for replay. They hold people's content, so they are stored encrypted.

A repetitive body, such as an event stream, is first compressed to about a twentieth of its size.

If the headers are a list, an earlier version stored the response unencrypted. Encrypted responses have the headers in
an object, and compressed ones under another name, so that a process of an earlier version cannot return the stored
bytes. A form under any other name is a later version's. This one cannot read it, and says so (`Unreadable`).
"""

import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from cryptography.fernet import InvalidToken
from django.db import transaction

from billing.models import StoredReplay
from billing.operations.ledger import Replay
from gateway.core.database.purge import purge as purge_rows
from gateway.core.encryption import stored_bytes

REENCRYPT_BATCH = 20
"""Rows in memory at once: a body may be megabytes long."""

COMPRESSED_MIN_BYTES = 4 * 1024
"""Shorter bodies are not compressed. For longer ones, this much is compressed as a sample."""

_COMPRESSED_PART = 1 / 4
"""A body whose sample shrinks less is stored uncompressed: prose, numbers and images take long and gain little."""

_FASTEST = 1
_ENCRYPTED = "encrypted"
_COMPRESSED = "compressed"


class Unreadable(Exception):
    """A stored response exists, but no key of this process or no code of this version can read it."""


def encrypted(replay: Replay, usage_id: str) -> Replay:
    """Encrypt a response for storage. Only the stored row of the same call can be decrypted again."""
    name, body = _ENCRYPTED, replay.body
    if _repeats_itself(body):
        name, body = _COMPRESSED, zlib.compress(body, _FASTEST)
    return Replay(replay.status, {name: replay.headers}, stored_bytes.encrypt(body, _place(usage_id)), usage_id)


def decrypted(stored: Replay) -> Replay:
    """Decrypt a stored response. Raises Unreadable if no key fits, it belongs to another call, or its form is unknown."""
    if isinstance(stored.headers, list):
        return stored
    name = _COMPRESSED if is_compressed(stored) else _ENCRYPTED
    try:
        headers, body = stored.headers[name], stored_bytes.decrypt(stored.body, _place(stored.usage_id))
        body = zlib.decompress(body) if name == _COMPRESSED else body
    except (InvalidToken, KeyError, zlib.error) as error:
        raise Unreadable(f"{type(error).__name__} {error}".strip()) from error
    return Replay(stored.status, headers, body, stored.usage_id)


def is_compressed(stored: Replay) -> bool:
    """Return whether a stored response is compressed, so that its real size is larger."""
    return isinstance(stored.headers, dict) and _COMPRESSED in stored.headers


def delete(usage_ids: Sequence[str]) -> None:
    """Delete the responses of these calls. Their idempotency keys stay taken, so nothing runs or is charged again."""
    StoredReplay.objects.filter(pk__in=usage_ids).delete()


def purge(*, now: datetime) -> int:
    """Delete the responses that expired, 24 hours after their settlement; return how many there were."""
    return purge_rows(StoredReplay.objects.filter(expires_at__lte=now).order_by("expires_at"))


def reencrypt() -> int:
    """Encrypt the stored responses with the newest key, a few rows per transaction; return how many there were.

    There may be a day's calls, too many for one transaction. A response that no key can decrypt is left unchanged;
    a repeated request is refused until later.
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
