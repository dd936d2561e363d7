"""Adds the hash of a call's body as it was sent, and the index that finds the seal of a closed call."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0007_costs")]

    operations = [
        migrations.AddIndex("seal", models.Index(fields=["ends_at"], name="seal_by_end")),
        migrations.AddField("call", "body_sha256", models.BinaryField(null=True)),
    ]
