"""Keeps look-ups of idempotency keys off the index of a wallet's calls by time."""

from datetime import UTC, datetime

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_functions")]

    operations = [
        migrations.RemoveIndex(model_name="reservation", name="reservation_of_wallet"),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(
                condition=Q(created_at__gt=datetime(2000, 1, 1, tzinfo=UTC)),
                fields=["wallet", "created_at"],
                name="reservation_of_wallet",
            ),
        ),
    ]
