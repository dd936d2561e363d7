"""Map a product's seats to an external biller after the payment provider has confirmed the biller's account."""

import logging
from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError, transaction

from billing.adapters import configured
from billing.adapters.base import PaymentProvider, ProviderError
from billing.models import ExternalMapping
from billing.rules import external_mappings as rules
from billing.rules.provider_records import ConnectedAccount
from gateway.core.contract.errors import ExternalMappingUnverified, InvalidRequest

log = logging.getLogger("billing.external_mappings")

NOT_RESPONDING = "The payment provider is not responding."


class Verified(NamedTuple):
    """What the provider confirmed."""

    org_id: str
    product: str
    provider: str
    external_org_id: str
    mode: str


def verify(*, org_id: str, product: str, provider: str, external_org_id: str, mode: str) -> Verified:
    """Ask the provider to confirm that the account belongs to this organization and may charge. Does not access the
    database.

    Raises ExternalMappingUnverified if it does not confirm, InvalidRequest for a provider that is not the configured
    one, and IntegrationUnavailable without a provider or its response.
    """
    configured_one = configured.require()
    if provider != configured_one.name:
        raise InvalidRequest(f"The configured provider is {configured_one.name}.", param="provider")
    account = _account(configured_one, external_org_id)
    fault = rules.fault_of(account, org_id=org_id, wants_live=mode == "live", key_is_live=configured_one.is_live)
    if fault:
        raise ExternalMappingUnverified(private=f"{external_org_id} for {org_id}: {fault}")
    return Verified(org_id, product, provider, external_org_id, mode)


def put(verified: Verified, *, verified_by: str, now: datetime) -> tuple[ExternalMapping, bool]:
    """Store the confirmed mapping, replacing an earlier one; return also whether anything but the time changed.

    Joins the caller's transaction. Raises ExternalMappingUnverified if the account is already mapped to another
    organization for this product.
    """
    stated = {
        "provider": verified.provider,
        "external_org_id": verified.external_org_id,
        "mode": verified.mode,
    }
    before = ExternalMapping.objects.filter(org_id=verified.org_id, product=verified.product).first()
    is_new = before is None or any(getattr(before, name) != value for name, value in stated.items())
    try:
        with transaction.atomic():
            mapping, _ = ExternalMapping.objects.update_or_create(
                org_id=verified.org_id,
                product=verified.product,
                defaults={**stated, "verified_by": verified_by, "verified_at": now},
                create_defaults={**stated, "verified_by": verified_by, "verified_at": now, "created_at": now},
            )
    except IntegrityError as error:
        private = f"{verified.external_org_id} bills {verified.product} for another organization"
        raise ExternalMappingUnverified(private=private) from error
    return mapping, is_new


def _account(provider: PaymentProvider, ref: str) -> ConnectedAccount | None:
    try:
        return provider.connected_account(ref)
    except ProviderError as error:
        log.error("the provider did not say who owns account %s: %s", ref, error)
        raise configured.unavailable(NOT_RESPONDING) from error
