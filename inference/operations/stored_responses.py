"""Deletes stored responses: when their owner says so, and when their time is over."""

from datetime import datetime

from django.db import transaction

from billing.operations import replays
from billing.rules.owners import Owner
from gateway.core.contract.errors import NotFound
from inference.models import StoredResponse
from inference.queries import stored_responses

BATCH = 100
"""Rows may be megabytes long, so that a transaction deletes few of them."""


def delete(owner: Owner, response_id: str, *, now: datetime) -> None:
    """Delete a response of this owner, and the answer that a repetition of its request would get. Raises NotFound.

    A call that continues from it has read it already.
    """
    with transaction.atomic():
        usage_ids = list(stored_responses.of_owner(owner, response_id, now).values_list("usage_id", flat=True))
        deleted, _ = stored_responses.of_owner(owner, response_id, now).delete()
        if not deleted:
            raise NotFound("There is no such response of yours.")
        replays.delete(usage_ids)


def purge(*, now: datetime) -> int:
    """Delete the responses that have expired, a batch at a time; return how many there were."""
    deleted = 0
    expired = StoredResponse.objects.filter(expires_at__lte=now).order_by("expires_at").values_list("pk", flat=True)
    while batch := list(expired[:BATCH]):
        deleted += StoredResponse.objects.filter(pk__in=batch).delete()[0]
    return deleted
