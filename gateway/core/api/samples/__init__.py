"""Adds samples to the OpenAPI document: each operation as a command, in Python and in TypeScript, built from its description."""

from typing import Any

from gateway.core.api.samples import python, shell, typescript
from gateway.core.api.samples.call import Call, call_of
from gateway.core.api.samples.example import Schema

CODE_SAMPLES = "x-codeSamples"


def add_code_samples(result: Schema, **context: Any) -> Schema:
    """Add the samples to every operation; the last of the drf-spectacular hooks."""
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            operation[CODE_SAMPLES] = _samples(call_of(method, path, operation, result))
    return result


def _samples(call: Call) -> list[dict[str, str]]:
    return [
        {"lang": "Shell", "label": shell.program(call), "source": shell.source(call)},
        {"lang": "Python", "label": "Python", "source": python.source(call)},
        {"lang": "TypeScript", "label": "TypeScript", "source": typescript.source(call)},
    ]
