// Package prefault maps the program's own image into memory at once instead of
// page by page. A page fault costs a fraction of a microsecond on bare metal, and some
// fifty in many virtual machines, where those of a Go program's start then take
// longer than all it does. Mapping them together costs about as much as ten.
//
// Importing it is what does it, so that only a main package should. It imports
// nothing but unsafe, and its import path sorts early, so that by the language's
// order of package initialization it comes before most other packages.
package prefault
