"""Registered public clients. Browser clients need no row, because their id is their origin."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from gateway.core.api.names import validate_name


class PublicClient(models.Model):
    """A mobile client with its exact redirect URIs, or an origin that the operator registered, for example to waive
    consent.
    """

    client_id = models.CharField(max_length=255, unique=True)
    name = models.CharField(max_length=120, validators=[validate_name])
    redirect_uris = ArrayField(models.CharField(max_length=2048), default=list)
    trusted = models.BooleanField(default=False, help_text="Users of this client are not asked for consent.")
    enabled = models.BooleanField(default=True)

    class Meta:
        db_table = "accounts_public_client"

    def __str__(self) -> str:
        return self.name
