"""Responses that their owners can read again, encrypted."""

from django.db import migrations, models

import gateway.core.encryption.fields
from billing.models.fields import KeyField


class Migration(migrations.Migration):
    dependencies = [("inference", "0010_fetches_images")]

    operations = [
        migrations.CreateModel(
            name="StoredResponse",
            fields=[
                ("id", KeyField(db_collation="C", primary_key=True, serialize=False)),
                ("owner_kind", KeyField(db_collation="C")),
                ("owner_key", KeyField(db_collation="C")),
                ("usage_id", KeyField(db_collation="C")),
                ("status", KeyField(db_collation="C")),
                ("response", gateway.core.encryption.fields.EncryptedTextField()),
                ("input_items", gateway.core.encryption.fields.EncryptedTextField()),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "db_table": "inference_stored_response",
                "indexes": [models.Index(fields=["expires_at"], name="stored_response_expiry")],
            },
        ),
    ]
