"""Receive uploaded files into memory: nothing of them is written to a disk in the clear."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

MOST_BYTES = 256 << 20
"""Most bytes of all files of an upload together."""


class InMemory(FileUploadHandler):
    """Keeps each file in memory, and stops where all are larger than allowed."""

    too_large = False

    def handle_raw_input(
        self,
        input_data: Any,
        meta: Any,
        content_length: int,
        boundary: Any,
        encoding: Any = None,
    ) -> None:
        """Stop before the first byte where the request says that it is too large.

        Parameters
        ----------
        input_data, meta, content_length, boundary, encoding
            As Django hands them over.
        """
        self._bytes = 0
        self.too_large = content_length > MOST_BYTES + (1 << 20)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file.

        Parameters
        ----------
        *args, **kwargs
            As Django hands them over.

        Raises
        ------
        StopUpload
            If there is too much.
        """
        super().new_file(*args, **kwargs)
        if self.too_large:
            raise StopUpload(connection_reset=False)
        self._file = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Take some bytes.

        Parameters
        ----------
        raw_data
            The bytes.
        start
            Where they stand in the file.

        Raises
        ------
        StopUpload
            If there is too much.
        """
        self._bytes += len(raw_data)
        if self._bytes > MOST_BYTES:
            self.too_large = True
            raise StopUpload(connection_reset=False)
        self._file.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        """The file, in memory.

        Parameters
        ----------
        file_size
            Its bytes.
        """
        self._file.seek(0)
        return InMemoryUploadedFile(
            self._file,
            self.field_name,
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
            self.content_type_extra,
        )
