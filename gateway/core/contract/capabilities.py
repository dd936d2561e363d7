"""The capabilities (scopes) that a token can carry. SPEC: Endpoints, Scopes and device sessions."""

from enum import StrEnum


class Capability(StrEnum):
    """One right over the API; `infer:<alias>` and `infer:<raw model>` exist in addition."""

    BILLING_CHECKOUT = "billing:checkout"
    BUDGETS_MANAGE = "budgets:manage"
    CI_READ = "ci:read"
    EVOLUTION_EXECUTE = "evolution:execute"
    EVOLUTION_READ = "evolution:read"
    EVOLUTION_WRITE = "evolution:write"
    JUDGEMENT_EVALUATE = "judgement:evaluate"
    MEMBERS_MANAGE = "members:manage"
    ORGS_MANAGE = "orgs:manage"
    ORGS_READ = "orgs:read"
    PRODUCTS_MANAGE = "products:manage"
    PROJECTS_CONFIGURE = "projects:configure"
    PROJECTS_READ = "projects:read"
    REALTIME_CONNECT = "realtime:connect"
    RESPONSES_DELETE = "responses:delete"
    RESPONSES_READ = "responses:read"
    SANDBOX_CANCEL = "sandbox:cancel"
    SANDBOX_READ = "sandbox:read"
    SANDBOX_RUN = "sandbox:run"
    SEATS_MANAGE = "seats:manage"
    SYNC_KEY_READ = "sync:key:read"
    USAGE_READ = "usage:read"
    WALLET_READ = "wallet:read"


INFER_PREFIX = "infer:"


def infer(alias: str) -> str:
    """Return the scope that lets a token call this alias or raw model."""
    return INFER_PREFIX + alias


def infer_scopes(alias: str) -> tuple[str, ...]:
    """Return the scopes that a token needs to call this alias or raw model on most routes."""
    return (INFER_PREFIX + alias,)
