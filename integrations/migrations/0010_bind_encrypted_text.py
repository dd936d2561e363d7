"""Account keys, environments and inputs are bound to their rows when they are written. Nothing changes in the database."""

from django.db import migrations

from gateway.core.encryption.bound_text import BoundTextField


class Migration(migrations.Migration):
    dependencies = [("integrations", "0009_index_what_is_purged")]

    operations = [
        migrations.AlterField("accountkey", "material", BoundTextField(help_text="The key in base64.")),
        migrations.AlterField("executionconfig", "environment", BoundTextField(default="")),
        migrations.AlterField("sandboxrun", "inputs", BoundTextField(editable=False)),
        migrations.AlterField("evolutionjob", "inputs", BoundTextField(editable=False)),
    ]
