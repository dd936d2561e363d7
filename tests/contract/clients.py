"""Which method of each client calls each route: names as a person writes them, or why there is none."""

from typing import NamedTuple


class Methods(NamedTuple):
    """The methods of one route; a text in parentheses is a reason."""

    javascript: str
    python: str


SIGN_IN = Methods("(signing in does it)", "(browsers sign in)")
ORGANIZATIONS_IN_PYTHON = "(organizations are in the JavaScript client alone: SPEC, Versioning)"
BY_THE_SDK = "(the OpenAI SDK calls it over `http_client`)"
BY_ANTHROPICS_SDK = "(the Anthropic SDK calls it over `http_client`)"
BY_REQUEST = "(`request`, with `call_headers`)"

_ORG = "/v1/organizations/<org_id>"
_PRODUCT = f"{_ORG}/products/<product>"

_OF_ORGANIZATIONS = {
    ("GET", "/v1/organizations"): "list",
    ("POST", "/v1/organizations"): "create",
    ("GET", _ORG): "get",
    ("GET", f"{_ORG}/members"): "members",
    ("PUT", f"{_ORG}/members/<membership_id>"): "changeRole",
    ("DELETE", f"{_ORG}/members/<membership_id>"): "removeMember",
    ("GET", f"{_ORG}/invitations"): "invitations",
    ("POST", f"{_ORG}/invitations"): "invite",
    ("DELETE", f"{_ORG}/invitations/<invitation_id>"): "revokeInvitation",
    ("POST", "/v1/org-invitations/accept"): "acceptInvitation",
    ("GET", f"{_ORG}/products"): "products",
    ("PUT", _PRODUCT): "enableProduct",
    ("DELETE", _PRODUCT): "disableProduct",
    ("PUT", f"{_PRODUCT}/max-seats"): "setMaxSeats",
    ("DELETE", f"{_PRODUCT}/max-seats"): "clearMaxSeats",
    ("GET", f"{_ORG}/seats"): "seats",
    ("PUT", f"{_PRODUCT}/seats/<membership_id>"): "assignSeat",
    ("DELETE", f"{_PRODUCT}/seats/<membership_id>"): "revokeSeat",
    ("GET", f"{_ORG}/access"): "access",
    ("POST", "/v1/auth/context"): "contextToken",
    ("GET", f"{_ORG}/billing"): "billing",
    ("GET", f"{_ORG}/billing/members"): "billingMembers",
    ("PUT", f"{_ORG}/budgets"): "setBudget",
    ("DELETE", f"{_ORG}/budgets/<budget_id>"): "disableBudget",
    ("GET", f"{_ORG}/usage"): "usage",
    ("POST", f"{_ORG}/billing/checkout"): "checkout",
    ("POST", f"{_ORG}/billing/external-mapping"): "mapExternalBilling",
}

ROUTES = {
    **{route: Methods(f"organizations.{name}", ORGANIZATIONS_IN_PYTHON) for route, name in _OF_ORGANIZATIONS.items()},
    ("POST", "/v1/auth/token/exchange"): Methods("(only a product's server has an assertion)", "(`ProductServer`)"),
    ("POST", "/v1/public/token"): SIGN_IN,
    ("POST", "/v1/public/device/token"): SIGN_IN,
    ("POST", "/v1/public/device/revoke"): SIGN_IN,
    ("POST", "/v1/oauth/token"): Methods("(for stock OAuth clients)", "(for stock OAuth clients)"),
    ("GET", "/v1/account"): Methods("account", "account"),
    ("GET", "/v1/account/budgets"): Methods("budgets", "budgets"),
    ("GET", "/v1/models"): Methods("models", "models"),
    ("GET", "/v1/models/<model>"): Methods("model", "model"),
    ("GET", "/v1/wallet"): Methods("wallet", "wallet"),
    ("GET", "/v1/usage"): Methods("usage", "usage"),
    ("GET", "/v1/usage/<usage_id>"): Methods("usageRecord", "usage_record"),
    ("GET", "/v1/usage/<usage_id>/receipt"): Methods("receipt", "receipt"),
    ("POST", "/v1/billing/checkout"): Methods("checkout", "checkout"),
    ("POST", "/v1/chat/completions"): Methods("chat", BY_THE_SDK),
    ("POST", "/v1/responses"): Methods("respond", BY_THE_SDK),
    ("GET", "/v1/responses/<response_id>"): Methods("responses.get", BY_THE_SDK),
    ("DELETE", "/v1/responses/<response_id>"): Methods("responses.delete", BY_THE_SDK),
    ("GET", "/v1/responses/<response_id>/input_items"): Methods("responses.inputItems", BY_THE_SDK),
    ("POST", "/v1/messages"): Methods("message", BY_ANTHROPICS_SDK),
    ("POST", "/v1/messages/count_tokens"): Methods("countMessageTokens", BY_ANTHROPICS_SDK),
    ("POST", "/v1/embeddings"): Methods("embeddings", BY_THE_SDK),
    ("POST", "/v1/embeddings/contextual"): Methods("contextualEmbeddings", BY_REQUEST),
    ("POST", "/v1/late-interaction/score"): Methods("lateInteraction", BY_REQUEST),
    ("POST", "/v1/images/generations"): Methods("images", BY_THE_SDK),
    ("POST", "/v1/rerank"): Methods("rerank", "(Cohere's client calls it with `httpx_auth`)"),
    ("POST", "/v1/audio/speech"): Methods("speech", BY_THE_SDK),
    ("POST", "/v1/audio/transcriptions"): Methods("transcribe", BY_THE_SDK),
    ("POST", "/v1/audio/translations"): Methods("translate", BY_THE_SDK),
    ("GET", "/v1/realtime"): Methods("connectRealtime", "(the OpenAI SDK connects, with `signer.headers`)"),
    ("POST", "/v1/judgement"): Methods("judge", "judge"),
    ("GET", "/v1/projects"): Methods("projects.list", "projects.list"),
    ("GET", "/v1/projects/<project_id>/execution-config"): Methods(
        "projects.executionConfig", "projects.execution_config"
    ),
    ("PUT", "/v1/projects/<project_id>/execution-config"): Methods("projects.configure", "projects.configure"),
    ("GET", "/v1/sandbox/runs"): Methods("sandbox.list", "sandbox.list"),
    ("POST", "/v1/sandbox/runs"): Methods("sandbox.create", "sandbox.create"),
    ("GET", "/v1/sandbox/runs/<run_id>"): Methods("sandbox.get", "sandbox.get"),
    ("POST", "/v1/sandbox/runs/<run_id>/cancel"): Methods("sandbox.cancel", "sandbox.cancel"),
    ("GET", "/v1/ci/runs"): Methods("ci.list", "ci.list"),
    ("GET", "/v1/ci/runs/<run_id>"): Methods("ci.get", "ci.get"),
    ("GET", "/v1/evolution/artifacts"): Methods("evolution.artifacts", "evolution.artifacts"),
    ("POST", "/v1/evolution/artifacts"): Methods("evolution.keepArtifact", "evolution.keep_artifact"),
    ("GET", "/v1/evolution/artifacts/<artifact_id>"): Methods("evolution.artifact", "evolution.artifact"),
    ("GET", "/v1/evolution/evidence"): Methods("evolution.evidence", "evolution.evidence"),
    ("POST", "/v1/evolution/evidence"): Methods("evolution.keepEvidence", "evolution.keep_evidence"),
    ("GET", "/v1/evolution/jobs"): Methods("evolution.jobs", "evolution.jobs"),
    ("POST", "/v1/evolution/jobs"): Methods("evolution.startJob", "evolution.start_job"),
    ("GET", "/v1/evolution/jobs/<job_id>"): Methods("evolution.job", "evolution.job"),
    ("GET", "/v1/evolution/active-revision"): Methods("evolution.activeRevision", "evolution.active_revision"),
    ("PUT", "/v1/evolution/active-revision"): Methods("evolution.activate", "evolution.activate"),
    ("POST", "/v1/sync/account-key"): Methods("accountKey", "account_key"),
}
