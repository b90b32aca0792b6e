"""Made-up data to try everything on: two clinics' visits, and a paper's worked example."""

from sfumato.examples.clinics import Clinics, generate_clinics, worked_example, write_clinics
from sfumato.examples.registration_errors import ErrorRates
from sfumato.examples.registrations import (
    Registrations,
    generate_registrations,
    write_registrations,
)

__all__ = [
    "Clinics",
    "ErrorRates",
    "Registrations",
    "generate_clinics",
    "generate_registrations",
    "worked_example",
    "write_clinics",
    "write_registrations",
]
