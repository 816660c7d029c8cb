// Package shellenv is the registry of managed facts: the DSH_* variables that
// every command is given about where and for whom it runs.
//
// It promises:
//
//   - The facts are collected anew for every command. Nothing is inherited and
//     nothing is left over from an earlier one.
//   - A key has one owner. DSH_HOME, DSH_SHELL and DSH_SESSION_ID belong to the
//     registry itself.
//   - One faulty contributor costs its own variables, never the command.
//   - Everything that may appear can be listed without running anything.
package shellenv
