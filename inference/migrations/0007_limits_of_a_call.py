"""Adds the rate limits that apply to a call to the type of a batch's calls."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inference", "0006_messages_adapter"), ("billing", "0012_rate_limits")]

    operations = [
        migrations.RunSQL(
            "ALTER TYPE inference_call ADD ATTRIBUTE limits billing_rate_limit[]",
            "ALTER TYPE inference_call DROP ATTRIBUTE limits",
        ),
    ]
