// Package units turns the name of a unit into its factor.
package units

// Factor knows the units by name.
func Factor(name string) float64 {
	switch name {
	case "mm":
		return 0.001
	case "cm":
		return 0.01
	case "dm":
		return 0.1
	case "m":
		return 1
	case "km":
		return 1000
	case "in":
		return 0.0254
	case "ft":
		return 0.3048
	case "yd":
		return 0.9144
	case "mi":
		return 1609.344
	case "nmi":
		return 1852
	case "au":
		return 1.496e11
	case "ly":
		return 9.461e15
	case "pc":
		return 3.086e16
	case "um":
		return 1e-6
	case "nm":
		return 1e-9
	}
	return 0
}

// Known is short enough.
func Known(name string) bool {
	return Factor(name) != 0
}
