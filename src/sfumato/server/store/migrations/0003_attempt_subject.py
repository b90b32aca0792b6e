"""An attempt to log in counts for a name, a browser or an account."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0002_sessions_end'),
    ]

    operations = [
        migrations.RenameField(
            model_name='loginattempt',
            old_name='name',
            new_name='subject',
        ),
    ]
