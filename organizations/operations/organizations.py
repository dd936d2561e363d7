"""Creates and renames organizations."""

from datetime import datetime

from django.db import transaction

from accounts.models import Account
from accounts.operations import closing
from billing.operations import wallets
from gateway.core.contract.errors import Forbidden
from gateway.core.contract.ids import new_id
from gateway.core.events.operations.in_order import Happened, record
from organizations.models import AuditEntry, Membership, Organization
from organizations.operations.changes import changing
from organizations.operations.memberships import membership_data
from organizations.rules.roles import OWNERS, Role


@transaction.atomic
def create(*, name: str, account: Account, now: datetime) -> Membership:
    """Create an organization with its owner's membership, billing account and wallet, atomically."""
    if not closing.stays_open(account):
        raise Forbidden("The account is closed.")
    organization = Organization.objects.create(id=new_id("org"), name=name, created_at=now, changed_at=now)
    membership = Membership.objects.create(
        id=new_id("mem"), organization=organization, account=account, role=Role.OWNER, created_at=now
    )
    wallets.ensure("organization", organization.id)
    AuditEntry.objects.create(
        organization=organization,
        actor_did=account.did,
        action="organization.create",
        subject=organization.id,
        detail={"name": name},
        created_at=now,
    )
    data = {"orgId": organization.pk, **membership_data(membership, account.did)}
    record([Happened("organization", organization.pk, "membership.created", data, now=now)])
    return membership


def rename(*, org_id: str, name: str, actor_did: str) -> Organization:
    """Rename an organization. Only an owner may. Setting the same name again changes nothing."""
    with changing(org_id, actor_did=actor_did, roles=OWNERS) as change:
        organization, before = change.organization, change.organization.name
        if name != before:
            organization.name = name
            organization.save(update_fields=["name"])
            change.record("organization.rename", organization.id, before=before, after=name)
    return organization
