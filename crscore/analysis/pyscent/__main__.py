"""`python -m crscore.analysis.pyscent`."""

from crscore.analysis.pyscent.program import main

raise SystemExit(main())
