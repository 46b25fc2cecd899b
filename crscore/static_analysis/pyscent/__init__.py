"""pyscent: eleven smells of Python code, found by pylint, radon and the syntax tree.

The rules and their limits are the published ones. `--compat` reproduces the counts and wording of
the published tool. Without it, the findings resemble a reviewer's remarks:

- One finding per place, not one sentence per smell and file.
- Statements, branches and paths of one function make one finding (`rules.merge_sizes`).
- Records may have many attributes (`smells.is_record`), and enumerations low cohesion.
- Complexity counts functions only, inside functions too, and no `assert`.
- Shotgun surgery counts calls into other modules only, in inner classes too, and not in tests.
- A handler that hides errors counts at any depth, unless it catches all and raises again, and is a
warning only where it catches all and does nothing.
"""
