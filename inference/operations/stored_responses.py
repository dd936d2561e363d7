"""Deletes stored responses: on their owner's request, and on expiry."""

from datetime import datetime

from django.db import transaction

from billing.operations import replays
from billing.rules.owners import Owner
from gateway.core.contract.errors import NotFound
from gateway.core.database.purge import purge as purge_rows
from inference.models import StoredResponse
from inference.queries import stored_responses

BATCH = 100
"""Rows may be megabytes long, so a transaction deletes only a few of them."""


def delete(owner: Owner, response_id: str, *, now: datetime) -> None:
    """Delete a response of this owner, and the stored replay of its request. Raises NotFound.

    A call that is continuing it has already read it.
    """
    with transaction.atomic():
        usage_ids = list(stored_responses.of_owner(owner, response_id, now).values_list("usage_id", flat=True))
        deleted, _ = stored_responses.of_owner(owner, response_id, now).delete()
        if not deleted:
            raise NotFound("You have no such response.")
        replays.delete(usage_ids)


def purge(*, now: datetime) -> int:
    """Delete the responses that have expired; return how many there were."""
    return purge_rows(StoredResponse.objects.filter(expires_at__lte=now).order_by("expires_at"), batch=BATCH)
