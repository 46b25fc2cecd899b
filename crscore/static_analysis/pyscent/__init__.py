"""pyscent: eleven smells of Python code, found by pylint, radon and the syntax tree.

The rules and their limits are the published ones. `--compat` counts and words as the published
tool does. Without it, the findings are what a reviewer would say, and differ so:

- One finding a place, not one sentence a smell and file.
- Statements, branches and paths of one function make one finding (`rules.merge_sizes`).
- Records may have many attributes (`smells.is_record`), and enumerations no cohesion.
- Complexity counts functions only, inside functions too, and no `assert`.
- Shotgun surgery counts calls into other modules only, in inner classes too, and not in tests.
- A handler that hides errors counts however deep it stands, unless it catches all and raises
  again, and is a warning only where it catches all and does nothing.
"""
