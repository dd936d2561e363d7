"""Help texts and labels of the console. Nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inference", "0015_bind_stored_responses"),
    ]

    operations = [
        migrations.AlterField(
            model_name="deployment",
            name="priority",
            field=models.PositiveIntegerField(
                default=0, help_text="Deployments with the lowest number are tried first."
            ),
        ),
        migrations.AlterField(
            model_name="deployment",
            name="weight",
            field=models.PositiveIntegerField(
                default=1, help_text="The share of calls among deployments of the same priority."
            ),
        ),
        migrations.AlterField(
            model_name="upstream",
            name="bills_errors",
            field=models.BooleanField(
                default=False,
                help_text="The upstream may charge for a call that it answers with an error. Such a call waits for review.",
            ),
        ),
        migrations.AlterField(
            model_name="upstream",
            name="fetches_images",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Send https URLs of images to the upstream instead of fetching and checking the images in the gateway. Only for an upstream that cannot reach your private networks.",
            ),
        ),
    ]
