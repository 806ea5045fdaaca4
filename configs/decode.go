package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"penstock/configs/value"
)

// decoder converts settings to the types of the structs.
type decoder struct {
	lookup   func(name string) (string, bool)
	expand   bool   // whether ${NAME} is expanded
	origin   Origin // of the setting at hand
	problems problems
}

// setting converts one setting. The field keeps its default when it fails.
func (d *decoder) setting(f *field, s *setting) {
	d.expand, d.origin = s.expand, s.origin
	before := len(d.problems)
	fresh := reflect.New(f.value.Type()).Elem()
	d.into(f.path, fresh, s.node)
	if len(d.problems) == before {
		f.value.Set(fresh)
	}
}

func (d *decoder) into(path string, v reflect.Value, n *yaml.Node) {
	n = dealias(n)
	switch {
	case isText(v.Type()) || isScalar(v.Kind()):
		d.scalar(path, v, n)
	case v.Kind() == reflect.Struct:
		d.item(path, v, n)
	default:
		d.list(path, v, n)
	}
}

func (d *decoder) scalar(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		d.refuse(path, n, fmt.Sprintf("is %s where a single value is expected: write %s", describe(n), typeOf(v.Type()).example))
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		d.refuse(path, n, "has a YAML tag, which is not supported: leave out the word that begins with !")
		return
	}
	text, err := d.text(v.Type(), n.Value)
	if err == nil {
		err = setText(v, text)
	}
	if err != nil {
		d.refuse(path, n, err.Error())
	}
}

// text is the value as written, after expansion.
func (d *decoder) text(t reflect.Type, raw string) (string, error) {
	if t == secretType {
		return d.secret(raw)
	}
	text, err := d.expanded(raw)
	switch {
	case err != nil:
		return "", err
	case !utf8.ValidString(text):
		return "", errors.New("is not valid UTF-8")
	case strings.Contains(text, "://") && strings.Contains(text, value.Stars+"@"):
		return "", errStars
	}
	return text, nil
}

func (d *decoder) expanded(raw string) (string, error) {
	if !d.expand {
		return raw, nil
	}
	return expand(raw, d.lookup)
}

func (d *decoder) list(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.refuse(path, n, fmt.Sprintf("is %s where a list is expected: write %s", describe(n), typeOf(v.Type()).example))
		return
	}
	if len(n.Content) == 0 {
		return // nil, so that an empty list equals none
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		if isNull(c) {
			d.refuse(at, c, "is empty: write a value or remove the item")
			continue
		}
		d.into(at, items.Index(i), c)
	}
	v.Set(items)
}

// item converts one struct of a list.
func (d *decoder) item(path string, v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.refuse(path, n, fmt.Sprintf("is %s where keys are expected: write %s", describe(n), typeOf(v.Type()).example))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := dealias(n.Content[i]), n.Content[i+1]
		at := join(path, k.Value)
		f, known := itemField(v, k.Value)
		switch {
		case !known:
			d.refuse(at, k, "is not a key that Penstock knows here: write "+typeOf(v.Type()).example)
		case seen[k.Value]:
			d.refuse(at, k, "is there twice: keep one")
		case !isNull(c):
			d.into(at, f, c)
		}
		seen[k.Value] = true
	}
}

func itemField(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func (d *decoder) refuse(path string, n *yaml.Node, message string) {
	o := d.origin
	if n.Line > 0 && o.Layer == "file" {
		o.Line = n.Line
	}
	d.problems.add(path, fmt.Sprintf("%s (%s)", message, o.place()))
}

// setText converts text to the type of v. Errors read on from the key's name.
func setText(v reflect.Value, text string) error {
	if v.Type() == durationType {
		return setDuration(v, text)
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
		return nil
	case v.Kind() == reflect.Bool:
		return setBool(v, text)
	default:
		return setNumber(v, text)
	}
}
