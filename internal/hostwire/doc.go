// Package hostwire is what a session host and its clients say to each other,
// and how: messages of JSON behind a length of four bytes (big endian) on a
// stream socket, with descriptors as SCM_RIGHTS beside them, and the names of
// the files in the home's run directory.
//
// A client begins with Attach. Then both sides speak whenever they have
// something to say; answers carry the number of their request. What either side
// does not understand, or finds too long, ends the connection.
package hostwire
