"""People of a source are known again in other files, so that budgets follow them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0006_proposals'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourceSketch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64)),
                ('sketch', models.BinaryField()),
            ],
            options={
                'db_table': 'source_sketch',
            },
        ),
    ]
