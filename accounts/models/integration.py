"""Trusted product servers: whom their assertions may name and which capabilities they may grant."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.product import Product
from accounts.models.validators import validate_capabilities, validate_did_prefix, validate_jwks
from accounts.rules.assertion import Issuer


def gateway_address() -> str:
    """Return the audience of a new integration: this gateway's public address."""
    return str(settings.GATEWAY_BASE_URL)


class Integration(models.Model):
    """An integration. It can grant only `capabilities`; `jwks` holds only public keys."""

    issuer = models.CharField(max_length=255, unique=True)
    audience = models.CharField(max_length=255, default=gateway_address)
    product = models.ForeignKey(Product, models.PROTECT, to_field="slug", related_name="integrations")
    did_prefix = models.CharField("DID prefix", max_length=255, validators=[validate_did_prefix])
    capabilities = ArrayField(models.CharField(max_length=255), default=list, validators=[validate_capabilities])
    jwks = models.JSONField("JWKS", validators=[validate_jwks])
    enabled = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.issuer

    def as_issuer(self) -> Issuer:
        """Return the values that assertions are checked against."""
        return Issuer(
            name=self.issuer,
            audience=self.audience,
            product=self.product_id,
            did_prefix=self.did_prefix,
            capabilities=tuple(self.capabilities),
            keys=tuple(self.jwks.get("keys", ())),
        )
