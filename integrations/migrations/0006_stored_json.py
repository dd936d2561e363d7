from django.db import migrations, models

import integrations.models.stored_json


class Migration(migrations.Migration):
    dependencies = [
        ("integrations", "0005_remote_runs"),
    ]

    operations = [
        migrations.AlterField(
            model_name="evolutionartifact",
            name="metadata",
            field=models.JSONField(decoder=integrations.models.stored_json.StoredJSONDecoder, default=dict),
        ),
        migrations.AlterField(
            model_name="evolutionevidence",
            name="payload",
            field=models.JSONField(decoder=integrations.models.stored_json.StoredJSONDecoder),
        ),
    ]
