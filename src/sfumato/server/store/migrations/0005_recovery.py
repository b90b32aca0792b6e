"""Accounts have recovery codes beside the second factor; those that have one get them on demand."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0004_rows_stated'),
    ]

    operations = [
        migrations.AddField('account', 'recovery', models.JSONField(default=list)),
    ]
