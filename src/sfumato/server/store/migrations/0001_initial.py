"""The first tables."""

import django.db.models.deletion
import sfumato.server.store.models
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('name', models.CharField(max_length=150, unique=True)),
                ('pseudonym', models.CharField(default=sfumato.server.store.models.new_pseudonym, max_length=16, unique=True)),
                ('roles', models.JSONField(default=list)),
                ('is_active', models.BooleanField(default=True)),
                ('totp', models.BinaryField(default=b'')),
                ('totp_used', models.BigIntegerField(default=0)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'account',
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                ('time', models.CharField(max_length=32)),
                ('actor', models.CharField(max_length=16)),
                ('action', models.CharField(max_length=40)),
                ('resource', models.CharField(max_length=80)),
                ('detail', models.TextField()),
                ('previous', models.CharField(max_length=64)),
                ('digest', models.CharField(max_length=64)),
                ('signature', models.CharField(max_length=128)),
            ],
            options={
                'db_table': 'audit_entry',
            },
        ),
        migrations.CreateModel(
            name='LoginAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(db_index=True, max_length=64)),
                ('address', models.CharField(db_index=True, max_length=64)),
                ('time', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'db_table': 'login_attempt',
            },
        ),
        migrations.CreateModel(
            name='Dealt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=sfumato.server.store.models.new_token, max_length=16, unique=True)),
                ('place', models.PositiveIntegerField()),
                ('taken_back', models.DateTimeField(null=True)),
                ('shown', models.DateTimeField(null=True)),
                ('modes', models.CharField(default='', max_length=64)),
                ('answer', models.SmallIntegerField(default=0)),
                ('skipped', models.BooleanField(default=False)),
                ('flagged', models.BooleanField(default=False)),
                ('note', models.BinaryField(default=b'')),
                ('seconds', models.FloatField(null=True)),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dealt', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'dealt',
            },
        ),
        migrations.CreateModel(
            name='DecisionEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('decided', 'decided'), ('withdrawn', 'withdrawn'), ('skipped', 'skipped'), ('flagged', 'flagged'), ('unflagged', 'unflagged')], max_length=12)),
                ('answer', models.SmallIntegerField(default=0)),
                ('time', models.DateTimeField(auto_now_add=True)),
                ('dealt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='store.dealt')),
            ],
            options={
                'db_table': 'decision_event',
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('open', 'open'), ('closed', 'closed'), ('purged', 'purged')], default=sfumato.server.store.models.ProjectState['OPEN'], max_length=8)),
                ('attributes', models.JSONField()),
                ('settings', models.JSONField()),
                ('page_size', models.PositiveSmallIntegerField(default=10)),
                ('overlap', models.PositiveSmallIntegerField(default=1)),
                ('gold_share', models.FloatField(default=0.0)),
                ('fingerprint', models.CharField(db_index=True, max_length=64)),
                ('wrapped_key', models.BinaryField()),
                ('rows', models.BigIntegerField(default=0)),
                ('combined_units', models.BigIntegerField(default=0)),
                ('weights', models.JSONField(default=dict)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('closed', models.DateTimeField(null=True)),
                ('custodian', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='owned', to=settings.AUTH_USER_MODEL)),
                ('manager', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='managed', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'project',
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('purpose', models.CharField(choices=[('setup', 'set-up'), ('invitation', 'invitation'), ('reset', 'new password')], max_length=16)),
                ('roles', models.JSONField(default=list)),
                ('expires', models.DateTimeField()),
                ('used', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='resets', to=settings.AUTH_USER_MODEL)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='store.project')),
            ],
            options={
                'db_table': 'link',
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('identity export', 'identity export'), ('budget', 'budget'), ('k', 'k')], max_length=16)),
                ('detail', models.JSONField(default=dict)),
                ('expires', models.DateTimeField(null=True)),
                ('used', models.DateTimeField(null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('to', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='store.project')),
            ],
            options={
                'db_table': 'permission_grant',
            },
        ),
        migrations.AddField(
            model_name='dealt',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dealt', to='store.project'),
        ),
        migrations.CreateModel(
            name='Spent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fingerprint', models.CharField(max_length=64)),
                ('worker', models.CharField(max_length=16)),
                ('score', models.FloatField(default=0.0)),
            ],
            options={
                'db_table': 'spent',
                'constraints': [models.UniqueConstraint(fields=('fingerprint', 'worker'), name='one_spent')],
            },
        ),
        migrations.CreateModel(
            name='StoredPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('gold', models.BooleanField(default=False)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='store.project')),
            ],
            options={
                'db_table': 'pair',
            },
        ),
        migrations.CreateModel(
            name='Resolution',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('modes', models.CharField(default='', max_length=64)),
                ('answer', models.SmallIntegerField(default=0)),
                ('time', models.DateTimeField(auto_now=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pair', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='resolution', to='store.storedpair')),
            ],
            options={
                'db_table': 'resolution',
            },
        ),
        migrations.AddField(
            model_name='dealt',
            name='pair',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dealt', to='store.storedpair'),
        ),
        migrations.CreateModel(
            name='Member',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='store.project')),
            ],
            options={
                'db_table': 'member',
                'constraints': [models.UniqueConstraint(fields=('project', 'account'), name='one_member')],
            },
        ),
        migrations.CreateModel(
            name='Allowance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rows', models.BigIntegerField(default=0)),
                ('units', models.BigIntegerField(default=0)),
                ('spent', models.FloatField(default=0.0)),
                ('budget', models.FloatField(null=True)),
                ('version', models.BigIntegerField(default=0)),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowances', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowances', to='store.project')),
            ],
            options={
                'db_table': 'allowance',
                'constraints': [models.UniqueConstraint(fields=('project', 'worker'), name='one_allowance')],
            },
        ),
        migrations.AddConstraint(
            model_name='storedpair',
            constraint=models.UniqueConstraint(fields=('project', 'number'), name='one_pair'),
        ),
        migrations.AddIndex(
            model_name='dealt',
            index=models.Index(fields=['project', 'worker', 'place'], name='dealt_project_6a35c7_idx'),
        ),
        migrations.AddConstraint(
            model_name='dealt',
            constraint=models.UniqueConstraint(fields=('worker', 'pair'), name='dealt_once'),
        ),
    ]
