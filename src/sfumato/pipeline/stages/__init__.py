"""The stages of a project, one file each: what each reads, makes and waits for."""
