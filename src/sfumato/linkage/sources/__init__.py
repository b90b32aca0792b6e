"""Open the tables and separate each at once into an identifying and an analytic half."""
