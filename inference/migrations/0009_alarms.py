"""An upstream's last alarm, and how many there were. Defaults rest in the database: the version before inserts rows too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inference", "0008_timeouts_in_range")]

    operations = [
        migrations.AddField(
            model_name="upstream",
            name="alarms",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                editable=False,
                help_text="How often it answered what only an operator can mend.",
            ),
        ),
        migrations.AddField(
            model_name="upstream",
            name="last_alarm",
            field=models.TextField(db_default="", default="", editable=False),
        ),
        migrations.AddField(
            model_name="upstream",
            name="last_alarm_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
