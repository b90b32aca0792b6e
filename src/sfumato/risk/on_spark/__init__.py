"""The measures of files that stay on a Spark cluster: aggregated there, assembled here."""
