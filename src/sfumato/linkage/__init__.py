"""Link tables that hold the same persons under different keys."""
