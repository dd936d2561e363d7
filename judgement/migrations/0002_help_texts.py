"""Rewords help texts of the console. Nothing changes in the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inference", "0012_help_texts"),
        ("judgement", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(
            model_name="judgementsettings",
            name="text_backend",
            field=models.ForeignKey(
                blank=True,
                help_text="The backend that the alias judgement selects.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="inference.alias",
            ),
        ),
        migrations.AlterField(
            model_name="judgementsettings",
            name="vision_backend",
            field=models.ForeignKey(
                blank=True,
                help_text="The backend that the alias judgement-vision selects.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="inference.alias",
            ),
        ),
    ]
