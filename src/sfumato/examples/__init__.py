"""Made-up data to try everything on: two clinics' visits, and a paper's worked example."""

from sfumato.examples.clinics import Clinics, generate_clinics
from sfumato.examples.kartal_li import worked_example
from sfumato.examples.write import write_clinics

__all__ = ["Clinics", "generate_clinics", "worked_example", "write_clinics"]
