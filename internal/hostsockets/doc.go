// Package hostsockets finds the Unix sockets through which a command could ask
// a process outside of its sandbox to act for it, and knows the environment
// variables that lead to them.
package hostsockets
