"""A worker who sees renderings only: what accuracy a project can expect at which disclosure."""
