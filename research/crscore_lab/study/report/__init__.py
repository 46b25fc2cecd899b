"""Reports of a study, a comparison and a separation, as blocks of `crscore.reports.layout`."""
