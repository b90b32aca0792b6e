"""Entries of the audit log that somebody looks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from sfumato.server.store.models import Account, AuditEntry, Project


class FilterForm(forms.Form):
    """What is looked for; the choices are what the log has."""

    actor = forms.ChoiceField(label="Who", required=False)
    action = forms.ChoiceField(label="What", required=False)
    project = forms.ChoiceField(label="Project", required=False)
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        names = dict(Account.objects.values_list("pseudonym", "name"))
        actors = _distinct("actor")
        self.fields["actor"].choices = [("", "anybody")] + [
            (each or "server", f"{names[each]} ({each})" if each in names else each or "the server")
            for each in actors
        ]
        self.fields["action"].choices = [("", "anything")] + [
            (each, each) for each in _distinct("action")
        ]
        self.fields["project"].choices = [("", "any")] + [
            (str(key), title)
            for key, title in Project.objects.order_by("title").values_list("pk", "title")
        ]


def entries(asked: dict[str, Any]) -> QuerySet[AuditEntry]:
    """The entries that fit, newest first.

    Parameters
    ----------
    asked
        The cleaned fields of a `FilterForm`.
    """
    found = AuditEntry.objects.order_by("-number")
    if asked.get("actor"):
        found = found.filter(actor="" if asked["actor"] == "server" else asked["actor"])
    if asked.get("action"):
        found = found.filter(action=asked["action"])
    if asked.get("project"):
        name = f"project {asked['project']}"
        found = found.filter(Q(resource=name) | Q(resource__startswith=f"{name}/"))
    if asked.get("since"):
        found = found.filter(time__gte=asked["since"].isoformat())
    if asked.get("until"):
        found = found.filter(time__lt=(asked["until"] + timedelta(days=1)).isoformat())
    return found


def details(text: str) -> list[tuple[str, str]]:
    """The details of an entry as names and texts.

    Parameters
    ----------
    text
        As the entry has them.
    """
    try:
        found = json.loads(text)
    except ValueError:
        return [("unreadable", text)]
    if not isinstance(found, dict):
        return [("unreadable", text)]
    return [(name, _plain(value)) for name, value in found.items()]


def readable(resource: str, titles: Mapping[str, str]) -> str:
    """What an entry is about, with the title of its project beside the start of its id.

    Parameters
    ----------
    resource
        As the entry has it.
    titles
        By id, the titles of projects.
    """
    name, _, rest = resource.partition("/")
    kind, _, key = name.partition(" ")
    if kind != "project" or key not in titles:
        return resource
    return f"{titles[key]} ({key[:8]})" + (f": {rest.replace('/', ', ')}" if rest else "")


def json_lines(found: QuerySet[AuditEntry]) -> Iterator[str]:
    """Entries as lines of JSON, oldest first, with all that is needed to check them.

    Parameters
    ----------
    found
        The entries.
    """
    for entry in found.order_by("number").values().iterator(chunk_size=2000):
        yield json.dumps(entry, sort_keys=True) + "\n"


def _distinct(field: str) -> list[str]:
    return list(AuditEntry.objects.order_by(field).values_list(field, flat=True).distinct())


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
