"""A review's project: attributes, rules, records, pairs, and how pairs are dealt to workers."""
