"""The forms with which files are uploaded."""

from __future__ import annotations

from typing import Any

from django import forms

from sfumato.core.errors import InputError
from sfumato.server.manager.file_checks import check_files
from sfumato.server.manager.sources import (
    FURTHER,
    GOLD,
    ID_COLUMN,
    LINKAGE,
    NAME_ONE,
    NAME_TWO,
    NEEDED,
    ONE,
    PAIRS,
    TABLES,
    TO_LINK,
    TWO,
)
from sfumato.server.manager.uploads import Upload

_CSV = {"accept": ".csv,text/csv"}
_GOLD_HELP = (
    "Pairs whose truth is known, to be mixed in: a CSV with source_l, id_l, source_r, id_r, same."
)


class Several(forms.ClearableFileInput):
    """A field for several files."""

    allow_multiple_selected = True


class Files(forms.FileField):
    """Several files."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=Several(attrs={"accept": ".parquet,.toml,.json"}), **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Each of the files.

        Parameters
        ----------
        data
            The files.
        initial
            Nothing.
        """
        given = data if isinstance(data, (list, tuple)) else [data]
        return [super(Files, self).clean(each, initial) for each in given]


class LinkageForm(forms.Form):
    """The files of a linkage's folder."""

    files = Files(
        label="Files of the folder",
        help_text=f"Needed: {', '.join(NEEDED)}. With {', '.join(TO_LINK)} besides, the linked "
        "file can be written here once the project is closed. You may choose all files of the "
        "folder; the others are not kept.",
        error_messages={"required": "Choose the files that sfumato link wrote."},
    )
    gold = forms.FileField(
        label="Gold pairs (optional)",
        required=False,
        help_text=_GOLD_HELP,
        widget=forms.FileInput(attrs=_CSV),
    )

    def clean(self) -> dict[str, Any]:
        """The upload, checked file by file.

        Raises
        ------
        ValidationError
            If a file is missing, or is not what it should be.
        """
        given = super().clean() or {}
        if not self.errors:
            known = {*NEEDED, *TO_LINK, *FURTHER}
            files = {each.name: each.read() for each in given["files"] if each.name in known}
            missing = [name for name in NEEDED if name not in files]
            if missing:
                raise forms.ValidationError("Missing: " + ", ".join(missing) + ".")
            if given["gold"]:
                files[GOLD] = given["gold"].read()
            given["upload"] = _checked(Upload(LINKAGE, files))
        return given


class TablesForm(forms.Form):
    """Two tables, and the pairs of their records."""

    one = forms.FileField(label="First table (CSV)", widget=forms.FileInput(attrs=_CSV))
    name_one = forms.CharField(label="What it is called", max_length=60, initial="first")
    two = forms.FileField(label="Second table (CSV)", widget=forms.FileInput(attrs=_CSV))
    name_two = forms.CharField(label="What it is called", max_length=60, initial="second")
    pairs = forms.FileField(
        label="Pairs (CSV, optional)",
        required=False,
        help_text="source_l, id_l, source_r, id_r and, if you like, pair. The sources are what the "
        "tables are called above. Without it, the records of one row are a pair.",
        widget=forms.FileInput(attrs=_CSV),
    )
    gold = forms.FileField(
        label="Gold pairs (CSV, optional)",
        required=False,
        help_text=_GOLD_HELP,
        widget=forms.FileInput(attrs=_CSV),
    )
    id_column = forms.CharField(
        label="Column of ids (optional)",
        required=False,
        max_length=120,
        help_text="The header of the column that names each record. Left empty, one is found by "
        "its header, and else rows count from 1.",
    )

    def clean(self) -> dict[str, Any]:
        """The upload, checked file by file.

        Raises
        ------
        ValidationError
            If a file is missing, or is not what it should be.
        """
        given = super().clean() or {}
        if not self.errors:
            if given["name_one"] == given["name_two"]:
                raise forms.ValidationError("The two tables must have different names.")
            parts = {ONE: "one", TWO: "two", PAIRS: "pairs", GOLD: "gold"}
            files = {name: given[key].read() for name, key in parts.items() if given[key]}
            about = {
                NAME_ONE: given["name_one"],
                NAME_TWO: given["name_two"],
                ID_COLUMN: given["id_column"],
            }
            given["upload"] = _checked(Upload(TABLES, files, about))
        return given


def _checked(upload: Upload) -> Upload:
    try:
        check_files(upload.files)
    except InputError as error:
        raise forms.ValidationError(str(error)) from None
    return upload
