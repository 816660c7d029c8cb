//go:build !linux

package record

// BootID names this boot of the machine; "" when it is unknown, as here.
func BootID() string { return "" }
