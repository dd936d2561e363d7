"""Names of accounts, products and public clients show as they are written. Changes no table."""

from django.db import migrations, models

from gateway.core.api.names import validate_name


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_limits")]

    operations = [
        migrations.AlterField(
            "account", "display_name", models.CharField(max_length=120, blank=True, validators=[validate_name])
        ),
        migrations.AlterField("product", "name", models.CharField(max_length=120, validators=[validate_name])),
        migrations.AlterField("publicclient", "name", models.CharField(max_length=120, validators=[validate_name])),
    ]
