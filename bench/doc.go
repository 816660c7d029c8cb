// Package bench measures what running a command costs on this machine, as
// ratios to doing it bare. Sides are measured in turn, so that a machine that
// slows down slows both.
package bench
