"""What the inference app exports of a person's data: the stored responses."""

import json
from collections.abc import Iterator
from typing import Any

from cryptography.fernet import InvalidToken
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from accounts.models import Account
from gateway.core.api.times import rfc3339
from gateway.core.json.strict import loads
from inference.models import StoredResponse


def stored_responses(who: Account) -> Iterator[str]:
    """Return a line of JSON for each stored response, with its input; one at a time is in memory. One that no key decrypts is
    listed without content.
    """
    found = StoredResponse.objects.filter(owner_kind="account", owner_key=who.did, expires_at__gt=timezone.now())
    for response_id in list(found.order_by("created_at", "pk").values_list("pk", flat=True)):
        if stored := found.filter(pk=response_id).first():
            yield json.dumps(_line(stored), ensure_ascii=False) + "\n"


def _line(stored: StoredResponse) -> dict[str, Any]:
    about = {"id": stored.pk, "usageId": stored.usage_id, "createdAt": rfc3339(stored.created_at)}
    try:
        return about | {"response": loads(stored.response.encode()), "inputItems": loads(stored.input_items.encode())}
    except (ImproperlyConfigured, InvalidToken):
        return about
