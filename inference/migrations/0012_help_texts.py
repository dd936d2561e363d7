"""Rewords help texts of the console. Nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inference", "0011_stored_responses"),
    ]

    operations = [
        migrations.AlterField(
            model_name="deployment",
            name="model",
            field=models.CharField(help_text="The upstream's name for the model.", max_length=200),
        ),
        migrations.AlterField(
            model_name="upstream",
            name="alarms",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text="How often the upstream returned an error that only an operator can fix.",
            ),
        ),
        migrations.AlterField(
            model_name="upstream",
            name="bills_errors",
            field=models.BooleanField(
                default=False, help_text="An error response may have cost money, so the call waits for reconciliation."
            ),
        ),
        migrations.AlterField(
            model_name="upstream",
            name="fetches_images",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Send the https URLs of images to the upstream. Otherwise, the gateway fetches and checks the images itself.",
            ),
        ),
    ]
