"""The calibrated matcher's rooms: words -> features -> trees, and the guards beside them."""
