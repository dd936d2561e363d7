"""The error bodies in the OpenAPI document: one schema per code, so that a generated client has a type for each."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gateway.core.contract.errors import CATALOGUE, MESSAGES_TYPES, ApiError

Schema = dict[str, Any]

API_ERROR, OAUTH_ERROR, MESSAGES_ERROR = "Error", "OAuthError", "MessagesError"
ERROR_TYPE, ERROR_DETAILS = "ErrorType", "ErrorDetails"
TYPES = (
    "authentication_error",
    "permission_error",
    "invalid_request_error",
    "conflict_error",
    "billing_error",
    "rate_limit_error",
    "api_error",
)
DOCS_URL = {
    "type": "string",
    "format": "uri",
    "description": "Where the code is explained: cause, remedy, whether to retry.",
}
USED = re.compile(r"#/components/schemas/(\w+)")


def api_error_name(error: type[ApiError]) -> str:
    """Return the name of an error's schema: `NotMemberError`."""
    return f"{error.__name__.removesuffix('Error')}Error"


def oauth_error_name(error: type[ApiError]) -> str:
    """Return the name of an error's schema on the token routes: `OAuthInvalidGrantError`."""
    return f"OAuth{api_error_name(error)}"


def messages_error_name(error: type[ApiError]) -> str:
    """Return the name of an error's schema on the Messages routes: `MessagesNotMemberError`."""
    return f"Messages{api_error_name(error)}"


NAME_OF_STYLE: Mapping[str, Callable[[type[ApiError]], str]] = {
    "api": api_error_name,
    "oauth": oauth_error_name,
    "messages": messages_error_name,
}
"""How an error's schema is called, by the `error_style` of the viewset."""


def one_of(names: list[str]) -> Schema:
    """Return a schema that allows each of the named ones; their codes distinguish them."""
    references = [_reference(name) for name in names]
    return references[0] if len(references) == 1 else {"oneOf": references}


def add_error_schemas(result: Schema, **context: Any) -> Schema:
    """Add the schema of all errors, and one for each error that operations refer to; a hook of drf-spectacular."""
    named = set(USED.findall(str(result["paths"])))
    schemas = result["components"]["schemas"]
    schemas |= {
        ERROR_TYPE: {"type": "string", "enum": list(TYPES)},
        ERROR_DETAILS: {"type": "object", "description": "For programs, by code.", "additionalProperties": {}},
        API_ERROR: _api_error(sorted(CATALOGUE), "Any error."),
        OAUTH_ERROR: _oauth_error(sorted(CATALOGUE), "Any error of a token route."),
        MESSAGES_ERROR: _messages_error(sorted(CATALOGUE), "Any error of the Messages routes."),
    }
    for error in CATALOGUE.values():
        if api_error_name(error) in named:
            schemas[api_error_name(error)] = _api_error([error.code], error.default_message)
        if oauth_error_name(error) in named:
            schemas[oauth_error_name(error)] = _oauth_error([error.code], error.default_message)
        if messages_error_name(error) in named:
            schemas[messages_error_name(error)] = _messages_error([error.code], error.default_message)
    return result


def _api_error(codes: list[str], description: str) -> Schema:
    members = {
        "code": _one_of_codes(codes),
        "message": {"type": "string", "description": "For people."},
        "type": _reference(ERROR_TYPE),
        "param": {"type": "string", "nullable": True, "description": "The field or header at fault."},
        "details": _reference(ERROR_DETAILS),
        "request_id": {"type": "string"},
        "docs_url": DOCS_URL,
    }
    inner = {"type": "object", "properties": members, "required": list(members)}
    return {"type": "object", "description": description, "properties": {"error": inner}, "required": ["error"]}


def _oauth_error(codes: list[str], description: str) -> Schema:
    members = {
        "error": _one_of_codes(codes),
        "error_description": {"type": "string"},
        "error_uri": DOCS_URL,
        "request_id": {"type": "string"},
        "param": {"type": "string"},
        "details": _reference(ERROR_DETAILS),
        "reason": {"type": "string", "description": "Only in development: the cause, for the client's developer."},
    }
    return {
        "type": "object",
        "description": f"{description} RFC 6749 section 5.2.",
        "properties": members,
        "required": ["error", "error_description", "error_uri", "request_id"],
    }


def _messages_error(codes: list[str], description: str) -> Schema:
    members = {
        "type": {"type": "string", "enum": list(MESSAGES_TYPES)},
        "message": {"type": "string", "description": "For people."},
        "code": _one_of_codes(codes),
        "param": {"type": "string", "nullable": True, "description": "The field or header at fault."},
        "details": _reference(ERROR_DETAILS),
        "docs_url": DOCS_URL,
    }
    inner = {"type": "object", "properties": members, "required": list(members)}
    outer = {"type": {"type": "string", "enum": ["error"]}, "error": inner, "request_id": {"type": "string"}}
    return {"type": "object", "description": description, "properties": outer, "required": list(outer)}


def _one_of_codes(codes: list[str]) -> Schema:
    return {"type": "string", "enum": codes, "description": "Stable, for programs."}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
