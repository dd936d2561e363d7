"""Adds when the database was told that an invoice was issued, paid or void, and how a payment of it ended: seals go by it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0016_calls_of_member")]

    operations = [
        migrations.AddField("invoice", "issue_recorded_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("invoice", "end_recorded_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("invoicepayment", "end_recorded_at", models.DateTimeField(editable=False, null=True)),
    ]
