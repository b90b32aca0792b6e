"""Rules are proposed by the manager and accepted by the custodian, those of each project anew."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils.module_loading import import_string

STATES = ('open', 'accepted', 'declined', 'withdrawn', 'replaced')


def propose_rules(apps, schema_editor):
    """Propose to each custodian the rules of projects that are not destroyed."""
    projects = apps.get_model('store', 'Project').objects.exclude(state='purged')
    made = [
        apps.get_model('store', 'Proposal').objects.create(
            project=project, by=project.manager, to=project.custodian, rules=project.settings
        )
        # Nobody consents to rules of their own.
        for project in projects.exclude(custodian=models.F('manager'))
    ]
    if made:
        # By name: the log imports the tables, which are not to import the log.
        stated = import_string('sfumato.server.stated_rows.stated')
        append = import_string('sfumato.server.audit_log.append')
        append(None, 'propose rules', 'database', rows=map(stated, made))


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0005_recovery_identity'),
    ]

    operations = [
        migrations.AddField('project', 'consent', models.BigIntegerField(null=True)),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rules', models.JSONField()),
                ('about', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[(each, each) for each in STATES], default='open', max_length=9)),
                ('reason', models.CharField(default='', max_length=500)),
                ('answered', models.DateTimeField(null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='store.project')),
                ('to', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'proposal',
            },
        ),
        migrations.RunPython(propose_rules, migrations.RunPython.noop),
    ]
