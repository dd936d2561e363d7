"""Names of accounts, products and public clients show as they are written. Changes no table."""

from django.db import migrations, models

from gateway.api.names import validate_name


def _name(**options: object) -> models.CharField:
    return models.CharField(max_length=120, validators=[validate_name], **options)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_limits")]

    operations = [
        migrations.AlterField("account", "display_name", _name(blank=True)),
        migrations.AlterField("product", "name", _name()),
        migrations.AlterField("publicclient", "name", _name()),
    ]
