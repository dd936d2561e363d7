"""`integrations`: the product servers whose assertions are exchanged for tokens. SPEC: Trusted server exchange."""

from typing import Annotated, Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from pydantic import AfterValidator, Field

from accounts.models import Integration
from accounts.models.validators import JWKS_KEYS_MAX, validate_jwks
from accounts.rules import jwk
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import Row, SectionRow, Tables
from gateway.config.run import WARNING, Run
from gateway.config.texts import Audience, DidPrefix, Scope, Slug, reference
from gateway.config.urls import Party


def _public_key(value: dict[str, Any]) -> dict[str, Any]:
    try:
        jwk.parse(value)
    except jwk.JwkError as error:
        raise ValueError(f"not a usable public key: {error}") from None
    return value


def _key_ids(keys: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        validate_jwks({"keys": keys})
    except ValidationError as error:
        raise ValueError(" ".join(error.messages)) from None
    return keys


class KeySet(Row):
    """A JWK set of public keys (RFC 7517 section 5)."""

    keys: Annotated[
        list[Annotated[dict[str, Any], AfterValidator(_public_key)]],
        Field(min_length=1, max_length=JWKS_KEYS_MAX),
        AfterValidator(_key_ids),
    ]


class IntegrationRow(SectionRow):
    """An integration; `capabilities` is the most that it may ever grant. A new one without `audience` gets this
    gateway's address."""

    identity: ClassVar[str | None] = "issuer"
    tables: ClassVar[Tables] = (Integration,)

    issuer: Party
    product: Annotated[Slug, reference("products", "product")]
    audience: Audience = ""
    did_prefix: DidPrefix
    capabilities: Annotated[list[Scope], Field(min_length=1, max_length=200)]
    jwks: KeySet
    enabled: bool = True

    def save(self, run: Run, path: Path) -> None:
        values = self.stated("audience", "did_prefix", "enabled")
        values["product_id"] = self.product
        values["capabilities"] = list(dict.fromkeys(self.capabilities))
        values["jwks"] = self.jwks.model_dump()
        label = f"integration {self.issuer}"
        stored = run.upsert(Integration, label, lookup={"issuer": self.issuer}, values=values)
        if run.only_check and stored.audience != settings.GATEWAY_BASE_URL:
            run.add_line(
                WARNING,
                f"{label}: its audience is {stored.audience}, not this gateway's address, {settings.GATEWAY_BASE_URL}",
            )

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        return [
            {
                "product": row.product_id,
                "issuer": row.issuer,
                "audience": row.audience,
                "did_prefix": row.did_prefix,
                "capabilities": row.capabilities,
                "jwks": {"keys": row.jwks.get("keys", [])},
                "enabled": row.enabled,
            }
            for row in Integration.objects.order_by("issuer")
        ]
