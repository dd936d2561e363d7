"""Guarded each table of money by one trigger that looks at statements, as every migrate does now. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0009_bounded_work")]

    operations = []
