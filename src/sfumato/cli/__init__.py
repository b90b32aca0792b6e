"""The command line: parse, call, print; every heavy import is inside a command's body."""
