"""Adds which credit notes are of refunds at the payment provider; those that there are so far went to wallets."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0018_provider_balance")]

    operations = [
        migrations.AddField("creditnote", "is_refund", models.BooleanField(db_default=False, default=False)),
    ]
