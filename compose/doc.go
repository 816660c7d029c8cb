// Package compose puts the default harness together: which parts there are, in
// which order they are made, and with what configuration.
//
// The composition is data (rows) and a plain function (Build) that makes each
// row's part from it. Every part is an ordinary Go type, usable without this
// package.
package compose
