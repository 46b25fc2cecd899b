"""What people and programs get to see of a pull request, one document a module; all are pure."""
