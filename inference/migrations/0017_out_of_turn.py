"""When an upstream was out of turn, and when an operator allowed its connections to be reused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inference", "0016_console_texts")]

    operations = [
        migrations.AddField("upstream", "out_of_turn_at", models.DateTimeField(null=True, editable=False)),
        migrations.AddField("upstream", "connections_trusted_at", models.DateTimeField(null=True, editable=False)),
    ]
