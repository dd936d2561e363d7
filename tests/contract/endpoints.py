"""The endpoints tables of SPEC.md as data: method, path, what is asked of the token, and the roles."""

from typing import NamedTuple

ANY = ("owner", "admin", "billing", "member")
PEOPLE = ("owner", "admin")
MONEY = ("owner", "billing")

PUBLIC, TOKEN, MODEL = "public", "any token", "infer:<model>"


class Endpoint(NamedTuple):
    """One row. `needs` is a capability, or PUBLIC, TOKEN (any valid one) or MODEL (`infer:` of the body's model)."""

    method: str
    path: str
    needs: str
    roles: tuple[str, ...] = ()


_ORG = "/v1/organizations/<org_id>"
_PRODUCT = f"{_ORG}/products/<product>"

ACCOUNT = [
    Endpoint("GET", "/healthz", PUBLIC),
    Endpoint("GET", "/readyz", PUBLIC),
    Endpoint("GET", "/livez", PUBLIC),
    Endpoint("POST", "/v1/auth/token/exchange", PUBLIC),
    Endpoint("POST", "/v1/public/token", PUBLIC),
    Endpoint("POST", "/v1/public/device/token", PUBLIC),
    Endpoint("POST", "/v1/public/device/revoke", PUBLIC),
    Endpoint("GET", "/v1/account", TOKEN),
    Endpoint("GET", "/v1/models", TOKEN),
    Endpoint("GET", "/v1/wallet", "wallet:read", MONEY),  # the roles are asked under an organization's token
    Endpoint("GET", "/v1/usage", "usage:read"),
    Endpoint("POST", "/v1/billing/checkout", "billing:checkout", MONEY),  # likewise
]
ORGANIZATIONS = [
    Endpoint("GET", "/v1/organizations", "orgs:read", ANY),
    Endpoint("POST", "/v1/organizations", "orgs:manage", ANY),
    Endpoint("GET", _ORG, "orgs:read", ANY),
    Endpoint("GET", f"{_ORG}/members", "orgs:read", PEOPLE),
    Endpoint("POST", f"{_ORG}/invitations", "members:manage", PEOPLE),
    Endpoint("POST", "/v1/org-invitations/accept", "orgs:manage", ANY),
    Endpoint("PUT", f"{_ORG}/members/<membership_id>", "members:manage", PEOPLE),
    Endpoint("DELETE", f"{_ORG}/members/<membership_id>", "members:manage", PEOPLE),
    Endpoint("GET", f"{_ORG}/products", "orgs:read", ANY),
    Endpoint("PUT", _PRODUCT, "products:manage", MONEY),
    Endpoint("DELETE", _PRODUCT, "products:manage", MONEY),
    Endpoint("PUT", f"{_PRODUCT}/max-seats", "products:manage", MONEY),
    Endpoint("DELETE", f"{_PRODUCT}/max-seats", "products:manage", MONEY),
    Endpoint("GET", f"{_ORG}/seats", "orgs:read", ANY),
    Endpoint("PUT", f"{_PRODUCT}/seats/<membership_id>", "seats:manage", PEOPLE),
    Endpoint("DELETE", f"{_PRODUCT}/seats/<membership_id>", "seats:manage", PEOPLE),
    Endpoint("GET", f"{_ORG}/access", "orgs:read", ANY),
    Endpoint("POST", "/v1/auth/context", TOKEN),  # the live decision is the whole of its access
    Endpoint("GET", f"{_ORG}/billing", "wallet:read", MONEY),
    Endpoint("GET", f"{_ORG}/billing/members", "wallet:read", MONEY),
    Endpoint("PUT", f"{_ORG}/budgets", "budgets:manage", MONEY),
    Endpoint("DELETE", f"{_ORG}/budgets/<budget_id>", "budgets:manage", MONEY),
    Endpoint("GET", f"{_ORG}/usage", "usage:read", MONEY),
    Endpoint("POST", f"{_ORG}/billing/checkout", "billing:checkout", MONEY),
    Endpoint("POST", f"{_ORG}/billing/external-mapping", "billing:checkout", ("owner",)),
]
MODELS = [
    Endpoint("POST", "/v1/responses", MODEL),
    Endpoint("POST", "/v1/chat/completions", MODEL),
    Endpoint("POST", "/v1/messages", MODEL),
    Endpoint("POST", "/v1/messages/count_tokens", MODEL),
    Endpoint("POST", "/v1/embeddings", MODEL),
    Endpoint("POST", "/v1/embeddings/contextual", MODEL),
    Endpoint("POST", "/v1/late-interaction/score", MODEL),
    Endpoint("POST", "/v1/rerank", MODEL),
    Endpoint("POST", "/v1/images/generations", MODEL),
    Endpoint("POST", "/v1/audio/speech", MODEL),
    Endpoint("POST", "/v1/audio/transcriptions", MODEL),
    Endpoint("POST", "/v1/audio/translations", MODEL),
    Endpoint("GET", "/v1/realtime", "realtime:connect"),
    Endpoint("POST", "/v1/judgement", "judgement:evaluate"),
    Endpoint("GET", "/v1/responses/<response_id>", "responses:read"),
    Endpoint("DELETE", "/v1/responses/<response_id>", "responses:delete"),
    Endpoint("GET", "/v1/responses/<response_id>/input_items", "responses:read"),
]
INTEGRATIONS = [
    Endpoint("GET", "/v1/projects", "projects:read", ANY),
    Endpoint("GET", "/v1/projects/<project_id>/execution-config", "projects:read", ANY),
    Endpoint("PUT", "/v1/projects/<project_id>/execution-config", "projects:configure", PEOPLE),
    Endpoint("GET", "/v1/sandbox/runs", "sandbox:read", ANY),
    Endpoint("POST", "/v1/sandbox/runs", "sandbox:run", ANY),
    Endpoint("GET", "/v1/sandbox/runs/<run_id>", "sandbox:read", ANY),
    Endpoint("POST", "/v1/sandbox/runs/<run_id>/cancel", "sandbox:cancel", ANY),
    Endpoint("GET", "/v1/ci/runs", "ci:read", ANY),
    Endpoint("GET", "/v1/ci/runs/<run_id>", "ci:read", ANY),
    Endpoint("GET", "/v1/evolution/artifacts", "evolution:read", ANY),
    Endpoint("POST", "/v1/evolution/artifacts", "evolution:write", ANY),
    Endpoint("GET", "/v1/evolution/artifacts/<artifact_id>", "evolution:read", ANY),
    Endpoint("GET", "/v1/evolution/evidence", "evolution:read", ANY),
    Endpoint("POST", "/v1/evolution/evidence", "evolution:write", ANY),
    Endpoint("GET", "/v1/evolution/jobs", "evolution:read", ANY),
    Endpoint("POST", "/v1/evolution/jobs", "evolution:execute", ANY),
    Endpoint("GET", "/v1/evolution/jobs/<job_id>", "evolution:read", ANY),
    Endpoint("GET", "/v1/evolution/active-revision", "evolution:read", ANY),
    Endpoint("PUT", "/v1/evolution/active-revision", "evolution:write", PEOPLE),
    Endpoint("POST", "/v1/sync/account-key", "sync:key:read"),
]
ENDPOINTS = [*ACCOUNT, *ORGANIZATIONS, *MODELS, *INTEGRATIONS]

# Routes beyond the tables, each for a reason.
ADDITIONS = {
    ("POST", "/v1/oauth/token"): "the token endpoint that stock OAuth clients find in the metadata",
    ("GET", "/v1/account/budgets"): "who calls must see what the calls are held against",
    ("GET", "/v1/models/<model>"): "the vendor's SDKs read one model",
    ("GET", "/v1/usage/<usage_id>"): "a charge can be recomputed",
    ("GET", "/v1/usage/<usage_id>/receipt"): "a charge can be proved to others",
    ("GET", "/v1/organizations/<org_id>/invitations"): "who invited whom must be seen",
    ("DELETE", "/v1/organizations/<org_id>/invitations/<invitation_id>"): "an invitation must be taken back",
}
