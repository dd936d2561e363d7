"""Products: organizations have seats for them and integrations act for them."""

from django.core.validators import MinValueValidator
from django.db import models

from gateway.core.api.names import validate_name


class Product(models.Model):
    """A product. Other apps refer to it only by its slug."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120, validators=[validate_name])
    seat_price_microusd = models.BigIntegerField(default=0, validators=[MinValueValidator(0)])

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(seat_price_microusd__gte=0), name="accounts_product_price_min")
        ]

    def __str__(self) -> str:
        return self.name
