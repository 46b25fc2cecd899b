"""`python -m crscore.static_analysis.pyscent`."""

from crscore.static_analysis.pyscent.program import main

raise SystemExit(main())
