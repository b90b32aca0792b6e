"""Every release remembered: written once, chained and signed, compared by its people."""
