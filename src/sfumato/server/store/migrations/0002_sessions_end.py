"""Sessions are stored under digests of their ids: those whose ids are in the clear end."""

from django.db import migrations


def end_sessions(apps, schema_editor):
    """Delete every session; who was logged in logs in again."""
    apps.get_model('sessions', 'Session').objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0001_initial'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(end_sessions, migrations.RunPython.noop),
    ]
