"""The linked file: persons without identities, and what is analysed."""
