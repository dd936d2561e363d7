"""Adds public keys to an integration, or replaces them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import Integration
from accounts.models.validators import validate_jwks
from accounts.rules import key_files
from accounts.rules.key_files import KeyFileRefused


@transaction.atomic
def put(integration_id: int, keys: list[dict[str, Any]], *, replaces: bool) -> Integration:
    """Store keys that `key_files.parse` has read, beside an integration's others or instead of them. Raises KeyFileRefused."""
    integration = Integration.objects.select_for_update(no_key=True).get(pk=integration_id)
    together = key_files.merged([] if replaces else integration.jwks["keys"], keys)
    try:
        validate_jwks({"keys": together})
    except ValidationError as error:
        raise KeyFileRefused(error.messages[0]) from None
    integration.jwks = {**integration.jwks, "keys": together}
    integration.save(update_fields=["jwks"])
    return integration
