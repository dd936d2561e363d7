"""Adds when the database was told what the match read, found and closed: seals go by it."""

from django.db import migrations, models

TABLES = ("providermovement", "matchedday", "paymentdifference", "differenceclosing")


class Migration(migrations.Migration):
    dependencies = [("billing", "0019_credit_notes_of_refunds")]

    operations = [
        migrations.AddField(table, "recorded_at", models.DateTimeField(editable=False, null=True)) for table in TABLES
    ]
