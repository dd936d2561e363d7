"""Adds the sums of days, so that the console's home page does not read two months of hours."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("telemetry", "0001_telemetry")]

    operations = [
        migrations.CreateModel(
            name="TrafficDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("requests", models.BigIntegerField()),
                ("failures", models.BigIntegerField()),
            ],
            options={"db_table": "telemetry_day"},
        ),
    ]
