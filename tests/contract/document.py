"""The OpenAPI document, and a validator for its schemas."""

import json
import re
from functools import cache
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator


@cache
def document() -> dict[str, Any]:
    """Fetch the document as a client does."""
    response = Client().get("/openapi.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    parsed: dict[str, Any] = json.loads(response.content)
    return parsed


def operations() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the operations by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def validate(value: Any, schema: dict[str, Any]) -> None:
    """Check a value against a schema of the document, or raise jsonschema's ValidationError."""
    _validator(json.dumps(schema, sort_keys=True)).validate(value)


def operation_at(method: str, path: str) -> dict[str, Any]:
    """Find the operation that describes a request; among several the one with the fewest parameters in its path."""
    found = [key for key in operations() if key[0] == method and re.fullmatch(_pattern(key[1]), path.partition("?")[0])]
    return operations()[min(found, key=lambda key: key[1].count("{"))]


def _pattern(template: str) -> str:
    return re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))


def answer_schema(operation: dict[str, Any], status: int, media: str = "application/json") -> dict[str, Any]:
    """Return the schema of one answer; KeyError where it is not described."""
    schema: dict[str, Any] = operation["responses"][str(status)]["content"][media]["schema"]
    return schema


def error_codes(answer: dict[str, Any]) -> set[str]:
    """Return the codes of the errors that an answer of an operation may carry."""
    schema = answer["content"]["application/json"]["schema"]
    names = [one["$ref"].rpartition("/")[2] for one in schema.get("oneOf", [schema])]
    errors = [document()["components"]["schemas"][name]["properties"]["error"] for name in names]
    return {code for error in errors for code in (error.get("enum") or error["properties"]["code"]["enum"])}


@cache
def _validator(schema: str) -> Draft202012Validator:
    """Make a validator; the document's components stand beside the schema, where its references point."""
    return Draft202012Validator(_modern({**json.loads(schema), "components": document()["components"]}))


def _modern(node: Any) -> Any:
    """Write OpenAPI 3.0's `nullable` as JSON Schema does."""
    if isinstance(node, list):
        return [_modern(item) for item in node]
    if not isinstance(node, dict):
        return node
    copied = {name: _modern(value) for name, value in node.items() if name != "nullable"}
    return {"anyOf": [copied, {"type": "null"}]} if node.get("nullable") is True else copied
