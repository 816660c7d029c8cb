package settings

import (
	"reflect"

	"hardshell/internal/jsontree"
)

// copier makes private copies of the values of one type.
type copier[T any] struct {
	// flat says that an assignment is a copy: the type has no pointers in it but
	// those of strings, which nobody can write through.
	flat bool
	// walk says that reflection reaches all that is shared. Where it does not, a
	// copy is decoded anew.
	walk bool
}

func newCopier[T any]() copier[T] {
	kind := classify(reflect.TypeFor[T](), map[reflect.Type]bool{})
	return copier[T]{flat: kind == isFlat, walk: kind == isOpen}
}

func (c copier[T]) of(held *boxed[T]) T {
	if c.flat {
		return held.value
	}
	if c.walk {
		var copied T
		duplicate(reflect.ValueOf(&copied).Elem(), reflect.ValueOf(&held.value).Elem())
		return copied
	}
	var copied T
	// The same tree was decoded into the same type when it was committed.
	_ = jsontree.Decode(held.tree, &copied)
	return copied
}

// class orders types by what it takes to copy them.
type class int

const (
	isFlat class = iota
	isOpen
	isHidden
)

// classify looks at a type. Seen breaks the circles of recursive types.
func classify(t reflect.Type, seen map[reflect.Type]bool) class {
	switch t.Kind() {
	case reflect.Array:
		return classify(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice:
		if seen[t] {
			return isOpen
		}
		seen[t] = true
		return max(isOpen, classify(t.Elem(), seen))
	case reflect.Map:
		if seen[t] {
			return isOpen
		}
		seen[t] = true
		return max(isOpen, classify(t.Key(), seen), classify(t.Elem(), seen))
	case reflect.Interface:
		// What a tree has in its place is known when it has no methods.
		if t.NumMethod() > 0 {
			return isHidden
		}
		return isOpen
	case reflect.Struct:
		worst := isFlat
		for i := range t.NumField() {
			of := classify(t.Field(i).Type, seen)
			if of != isFlat && !t.Field(i).IsExported() {
				of = isHidden
			}
			worst = max(worst, of)
		}
		return worst
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return isHidden
	default:
		return isFlat
	}
}

// duplicate sets into, a zero value that can be set, to a copy of from.
func duplicate(into, from reflect.Value) {
	switch from.Kind() {
	case reflect.Struct:
		into.Set(from)
		for i := range from.NumField() {
			if field := into.Field(i); field.CanSet() {
				field.SetZero()
				duplicate(field, from.Field(i))
			}
		}
	case reflect.Array:
		for i := range from.Len() {
			duplicate(into.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			into.Set(reflect.New(from.Type().Elem()))
			duplicate(into.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			into.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				duplicate(into.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			into.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
			for entry := from.MapRange(); entry.Next(); {
				value := reflect.New(from.Type().Elem()).Elem()
				duplicate(value, entry.Value())
				into.SetMapIndex(entry.Key(), value)
			}
		}
	case reflect.Interface:
		if !from.IsNil() {
			into.Set(reflect.ValueOf(jsontree.Clone(from.Interface())))
		}
	default:
		into.Set(from)
	}
}
