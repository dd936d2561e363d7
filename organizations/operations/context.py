"""Exchanges a person's token for an organization's. SPEC: POST /v1/auth/context."""

from datetime import datetime

from accounts.operations import tokens
from accounts.operations.tokens import MintedToken
from accounts.rules.principal import Principal
from gateway.core.contract.errors import Forbidden
from organizations.queries import access
from organizations.rules.access import denial


def mint(*, principal: Principal, org_id: str, product: str | None, now: datetime) -> MintedToken:
    """Mint a token that acts for the organization while the person has access, with the source token's key, scopes,
    product and expiry.

    If the source token has a product, an active seat for it is required. Raises Forbidden for another product or from
    another organization's token, and the decision's error (403) if access is denied.
    """
    if principal.org_id not in (None, org_id) or (product and principal.product not in (None, product)):
        raise Forbidden
    product = principal.product or product
    decision = access.decide(org_id, principal.did, product)
    if not decision.allowed:
        raise denial(decision.reason, org_id)
    return tokens.mint(
        did=principal.did,
        client_id=principal.client_id,
        scopes=principal.scopes,
        jkt=principal.jkt,
        now=now,
        product=product,
        org_id=org_id,
        membership_id=decision.membership_id,
        session_id=principal.session_id,
        consents=principal.consents,
        expires_at=principal.expires_at,
    )
