"""Generates a value that is valid under a JSON schema. Deterministic; ignores `pattern`.

Supports the keywords of JSON Schema 2020-12 that vendors accept for tools and response formats.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

DEPTH_MAX = 24
"""The depth at which null ends an endless self-reference, if the schema allows null. At twice this depth, null always does."""

WORK_MAX = 5000
"""The limit of steps for one schema. One that refers to itself several times would otherwise grow without bound."""

_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1M",
    "email": "demo@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def value_for(schema: Any) -> Any:
    """Generate a value for a schema. Raises ValueError, or any error that a broken reference causes."""
    return _Maker(schema).value(schema, 0)


class _Maker:
    """Generates values within one root schema, which resolves references."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.work = 0
        self.makers: dict[str, Callable[[Mapping[str, Any], int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": _string,
            "integer": _integer,
            "number": _number,
            "boolean": lambda schema, depth: True,
        }

    def value(self, schema: Any, depth: int) -> Any:
        if depth > 2 * DEPTH_MAX:
            return None
        if not isinstance(schema, Mapping):
            return "demo"
        schema = self._resolved(schema, depth)
        for keyword in ("const", "default"):
            if keyword in schema:
                return schema[keyword]
        for keyword in ("enum", "examples"):
            if schema.get(keyword):
                return schema[keyword][0]
        return self.makers.get(_type_of(schema, depth), lambda schema, depth: None)(schema, depth)

    def _resolved(self, schema: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        """Resolve references and alternatives until only plain keywords are left. The alternatives' keywords take precedence."""
        for _ in range(DEPTH_MAX):
            self._work()
            if isinstance(reference := schema.get("$ref"), str):
                schema = {**_without(schema, "$ref"), **self._referred(reference)}
            elif parts := schema.get("allOf"):
                schema = _merged([_without(schema, "allOf"), *(self._resolved(part, depth + 1) for part in parts)])
            elif keyword := next((word for word in ("anyOf", "oneOf") if schema.get(word)), None):
                schema = {**_without(schema, keyword), **_preferred(schema[keyword], depth)}
            else:
                break
        return schema

    def _work(self) -> None:
        self.work += 1
        if self.work > WORK_MAX:
            raise ValueError("the schema is too large")

    def _referred(self, reference: str) -> Mapping[str, Any]:
        found = self.root
        for step in reference.removeprefix("#").split("/"):
            if step:
                found = found[step.replace("~1", "/").replace("~0", "~")]
        return found if isinstance(found, Mapping) else {}

    def _object(self, schema: Mapping[str, Any], depth: int) -> Any:
        required = schema.get("required") or ()
        properties = schema.get("properties") or {}
        names = [name for name in properties if name in required or depth < DEPTH_MAX // 4]
        names += [name for name in required if name not in properties]
        return {name: self.value(properties.get(name, {}), depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], depth: int) -> Any:
        first = [self.value(item, depth + 1) for item in schema.get("prefixItems") or ()]
        wanted = max(schema.get("minItems", 0), 0 if depth >= DEPTH_MAX // 4 or "items" not in schema else 1)
        wanted = min(wanted, schema.get("maxItems", wanted))
        items = schema.get("items", {})
        return first + [self.value(items, depth + 1) for _ in range(min(wanted, 1000) - len(first))]


def _type_of(schema: Mapping[str, Any], depth: int) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        # At this depth, null ends what would otherwise refer to itself forever.
        return "null" if "null" in kind and depth >= DEPTH_MAX else next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _preferred(alternatives: list[Any], depth: int) -> Mapping[str, Any]:
    choices = [choice for choice in alternatives if isinstance(choice, Mapping)]
    is_null = [choice.get("type") == "null" for choice in choices]
    wanted = depth >= DEPTH_MAX // 4 and any(is_null)
    return next((choice for choice, null in zip(choices, is_null, strict=True) if null == wanted), choices[0])


def _merged(parts: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        both = {
            "properties": {**merged.get("properties", {}), **part.get("properties", {})},
            "required": [*merged.get("required", []), *part.get("required", [])],
        }
        merged |= {**part, **{name: value for name, value in both.items() if value}}
    return merged


def _without(schema: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    return {name: value for name, value in schema.items() if name != keyword}


def _string(schema: Mapping[str, Any], depth: int) -> str:
    text = _FORMATS.get(schema.get("format", ""), "demo")
    text = text.ljust(min(schema.get("minLength", 0), 1000), ".")
    return text[: schema.get("maxLength", len(text))]


def _integer(schema: Mapping[str, Any], depth: int) -> int:
    step = max(1, math.ceil(schema.get("multipleOf", 1)))
    least = math.ceil(_least(schema, 1))
    value = -(-least // step) * step
    return value if value <= _most(schema, value) else math.floor(_most(schema, value)) // step * step


def _number(schema: Mapping[str, Any], depth: int) -> float | int:
    if schema.get("multipleOf"):
        step = schema["multipleOf"]
        return math.ceil(_least(schema, 0) / step) * step
    least = _least(schema, 0)
    most = _most(schema, least + 1)
    return least if least == most else (least + most) / 2


def _least(schema: Mapping[str, Any], step: int) -> float:
    least = max(schema.get("minimum", -math.inf), _above(schema, step))
    return least if math.isfinite(least) else min(1, math.floor(_most(schema, 1)))


def _above(schema: Mapping[str, Any], step: int) -> float:
    return schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else -math.inf


def _most(schema: Mapping[str, Any], otherwise: float) -> float:
    below = schema["exclusiveMaximum"] - 1e-9 if "exclusiveMaximum" in schema else math.inf
    most = min(schema.get("maximum", math.inf), below)
    return most if math.isfinite(most) else otherwise
