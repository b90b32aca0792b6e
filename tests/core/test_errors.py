"""What a refusal says."""

from __future__ import annotations

import pytest

from sfumato.core.errors import InputError


@pytest.mark.parametrize(("found", "said"), [("", False), ("none", False), ("two", True)])
def test_what_is_not_there_is_not_said_to_be_found(found: str, said: bool) -> None:
    error = InputError("file a.csv", "must be there", found=found, advice="check the path")
    assert ("found" in str(error)) == said
    assert str(error).endswith("check the path.")
    assert error.about("b").found == found
