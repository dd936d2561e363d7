"""Allowed values of the portal's cosmetic `product` parameter. SPEC: Appearance handoff."""

from django.db import models


class AppearanceProduct(models.Model):
    """A product identifier on the allowlist. It never selects a client, changes scopes or grants access."""

    slug = models.SlugField(max_length=64, unique=True)

    class Meta:
        db_table = "accounts_appearance_product"

    def __str__(self) -> str:
        return self.slug
