"""Adds curl samples to the OpenAPI document, built from each operation's description."""

import json
import re
import shlex
from typing import Any
from urllib.parse import urlencode

from gateway.core.api.schema_components import METERED_PARAMETERS, SECURITY, reference
from gateway.core.contract import headers

CODE_SAMPLES = "x-codeSamples"
FORM = "application/x-www-form-urlencoded"
FORM_WITH_FILES = "multipart/form-data"
MAX_COST_EXAMPLE_MICROUSD = 20_000
# Values for body members whose schema gives no example.
VALUES: dict[str, Any] = {
    "amountMicros": 5_000_000,
    "artifactId": "art_01m7yshq1s6zw3kzc8ypm54agq",
    "assertion": "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
    "client_id": "https://app.example",
    "code": "code-from-the-redirect",
    "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",  # RFC 7636 appendix B
    "command": ["sh", "-c", "echo hello"],
    "content": "Answer in one sentence.",
    "expectedRevision": 0,
    "externalOrgId": "acct_1",
    "idempotencyKey": "order-1",
    "inputs": ["art_01m7yshq1s6zw3kzc8ypm54agq"],
    "kind": "prompt",
    "limitMicrousd": 50_000_000,
    "maxSeats": 10,
    "name": "Acme",
    "orgId": "org_01m7yshq1s6zw3kzc8ypm54agq",
    "payload": {"accuracy": 0.9},
    "product": "studio",
    "program": "refine",
    "projectId": "prj_01m7yshq1s6zw3kzc8ypm54agq",
    "provider": "stripe",
    "redirect_uri": "https://app.example/callback",
    "refresh_token": "refresh-token",
    "role": "member",
    "token": "token-of-the-invitation",
    "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",  # RFC 9449 section 4.1
    "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
}
# Optional in their schemas, because some variants do without them, but needed by the variants that the samples show.
SHOWN = {"amountMicros", "command", "y"}

Schema = dict[str, Any]


def add_code_samples(result: dict[str, Any], **context: Any) -> dict[str, Any]:
    """Add a curl sample to every operation; the last of the drf-spectacular hooks."""
    server, schemas = result["servers"][0]["url"], result["components"]["schemas"]
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            source = _curl(method.upper(), server + path, operation, schemas)
            operation[CODE_SAMPLES] = [{"lang": "Shell", "label": "curl", "source": source}]
    return result


def _curl(method: str, url: str, operation: Schema, schemas: Schema) -> str:
    """Build the command. Values that differ between callers are shell variables: `$ORG_ID`, `$ACCESS_TOKEN`."""
    address = re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", url)
    address += _query(operation)
    sent = (f'-H "{line}"' for line in _headers(operation))
    return " \\\n  ".join((f'curl -X {method} "{address}"', *sent, *_data(operation, schemas)))


def _query(operation: Schema) -> str:
    """Build the query of the required parameters."""
    parameters = (each for each in operation.get("parameters", ()) if each.get("in") == "query")
    named = [f"{each['name']}=${each['name'].upper()}" for each in parameters if each.get("required")]
    return f"?{'&'.join(named)}" if named else ""


def _headers(operation: Schema) -> list[str]:
    """List the operation's required headers, each as one line."""
    parameters = operation.get("parameters", ())
    proven = SECURITY in operation["security"]
    lines = [f"Authorization: {headers.DPOP} $ACCESS_TOKEN"] if proven else []
    if proven or any(parameter.get("name") == headers.DPOP for parameter in parameters):
        lines.append(f"{headers.DPOP}: $PROOF")
    if reference("parameters", METERED_PARAMETERS[-1]) in parameters:
        lines += [f"{headers.IDEMPOTENCY_KEY}: $(uuidgen)", f"{headers.MAX_COST}: {MAX_COST_EXAMPLE_MICROUSD}"]
    return lines


def _data(operation: Schema, schemas: Schema) -> list[str]:
    """Build the body's options; none if the operation takes no body."""
    if "requestBody" not in operation:
        return []
    media, content = next(iter(operation["requestBody"]["content"].items()))
    body = _example("", content["schema"], schemas)
    if media == FORM_WITH_FILES:  # curl sets the header, because it chooses the boundary
        return [f"-F {shlex.quote(f'{name}={value}')}" for name, value in body.items()]
    text = urlencode(body) if media == FORM else json.dumps(body, ensure_ascii=False)
    return [f'-H "Content-Type: {media}"', f"-d {shlex.quote(text)}"]


def _example(name: str, schema: Schema, schemas: Schema) -> Any:
    """Build a value that a schema allows: its example, or a known value for a member of this name."""
    if "$ref" in schema:
        return _example(name, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "oneOf" in schema:
        return _example(name, schema["oneOf"][0], schemas)
    if "example" in schema:
        return schema["example"]
    if "properties" in schema:
        members = schema["properties"]
        shown = [member for member in members if member in schema.get("required", ()) or member in SHOWN]
        return {member: _example(member, members[member], schemas) for member in shown}
    choices = schema.get("enum", [VALUES.get(name)])
    return VALUES[name] if VALUES.get(name) in choices else choices[0]
