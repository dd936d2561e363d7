"""Adds the right to grant small credits, which support has."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0020_what_operators_find")]

    operations = [
        migrations.AlterModelOptions(
            name="creditlot",
            options={
                "permissions": [("grant_small_creditlot", "Can grant credits within the limit of support")],
                "verbose_name": "credit",
            },
        ),
    ]
