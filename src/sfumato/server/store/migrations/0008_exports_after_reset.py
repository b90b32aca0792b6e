"""A custodian may confirm that a manager whose password was reset exports."""

from django.db import migrations, models

KINDS = ('identity export', 'budget', 'k', 'after a reset')


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0007_source_sketches'),
    ]

    operations = [
        migrations.AlterField(
            model_name='grant',
            name='kind',
            field=models.CharField(choices=[(kind, kind) for kind in KINDS], max_length=16),
        ),
    ]
