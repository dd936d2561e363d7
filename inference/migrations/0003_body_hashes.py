"""Adds the hash of a body as it was sent to the type of a batch's calls."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("inference", "0002_since_0_1")]

    operations = [
        migrations.RunSQL(
            "ALTER TYPE inference_call ADD ATTRIBUTE body_sha256 text",
            "ALTER TYPE inference_call DROP ATTRIBUTE body_sha256",
        ),
    ]
