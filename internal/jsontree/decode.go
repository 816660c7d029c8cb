package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Decode fills into, a pointer, from tree. A number that its field cannot hold
// exactly is an error that names the field's path, as is data of another kind.
func Decode(tree any, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(Encode(withPlainNumbers(tree))))
	decoder.UseNumber()
	err := decoder.Decode(into)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		path := Path(strings.FieldsFunc(mismatch.Field, func(r rune) bool { return r == '.' }))
		return fmt.Errorf("%s does not fit in %s", path, mismatch.Type)
	}
	if err != nil {
		return errors.New("the data does not fit in its type")
	}
	return nil
}

// withPlainNumbers is tree with integers written as such.
func withPlainNumbers(tree any) any {
	switch node := tree.(type) {
	case json.Number:
		return plain(node)
	case map[string]any:
		copied := make(map[string]any, len(node))
		for key, value := range node {
			copied[key] = withPlainNumbers(value)
		}
		return copied
	case []any:
		copied := make([]any, len(node))
		for i, value := range node {
			copied[i] = withPlainNumbers(value)
		}
		return copied
	default:
		return tree
	}
}
