"""Every operation's sample for a shell is a request that its own description allows."""

import json
import shlex
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.contract.document import operations, validate

DESCRIBED = operations()
MAX_COST = {"$ref": "#/components/parameters/MaxCost"}


class Command:
    """A shell's sample, taken apart as a shell does."""

    def __init__(self, operation: dict[str, Any]) -> None:
        (sample,) = [each for each in operation["x-codeSamples"] if each["lang"] == "Shell"]
        self.program, *words = shlex.split(sample["source"].replace("\\\n", ""))
        assert sample["label"] == self.program
        if self.program == "agw":
            action, self.method, self.url, *rest = words
            assert action == "request"
        else:
            option, self.method, self.url, *rest = words
            assert option == "-X"
        options = list(zip(rest[::2], rest[1::2], strict=True))
        self.headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
        self.bodies = [value for name, value in options if name == "-d"]
        self.fields = dict(value.split("=", 1) for name, value in options if name == "-F")
        self.max_cost = [value for name, value in options if name == "--max-cost"]
        assert {name for name, _ in options} <= ({"-d", "--max-cost"} if self.program == "agw" else {"-H", "-d", "-F"})


@pytest.mark.parametrize(("method", "path"), DESCRIBED, ids=map(" ".join, DESCRIBED))
def test_a_command(method: str, path: str) -> None:
    operation = DESCRIBED[method, path]
    command = Command(operation)
    named = path.replace("{", "$").replace("}", "")
    assert command.method == method
    needed = [
        each["name"] for each in operation.get("parameters", ()) if each.get("in") == "query" and each.get("required")
    ]
    query = "?" + "&".join(f"{name}=${name}" for name in needed) if needed else ""
    server = "" if command.program == "agw" else "https://gateway.example"
    assert command.url.lower() == f"{server}{named}{query}"
    if command.program == "agw":
        assert operation["security"]
        assert command.max_cost == (["0.02"] if MAX_COST in operation.get("parameters", ()) else [])
    else:
        assert ("Authorization" in command.headers) == bool(operation["security"])
        assert command.headers.get("Authorization", "DPoP $ACCESS_TOKEN") == "DPoP $ACCESS_TOKEN"
        _check_parameters(command, operation)
    _check_body(command, operation)


def test_only_what_the_command_line_cannot_send_is_left_to_curl() -> None:
    left = {
        key for key, operation in DESCRIBED.items() if operation["security"] and Command(operation).program == "curl"
    }
    assert left == {
        ("POST", "/v1/audio/transcriptions"),
        ("POST", "/v1/audio/translations"),
        ("GET", "/v1/realtime"),
    }


@pytest.mark.parametrize("language", ["Python", "TypeScript"])
def test_every_operation_has_a_sample_in_each_language(language: str) -> None:
    """`tests/interop/test_reference_samples.py` runs them."""
    for key, operation in DESCRIBED.items():
        (sample,) = [each for each in operation["x-codeSamples"] if each["lang"] == language]
        assert max(map(len, sample["source"].splitlines())) <= 140, key


def _check_parameters(command: Command, operation: dict[str, Any]) -> None:
    parameters = operation.get("parameters", ())
    required = {
        parameter["name"]
        for parameter in parameters
        if parameter.get("required") and parameter["in"] not in ("path", "query")
    }
    metered = MAX_COST in parameters
    wanted = {"Idempotency-Key", "x-service-max-cost-microusd"} if metered else set()
    proof = {"DPoP"} if operation["security"] else set()
    assert required | proof | wanted <= set(command.headers)


def _check_body(command: Command, operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {"content": {}})["content"]
    if form := content.get("multipart/form-data"):
        assert ("Content-Type" not in command.headers, command.bodies) == (True, [])  # curl's own, with its boundary
        validate(command.fields, form["schema"])
        return
    if command.program == "curl":
        assert [command.headers.get("Content-Type")] == (list(content) or [None])
    assert len(command.bodies) == len(content)
    for (media, described), text in zip(content.items(), command.bodies, strict=True):
        validate(json.loads(text) if media == "application/json" else dict(parse_qsl(text)), described["schema"])


@pytest.mark.parametrize(
    ("path", "member"),
    [("/v1/organizations/{org_id}/billing/checkout", "amountMicros"), ("/v1/public/token", "dpop_jwk")],
)
def test_a_sample_shows_what_its_variant_needs(path: str, member: str) -> None:
    """A top-up needs an amount, and an EC key its second coordinate; the schemas cannot say so."""
    body = json.loads(Command(DESCRIBED["POST", path]).bodies[0])
    assert body[member] if member != "dpop_jwk" else body[member]["y"]
