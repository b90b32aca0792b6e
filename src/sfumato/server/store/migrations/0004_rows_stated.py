"""The log states every row from here on: what the tables hold now is taken over."""

from django.db import migrations
from django.utils.module_loading import import_string

STATED = (
    'Account', 'Link', 'Project', 'Member', 'Grant', 'Allowance', 'Spent', 'Dealt',
    'DecisionEvent', 'Resolution',
)


def take_over_rows(apps, schema_editor):
    """Add one entry that states every row, unproved before."""
    models = [apps.get_model('store', name) for name in STATED]
    projects = apps.get_model('store', 'Project').objects.exclude(state='purged')
    # By name: the log imports the tables, which are not to import the log.
    import_string('sfumato.server.audit_log.take_over')(models, projects.iterator())


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0003_attempt_subject'),
    ]

    operations = [
        migrations.RunPython(take_over_rows, migrations.RunPython.noop),
    ]
