package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"unsafe"

	"hardshell/internal/jsontree"
)

// choose finds the form of a union that data takes: the first that fits, and for
// oneOf the only one. A form fits when it does so to the letter; when none does,
// undeclared keys are overlooked. Without a fitting form, the one that the data
// is closest to is returned, so that what is wrong with it is reported.
func (r *run) choose(u union, s spot) (form *node, fits bool) {
	if u.choices != nil {
		if !slices.ContainsFunc(u.choices, func(c Choice) bool { return jsontree.Equal(c.Value, s.value) }) {
			r.report(s, u.keyword, oneOf(valuesOf(u.choices)))
		}
		return nil, true
	}
	for _, strict := range []bool{true, false} {
		if r.strict && !strict {
			break
		}
		count := 0
		for _, branch := range u.branches {
			if !r.fits(branch, s.value, strict) {
				continue
			}
			if count++; count == 1 {
				form = branch
			}
			if !u.exclusive || count > 1 {
				break
			}
		}
		if count > 1 {
			r.report(s, u.keyword, "fits more than one of the allowed forms; make it fit exactly one")
		}
		if count > 0 {
			return form, true
		}
	}
	if r.trying {
		r.failed = true
		return nil, true
	}
	if form = u.closest(s.value); form == nil {
		r.report(s, u.keyword, u.forms())
		return nil, true
	}
	return form, false
}

// trial names a form and data that it was tried on.
type trial struct {
	form   *node
	strict bool
	value  any // the value itself, or the identity of a container
}

type mapIdentity uintptr

type listIdentity struct {
	at     unsafe.Pointer
	length int
}

// fits reports whether data satisfies a schema.
func (r *run) fits(form *node, value any, strict bool) bool {
	key := trial{form: form, strict: strict}
	switch v := value.(type) {
	case map[string]any:
		key.value = mapIdentity(reflect.ValueOf(v).Pointer())
	case []any:
		key.value = listIdentity{unsafe.Pointer(unsafe.SliceData(v)), len(v)}
	case nil, bool, string, json.Number:
		key.value = v
	default:
		return false // no part of a tree
	}
	if known, tried := r.tried[key]; tried {
		return known
	}
	was := [...]bool{r.trying, r.failed, r.strict}
	r.trying, r.failed, r.strict = true, false, strict
	r.location(form.self, spot{value: value})
	fits := !r.failed
	r.trying, r.failed, r.strict = was[0], was[1], was[2]
	if r.tried == nil {
		r.tried = map[trial]bool{}
	}
	r.tried[key] = fits
	return fits
}

// closest is the one form whose kind fits and, among several of maps, whose
// constants do; nil when that leaves none or several.
func (u union) closest(value any) *node {
	var near []*node
	for _, branch := range u.branches {
		if branch.admits&kindOf(value) != 0 {
			near = append(near, branch)
		}
	}
	if tree, isMap := value.(map[string]any); isMap && len(near) > 1 {
		near = slices.DeleteFunc(near, func(branch *node) bool {
			for _, n := range branch.always {
				for _, p := range n.properties {
					if v, has := tree[p.name]; has && p.node.hasConst && !jsontree.Equal(v, p.node.constant) {
						return true
					}
				}
			}
			return false
		})
	}
	if len(near) != 1 {
		return nil
	}
	return near[0]
}

// forms says what the forms of a union are.
func (u union) forms() string {
	var titles []string
	var admitted kinds
	for _, branch := range u.branches {
		admitted |= branch.admits
		if branch.title != "" {
			titles = append(titles, branch.title)
		}
	}
	if len(titles) == len(u.branches) {
		return "must fit one of the allowed forms: " + orList(titles)
	}
	return "must fit one of the allowed forms, which are " + admitted.words()
}
