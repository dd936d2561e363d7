"""Builds the body that samples of an operation send, from its schema."""

from typing import Any

Schema = dict[str, Any]

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


def example(name: str, schema: Schema, schemas: Schema) -> Any:
    """Build a value that a schema allows: its example, or a known value for a member of this name."""
    if "$ref" in schema:
        return example(name, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "oneOf" in schema:
        return example(name, schema["oneOf"][0], schemas)
    if "example" in schema:
        return schema["example"]
    if "properties" in schema:
        members = schema["properties"]
        shown = [member for member in members if member in schema.get("required", ()) or member in SHOWN]
        return {member: example(member, members[member], schemas) for member in shown}
    choices = schema.get("enum", [VALUES.get(name)])
    return VALUES[name] if VALUES.get(name) in choices else choices[0]
