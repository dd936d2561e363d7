"""Bounds what one step may touch: credits in the order of spending, calls in review by page, wallets one by one."""

from django.db import migrations, models
from django.db.models import ExpressionWrapper, F, Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0008_seals")]

    operations = [
        migrations.AddField("reservation", "next_look_up_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "reservation",
            models.Index(
                condition=Q(closed_at__isnull=True, review_reason__isnull=False),
                fields=["created_at", "id"],
                name="reservation_in_review",
            ),
        ),
        migrations.RemoveIndex("creditlot", "lot_open"),
        migrations.AddIndex(
            "creditlot",
            models.Index(
                F("wallet"),
                ExpressionWrapper(Q(product__isnull=True), models.BooleanField()),
                F("expires_at"),
                F("id"),
                name="lot_open",
                condition=Q(closed_at__isnull=True),
            ),
        ),
    ]
