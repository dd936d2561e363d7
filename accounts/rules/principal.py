"""The authenticated caller, from a verified access token."""

from dataclasses import dataclass, field
from typing import Literal

from accounts.rules.scopes import covers

OwnerKind = Literal["account", "organization"]


@dataclass(frozen=True, slots=True)
class CurrentMembership:
    """The current membership of an organization token's holder, which may have changed since the token was issued."""

    role: str
    membership_id: str


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a verified token. Times are Unix seconds; `jkt` is the thumbprint of the holder's proof key.

    `product`, `org_id`, `membership_id` and `session_id` are None if the token does not carry them. `current_membership` is set
    once the organization's current access has been checked; it is None before that and for tokens without an
    organization.
    """

    did: str
    client_id: str
    scopes: frozenset[str]
    jkt: str
    token_id: str
    product: str | None
    org_id: str | None
    membership_id: str | None
    session_id: str | None
    issued_at: int
    expires_at: int
    consents: frozenset[str] = field(default=frozenset())
    current_membership: CurrentMembership | None = None

    @property
    def is_authenticated(self) -> bool:
        """Return True, for frameworks that check a user object. A principal exists only after verification."""
        return True

    @property
    def owner(self) -> tuple[OwnerKind, str]:
        """Return the owner of the token's wallet and records: its organization or, without one, its account."""
        return ("organization", self.org_id) if self.org_id else ("account", self.did)

    def allows(self, scope: str) -> bool:
        """Return whether the token carries the scope. `infer:*` includes all `infer:` scopes."""
        return scope in self.scopes or covers(self.scopes, scope)
