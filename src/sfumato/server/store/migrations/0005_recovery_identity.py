"""Accounts have recovery codes beside the second factor, and open by an organisation's login."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0004_rows_stated'),
    ]

    operations = [
        migrations.AddField('account', 'recovery', models.JSONField(default=list)),
        migrations.AddField('account', 'identity', models.CharField(default='', max_length=64)),
        migrations.AddConstraint(
            'account',
            models.UniqueConstraint(
                condition=models.Q(identity='', _negated=True),
                fields=('identity',),
                name='one_identity',
            ),
        ),
    ]
