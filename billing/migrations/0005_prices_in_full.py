"""Cache writes, service tiers and price bands of usage records. Null in records from before: no such price existed."""

from django.db import migrations, models

import billing.models.fields


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_calls")]

    operations = [
        migrations.AddField("usagerecord", "cache_write_tokens", models.BigIntegerField(null=True)),
        migrations.AddField("usagerecord", "cache_write_1h_tokens", models.BigIntegerField(null=True)),
        migrations.AddField("usagerecord", "service_tier", billing.models.fields.KeyField(db_collation="C", null=True)),
        migrations.AddField("usagerecord", "price_band", models.BigIntegerField(null=True)),
    ]
