"""Stored responses are bound to their rows when they are written. Nothing changes in the database."""

from django.db import migrations

from gateway.core.encryption.bound_text import BoundTextField

BOUND_TO = ["id", "owner_kind", "owner_key"]


class Migration(migrations.Migration):
    dependencies = [("inference", "0014_type_of_a_call")]

    operations = [
        migrations.AlterField("storedresponse", "response", BoundTextField(bound_to=BOUND_TO)),
        migrations.AlterField("storedresponse", "input_items", BoundTextField(bound_to=BOUND_TO)),
    ]
