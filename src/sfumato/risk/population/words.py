"""Why an estimator was taken, and how sure it is, in publishable words."""

from __future__ import annotations

from sfumato.risk.population.subsamples import SubsampleCheck

UNSURE = 0.15
"""Mean error on subsamples from which on an estimate is called unsure."""


def reason(name: str, check: SubsampleCheck | None, *, auto: bool) -> str:
    """Say why the estimator was taken, what its interval covers, and how it was checked.

    Parameters
    ----------
    name
        The estimator.
    check
        How it did on subsamples of the file.
    auto
        Whether it was left to us.
    """
    taken = (
        "of all estimators it erred least over the populations of the documentation's simulation"
        if auto
        else "asked for"
    )
    covers = "the interval is for the realised share of the file, not its expectation"
    return f"{name}: {taken}; {covers}; {checked(check)}"


def checked(check: SubsampleCheck | None) -> str:
    """How an estimator did on subsamples, in words.

    Parameters
    ----------
    check
        The errors; ``None`` where the file is too small for subsamples.
    """
    if check is None:
        return "not checked on subsamples: the file is too small"
    error = f"{100 * check.error:+.1f} %"
    said = f"on {check.subsamples} subsamples of the file it was off by {error} on average"
    return f"{said}: not sure" if abs(check.error) > UNSURE else said
