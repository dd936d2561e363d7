"""The API's description in a normal form, in which only what clients can rely on is left: operations with their scopes, the members
that they read, and the members that they answer.

A member is named by its path (`messages[].content`), and described by its type, its values if they are listed, and whether it is
required (in a request) or always there (in an answer).
"""

import re
from typing import Any

Schema = dict[str, Any]
Members = dict[str, str]

DEPTH_MAX = 6
ERROR_BODIES = ("Error", "MessagesError", "OAuthError")
_CAPABILITY = re.compile(r"Needs the capability `([^`]+)`")


def normal_form(document: Schema) -> dict[str, Any]:
    """Return each operation's form, by method and path, and under `errors` the members of the bodies of all errors."""
    schemas = document["components"]["schemas"]
    return {"errors": {name: _members(schemas[name], document) for name in ERROR_BODIES}} | {
        f"{method.upper()} {path}": _operation(operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def _operation(operation: Schema, document: Schema) -> dict[str, Any]:
    parameters = [_resolved(each, document) for each in operation.get("parameters", ())]
    capability = _CAPABILITY.search(operation.get("description", ""))
    return {
        "scope": capability[1] if capability else "signed" if operation.get("security") else "",
        "parameters": {
            f"{each['in']} {each['name']}": _described(
                each["schema"], document, is_required=each.get("required", False)
            )
            for each in parameters
        },
        "body": _contents(operation.get("requestBody", {}), document),
        "answers": {
            status: _contents(answer, document) for status, answer in operation["responses"].items() if status < "400"
        },
        "errors": {
            status: sorted(_codes(answer, document))
            for status, answer in operation["responses"].items()
            if status >= "400"
        },
    }


def _contents(described: Schema, document: Schema) -> dict[str, Members]:
    """Return the members of a body, by media type."""
    return {
        media: _members(content.get("schema", {}), document) for media, content in described.get("content", {}).items()
    }


def _members(schema: Schema, document: Schema, path: str = "", depth: int = 0) -> Members:
    """Return a schema's members by their paths; what is deeper than a few levels repeats itself."""
    schema = _resolved(schema, document)
    found: Members = {}
    for variant in (
        schema,
        *(_resolved(each, document) for key in ("oneOf", "anyOf", "allOf") for each in schema.get(key, ())),
    ):
        for name, member in variant.get("properties", {}).items():
            inner = f"{path}.{name}" if path else name
            found[inner] = _described(member, document, is_required=name in variant.get("required", ()))
            if depth < DEPTH_MAX:
                found |= _members(member, document, inner, depth + 1)
        if "items" in variant and depth < DEPTH_MAX:
            found |= _members(variant["items"], document, f"{path}[]", depth + 1)
    return found


def _described(schema: Schema, document: Schema, *, is_required: bool) -> str:
    """Return a member in one line: `string, required, one of: day month`."""
    schema = _resolved(schema, document)
    kinds = {schema.get("type", "")} | {
        _resolved(each, document).get("type", "") for key in ("oneOf", "anyOf", "allOf") for each in schema.get(key, ())
    }
    parts = [" or ".join(sorted(kinds - {""})) or "anything"]
    parts += ["null"] if schema.get("nullable") else []
    parts += ["required"] if is_required else []
    values = [str(value) for value in schema.get("enum", ()) if value is not None]
    parts += [f"one of: {' '.join(sorted(values))}"] if values else []
    return ", ".join(parts)


def _codes(answer: Schema, document: Schema) -> set[str]:
    """Return the codes of the errors of one status."""
    codes: set[str] = set()
    for members in _contents(answer, document).values():
        for path in ("error.code", "error"):
            codes |= set(members.get(path, "").partition("one of: ")[2].split())
    for content in answer.get("content", {}).values():
        schema = _resolved(content.get("schema", {}), document)
        for variant in schema.get("oneOf", ()):
            codes |= _codes({"content": {"": {"schema": variant}}}, document)
    return codes


def _resolved(schema: Schema, document: Schema) -> Schema:
    """Follow references to components."""
    while "$ref" in schema:
        kind, name = schema["$ref"].split("/")[-2:]
        schema = document["components"][kind][name]
    if len(schema.get("allOf", ())) == 1:
        return _resolved(
            {**_resolved(schema["allOf"][0], document), **{k: v for k, v in schema.items() if k != "allOf"}}, document
        )
    return schema
