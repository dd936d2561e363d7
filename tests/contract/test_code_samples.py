"""Every operation's sample for curl is a request that its own description allows."""

import json
import shlex
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.contract.document import operations, validate

DESCRIBED = operations()


class Command:
    """A sample, taken apart as a shell does."""

    def __init__(self, operation: dict[str, Any]) -> None:
        (sample,) = operation["x-codeSamples"]
        assert (sample["lang"], sample["label"]) == ("Shell", "curl")
        program, option, self.method, self.url, *rest = shlex.split(sample["source"].replace("\\\n", ""))
        assert (program, option) == ("curl", "-X")
        options = list(zip(rest[::2], rest[1::2], strict=True))
        self.headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
        self.bodies = [value for name, value in options if name == "-d"]
        self.fields = dict(value.split("=", 1) for name, value in options if name == "-F")
        assert {name for name, _ in options} <= {"-H", "-d", "-F"}


@pytest.mark.parametrize(("method", "path"), DESCRIBED, ids=map(" ".join, DESCRIBED))
def test_a_sample(method: str, path: str) -> None:
    operation = DESCRIBED[method, path]
    command = Command(operation)
    named = path.replace("{", "$").replace("}", "")
    assert command.method == method
    needed = [
        each["name"] for each in operation.get("parameters", ()) if each.get("in") == "query" and each.get("required")
    ]
    query = "?" + "&".join(f"{name}=${name}" for name in needed) if needed else ""
    assert command.url.lower() == f"https://gateway.example{named}{query}"
    assert ("Authorization" in command.headers) == bool(operation["security"])
    assert command.headers.get("Authorization", "DPoP $ACCESS_TOKEN") == "DPoP $ACCESS_TOKEN"
    _check_parameters(command, operation)
    _check_body(command, operation)


def _check_parameters(command: Command, operation: dict[str, Any]) -> None:
    parameters = operation.get("parameters", ())
    required = {
        parameter["name"]
        for parameter in parameters
        if parameter.get("required") and parameter["in"] not in ("path", "query")
    }
    metered = {"$ref": "#/components/parameters/MaxCost"} in parameters
    wanted = {"Idempotency-Key", "x-service-max-cost-microusd"} if metered else set()
    proof = {"DPoP"} if operation["security"] else set()
    assert required | proof | wanted <= set(command.headers)


def _check_body(command: Command, operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {"content": {}})["content"]
    if form := content.get("multipart/form-data"):
        assert ("Content-Type" not in command.headers, command.bodies) == (True, [])  # curl's own, with its boundary
        validate(command.fields, form["schema"])
        return
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
