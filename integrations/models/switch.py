"""On/off switches of optional integrations."""

from django.db import models


class IntegrationSwitch(models.Model):
    """The switch of one integration. Without a row it is off."""

    class Name(models.TextChoices):
        """The integrations that have a switch."""

        ACCOUNT_KEY_SYNC = "account_key_sync", "Account key sync"
        EVOLUTION = "evolution", "Evolution"

    name = models.CharField(primary_key=True, max_length=32, choices=Name.choices)
    enabled = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "integration switches"

    def __str__(self) -> str:
        return self.get_name_display()
