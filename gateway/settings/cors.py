"""Which other origins' pages may call the gateway, and what their scripts may send and read."""

from gateway.settings.reading import env

CORS_ALLOWED_ORIGINS: list[str] = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_ALLOW_HEADERS = (
    "anthropic-beta",
    "anthropic-version",
    "authorization",
    "content-type",
    "dpop",
    "idempotency-key",
    "x-request-id",
    "x-service-max-cost-microusd",
)
CORS_EXPOSE_HEADERS = (
    "Date",  # lets a client whose clock is wrong correct the time of its proofs
    "DPoP-Nonce",
    "WWW-Authenticate",
    "Retry-After",
    "X-Request-Id",
    "request-id",
    "RateLimit",
    "RateLimit-Policy",
    "Idempotent-Replayed",
    "x-service-usage-id",
    "x-service-hold-microusd",
    "x-service-charge-microusd",
)
