"""The frame of every change to an organization: lock it, check the caller's role, change, write the audit log."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from gateway.core.events.operations.in_order import Happened, record
from organizations.models import AuditEntry, Membership, Organization
from organizations.queries import locked, memberships
from organizations.rules.roles import Role


@dataclass
class Change:
    """A change in progress. `now` is its time. Recorded actions are written to the audit log, and its events after it."""

    organization: Organization
    actor_did: str
    now: datetime
    actor: Membership | None = None
    entries: list[AuditEntry] = field(default_factory=list)
    events: list[Happened] = field(default_factory=list)

    @property
    def actor_role(self) -> Role:
        assert self.actor is not None
        return Role(self.actor.role)

    def record(self, action: str, subject: str, **detail: Any) -> None:
        """Record an action and its subject. A change without records must not have changed anything."""
        entry = AuditEntry(
            organization=self.organization,
            actor_did=self.actor_did,
            action=action,
            subject=subject,
            detail=detail,
            created_at=self.now,
        )
        self.entries.append(entry)

    def announce(self, type_: str, data: dict[str, Any], *, product: str | None = None) -> None:
        """Record an event of the organization for product servers and mails. It is written with the change's audit log."""
        org_id = self.organization.pk
        happened = Happened("organization", org_id, type_, {"orgId": org_id, **data}, product, self.now)
        self.events.append(happened)


@contextmanager
def changing(org_id: str, *, actor_did: str, roles: Collection[str]) -> Iterator[Change]:
    """Lock the organization, then check the actor's role, so that a role that was just lost cannot be used."""
    with transaction.atomic():
        change = _begin(org_id, actor_did)
        change.actor = memberships.with_role(org_id, actor_did, roles)
        yield change
        _finish(change)


@contextmanager
def joining(org_id: str, *, actor_did: str) -> Iterator[Change]:
    """Lock the organization for somebody who is no member, or not yet: a person with an invitation, an operator."""
    with transaction.atomic():
        change = _begin(org_id, actor_did)
        yield change
        _finish(change)


def _begin(org_id: str, actor_did: str) -> Change:
    organization, now = locked.organization(org_id)
    return Change(organization, actor_did, now)


def _finish(change: Change) -> None:
    if not change.entries:
        return
    change.organization.version += 1
    change.organization.changed_at = change.now
    change.organization.save(update_fields=["version", "changed_at", "is_past_due"])
    AuditEntry.objects.bulk_create(change.entries)
    record(change.events)
