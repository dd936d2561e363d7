"""The adapters' labels in the console. Nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inference", "0017_out_of_turn"),
    ]

    operations = [
        migrations.AlterField(
            model_name="upstream",
            name="adapter",
            field=models.CharField(
                choices=[
                    ("openai", "OpenAI"),
                    ("voyage", "Voyage"),
                    ("cohere", "Cohere"),
                    ("representation", "Representation"),
                    ("judgement", "Judgement"),
                    ("realtime", "Realtime"),
                    ("demo", "Demo"),
                ],
                max_length=32,
            ),
        ),
    ]
