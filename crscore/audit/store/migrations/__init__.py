"""Schema of the store, one script a version; `NNN.sql` leads from version N - 1 to N."""
