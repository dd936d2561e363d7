"""An upstream's timeout has an upper bound in the console too; what is beyond it becomes the bound."""

import django.core.validators
from django.db import migrations, models

LOWER = "UPDATE inference_upstream SET timeout_seconds = 3600 WHERE timeout_seconds > 3600"


class Migration(migrations.Migration):
    dependencies = [("inference", "0007_open_alone")]

    operations = [
        migrations.RunSQL(LOWER, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="upstream",
            name="timeout_seconds",
            field=models.FloatField(
                default=120.0,
                validators=[
                    django.core.validators.MinValueValidator(0.1),
                    django.core.validators.MaxValueValidator(3600),
                ],
            ),
        ),
        migrations.RemoveConstraint(model_name="upstream", name="upstream_timeout_positive"),
        migrations.AddConstraint(
            model_name="upstream",
            constraint=models.CheckConstraint(
                condition=models.Q(("timeout_seconds__gt", 0), ("timeout_seconds__lte", 3600)),
                name="upstream_timeout_in_range",
            ),
        ),
    ]
