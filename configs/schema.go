package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"penstock/configs/value"
)

// EnvPrefix begins the name of every variable that sets a key.
const EnvPrefix = "PENSTOCK_"

// field is one key of the schema, bound to the struct field that holds its value.
type field struct {
	key      string // the last part of path
	path     string // dotted
	doc      string
	unit     string
	value    reflect.Value // addressable
	section  bool
	children []*field // of a section
}

// env is the name of the variable that sets the field.
func (f *field) env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(f.path, ".", "_"))
}

// list tells whether the field holds a list.
func (f *field) list() bool {
	return !f.section && f.value.Kind() == reflect.Slice && !isText(f.value.Type())
}

// child finds a key of a section.
func (f *field) child(key string) *field {
	for _, c := range f.children {
		if c.key == key {
			return c
		}
	}
	return nil
}

// leaves lists the keys below f that hold values, in the order of the structs.
func (f *field) leaves() []*field {
	if !f.section {
		return []*field{f}
	}
	var all []*field
	for _, c := range f.children {
		all = append(all, c.leaves()...)
	}
	return all
}

var (
	durationType  = reflect.TypeFor[time.Duration]()
	bytesType     = reflect.TypeFor[value.Bytes]()
	secretType    = reflect.TypeFor[value.Secret]()
	unmarshalType = reflect.TypeFor[encoding.TextUnmarshaler]()
	keyPattern    = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// isText tells whether values of t read themselves from text.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(unmarshalType) }

// schemaOf reads the schema from a pointer to the root struct. An error is a
// mistake of the program, not of the user.
func schemaOf(into any) (*field, error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("configuration must be a pointer to a struct, not %T", into)
	}
	root := &field{value: v.Elem(), section: true}
	return root, readSection(root)
}

func readSection(s *field) error {
	var errs []error
	t := s.value.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		key, _, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		switch {
		case !sf.IsExported() || key == "-":
			continue
		case !keyPattern.MatchString(key):
			errs = append(errs, fmt.Errorf("field %s.%s: the yaml tag %q is not a key in lower case", t, sf.Name, key))
			continue
		case s.child(key) != nil:
			errs = append(errs, fmt.Errorf("field %s.%s: the key %q is taken", t, sf.Name, key))
			continue
		}
		c := &field{key: key, path: join(s.path, key), doc: sf.Tag.Get("doc"), unit: sf.Tag.Get("unit"), value: s.value.Field(i)}
		if sf.Type.Kind() == reflect.Struct && !isText(sf.Type) {
			c.section = true
			errs = append(errs, readSection(c))
		} else if err := checkLeaf(sf.Type, true); err != nil {
			errs = append(errs, fmt.Errorf("field %s.%s: %w", t, sf.Name, err))
			continue
		}
		s.children = append(s.children, c)
	}
	return errors.Join(errs...)
}

// checkLeaf refuses types that no value can be read into.
func checkLeaf(t reflect.Type, lists bool) error {
	if isText(t) || isScalar(t.Kind()) {
		return nil
	}
	if t.Kind() != reflect.Slice || !lists {
		return fmt.Errorf("settings of type %s cannot be loaded", t)
	}
	elem := t.Elem()
	if elem.Kind() != reflect.Struct || isText(elem) {
		return checkLeaf(elem, false)
	}
	for i := range elem.NumField() {
		sf := elem.Field(i)
		if !sf.IsExported() || !keyPattern.MatchString(sf.Tag.Get("yaml")) {
			return fmt.Errorf("item field %s.%s needs a name and a yaml tag in lower case", elem, sf.Name)
		}
		if err := checkLeaf(sf.Type, false); err != nil {
			return fmt.Errorf("item field %s.%s: %w", elem, sf.Name, err)
		}
	}
	return nil
}

func isScalar(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return true
	default:
		return false
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
