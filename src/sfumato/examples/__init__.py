"""Made-up data to try everything on: two clinics' visits, and a paper's worked example."""

from sfumato.examples.clinics import Clinics, generate_clinics
from sfumato.examples.kartal_li import worked_example
from sfumato.examples.registering import ErrorRates
from sfumato.examples.registrations import Registrations, generate_registrations
from sfumato.examples.write import write_clinics, write_registrations

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
