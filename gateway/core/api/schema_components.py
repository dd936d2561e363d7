"""Shared components of the OpenAPI document."""

from typing import Any

from gateway.core.contract import headers
from gateway.core.contract.limits import IDEMPOTENCY_KEY_MAX_CHARACTERS, MAX_COST_MAX_MICROUSD, MAX_COST_MIN_MICROUSD

SECURITY: dict[str, list[str]] = {"accessToken": [], "proof": []}
SECURITY_SCHEMES: dict[str, Any] = {
    "accessToken": {
        "type": "http",
        "scheme": "DPoP",
        "description": "`Authorization: DPoP <access token>`. A token lives 300 seconds and is bound to the key of its "
        "proofs (RFC 9449).",
    },
    "proof": {
        "type": "apiKey",
        "in": "header",
        "name": headers.DPOP,
        "description": "A proof signed for this request with ES256 or EdDSA: `htm`, `htu`, `iat`, `jti` and `ath`. "
        "Each serves once, within 60 seconds.",
    },
}

REQUEST_ID_PARAMETER = "RequestId"
METERED_PARAMETERS = ("IdempotencyKey", "MaxCost")
REPEATABLE_PARAMETERS = ("OptionalIdempotencyKey", "MaxCost")
_KEY_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": IDEMPOTENCY_KEY_MAX_CHARACTERS,
    "pattern": "^[ -~]+$",
}
PARAMETERS: dict[str, Any] = {
    REQUEST_ID_PARAMETER: {
        "name": headers.REQUEST_ID,
        "in": "header",
        "description": "Your own id for this request, up to 128 characters of `[A-Za-z0-9_.:-]`; echoed.",
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": headers.IDEMPOTENCY_KEY,
        "in": "header",
        "required": True,
        "description": "Names this call. A second request with the same key and body gets the stored answer and is not "
        "charged, for 24 hours.",
        "schema": _KEY_SCHEMA,
    },
    "OptionalIdempotencyKey": {
        "name": headers.IDEMPOTENCY_KEY,
        "in": "header",
        "description": "Names this call, if you may want to repeat it. A second request with the same key and body gets the "
        "stored answer and is not charged, for 24 hours. Without a key, every request is a new call.",
        "schema": _KEY_SCHEMA,
    },
    "MaxCost": {
        "name": headers.MAX_COST,
        "in": "header",
        "required": True,
        "description": "The most this call may cost, in micro-USD. A call that may cost more is refused before it is sent.",
        "schema": {"type": "integer", "minimum": MAX_COST_MIN_MICROUSD, "maximum": MAX_COST_MAX_MICROUSD},
    },
}

ANSWER_HEADERS = (headers.REQUEST_ID,)
RATE_LIMIT_HEADERS = (headers.RATE_LIMIT, headers.RATE_LIMIT_POLICY)
METERED_ANSWER_HEADERS = (
    headers.USAGE_ID,
    headers.HOLD,
    headers.CHARGE,
    headers.IDEMPOTENT_REPLAYED,
    *RATE_LIMIT_HEADERS,
)
ERROR_HEADERS = {
    401: ("WWW-Authenticate", headers.DPOP_NONCE),
    409: ("Retry-After",),
    415: ("Accept-Encoding",),
    429: ("Retry-After",),
}
HEADERS: dict[str, Any] = {
    "WWW-Authenticate": {
        "description": (
            'The challenge: `DPoP error="<code>", error_description="…", resource_metadata="<URL>", algs="ES256 EdDSA"`.'
        ),
        "schema": {"type": "string"},
    },
    headers.DPOP_NONCE: {
        "description": "The nonce that the next proofs must contain, if the gateway requires nonces.",
        "schema": {"type": "string"},
    },
    "Accept-Encoding": {
        "description": "`identity`, if the body had a content coding.",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "How many seconds to wait before trying again.", "schema": {"type": "integer"}},
    headers.REQUEST_ID: {"description": "The request's id, to quote to support.", "schema": {"type": "string"}},
    headers.USAGE_ID: {"description": "The id of this call's usage record.", "schema": {"type": "string"}},
    headers.HOLD: {
        "description": "The amount held before the call was sent, in micro-USD.",
        "schema": {"type": "integer"},
    },
    headers.CHARGE: {
        "description": "What the call cost, in micro-USD. A stream reports it in its final comment instead.",
        "schema": {"type": "integer"},
    },
    headers.IDEMPOTENT_REPLAYED: {
        "description": "`true` if this is the stored response of an earlier request with this key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    headers.RATE_LIMIT_POLICY: {
        "description": "The limits that apply, if there are any, as a list of structured fields: the quota `q` and its window `w` in "
        "seconds.",
        "schema": {"type": "string"},
        "example": '"account-requests";q=600;w=60',
    },
    headers.RATE_LIMIT: {
        "description": "What is left of each: `r` with this request counted, and in how many seconds `t` there is one more.",
        "schema": {"type": "string"},
        "example": '"account-requests";r=599;t=1',
    },
}


def reference(section: str, name: str) -> dict[str, str]:
    """Return a reference to a shared component."""
    return {"$ref": f"#/components/{section}/{name}"}


def add_shared_components(result: dict[str, Any], **context: Any) -> dict[str, Any]:
    """Add the shared components to a finished document; a hook of drf-spectacular."""
    components = result.setdefault("components", {})
    for section, shared in (
        ("parameters", PARAMETERS),
        ("headers", HEADERS),
        ("securitySchemes", SECURITY_SCHEMES),
    ):
        components[section] = {**components.get(section, {}), **shared}
    return result


def require_answered_members(result: dict[str, Any], **context: Any) -> dict[str, Any]:
    """Mark members as required that responses always contain, such as those with a default; a hook of
    drf-spectacular."""
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Response"):
            always = [member for member, definition in schema["properties"].items() if "default" in definition]
            for member in always:
                del schema["properties"][member]["default"]
            schema["required"] = sorted({*schema.get("required", ()), *always})
    return result
