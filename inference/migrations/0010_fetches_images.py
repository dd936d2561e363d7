"""Whether an upstream may be sent an image's URL. The default rests in the database: the version before inserts rows too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inference", "0009_alarms")]

    operations = [
        migrations.AddField(
            model_name="upstream",
            name="fetches_images",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Send it an image's https address as it is. Otherwise the gateway fetches and checks the image "
                "itself.",
            ),
        ),
    ]
