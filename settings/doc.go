// Package settings is the seam of user settings: one document that belongs to
// the user, with one section per namespace, stored by a Provider.
//
// An owner registers a namespace with a schema and reads its value, which is
// resolved from three layers: the defaults of the schema, below the base of the
// composition, below the user's section. The value follows the document while
// the process runs.
//
//   - A value is a snapshot: what a reader does to it is seen by nobody.
//   - A value is what every reader sees before any event tells of it. Events come
//     in the order of the commits, of all namespaces.
//   - A write is checked before it is stored, stored before it is seen, and
//     applied to the section as it stands when the write's turn comes.
//   - A section that cannot be resolved never takes the place of a value that
//     was: the last good value stays, and the descriptor says what is wrong.
//   - No error, log line or event of this package holds a value of a setting.
//     Descriptors made for the wire hold no secret.
//
// All numbers are exact (json.Number in trees). A revision counts the changes of
// one raw section; a write may name the one that it was derived from.
package settings
