// Package schema says what a section of the settings document may hold. A
// Schema comes from the tags of a Go struct (For) or from a JSON Schema document
// (Parse). It resolves the layers of a section into the value that its owner
// gets, reports everything that is wrong with one, and takes the secrets out of
// whatever leaves the process.
//
// # Vocabulary
//
// Documents are JSON Schema 2020-12, reduced to what can be proven: type,
// properties, required, additionalProperties, propertyNames with a pattern,
// items, prefixItems, minItems, maxItems, uniqueItems, enum, const, allOf, anyOf,
// oneOf, $ref to "#" or "#/$defs/NAME", $defs at the root, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern
// (RE2), default, and the annotations title, description, deprecated, readOnly,
// writeOnly, examples, format, $comment, $schema, x-dsh-role, x-dsh-widget,
// x-dsh-ui, x-dsh-i18n and x-dsh-link. Any other keyword is refused: a rule that
// is silently skipped could be the one that marks a secret.
//
// # Objects are closed for their owners
//
// A key that no schema in force declares stays in the document of the user, never
// reaches the owner, and is named in Resolved.Unknown. It is no violation, not
// even under "additionalProperties": false; that keyword still tells the forms of
// a union apart. Of the schemas that apply to one object together, each may have
// keys that another one declares. A place whose schemas name no key at all is
// free: it takes any.
//
// # Secrets
//
// A place is secret when any schema that can apply to it says "writeOnly": true or
// "x-dsh-role": "secret", in whichever branch of whichever union. What is at a
// secret place, or below one, never appears in a message, a redacted tree or a
// wire document, and neither does data that stands where a secret could be and
// does not have the declared shape.
package schema
