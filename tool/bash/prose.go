package bash

import _ "embed"

// source holds every text that a model reads before it calls the tool, under
// one heading each.
//
//go:embed bash.md
var source string
