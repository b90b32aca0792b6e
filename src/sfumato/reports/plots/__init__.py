"""Plots as SVG pictures inside the page, drawn without a network."""
