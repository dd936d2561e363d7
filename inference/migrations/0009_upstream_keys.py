"""Adds the keys that are valid beside an upstream's key while it is replaced."""

from django.db import migrations, models

import gateway.core.encryption.fields


class Migration(migrations.Migration):
    dependencies = [("inference", "0008_deployment_troubles")]

    operations = [
        migrations.AddField(
            model_name="upstream",
            name="api_key_set_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="upstream",
            name="next_api_key",
            field=gateway.core.encryption.fields.EncryptedTextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="upstream",
            name="previous_api_key",
            field=gateway.core.encryption.fields.EncryptedTextField(blank=True, db_default="", default=""),
        ),
    ]
