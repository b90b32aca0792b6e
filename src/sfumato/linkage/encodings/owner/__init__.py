"""What each owner does at home: a key, the agreed specification, the table encoded."""
