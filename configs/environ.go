package configs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// testPrefix begins the variables that choose the images of the integration tests.
const testPrefix = EnvPrefix + "IT_"

// serviceVariable matches what Kubernetes sets in every container for a
// Service named penstock or penstock-anything.
var serviceVariable = regexp.MustCompile(`^(PENSTOCK(?:_[A-Z0-9_]+)??)_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// environ is the environment, and which of it was asked for.
type environ struct {
	vars map[string]string
	used map[string]bool
}

// readEnviron takes the environment apart. The first of two variables of one
// name counts, as in os.Getenv.
func readEnviron(list []string) *environ {
	e := &environ{vars: map[string]string{}, used: map[string]bool{}}
	for _, entry := range list {
		name, v, ok := strings.Cut(entry, "=")
		if _, twice := e.vars[name]; ok && !twice {
			e.vars[name] = v
		}
	}
	return e
}

// lookup gives a variable that is set; an empty one counts as unset.
func (e *environ) lookup(name string) (string, bool) {
	e.used[name] = true
	v := e.vars[name]
	return v, v != ""
}

// settings are the keys that the environment sets.
func (e *environ) settings(schema *field, ps *problems) map[string]*setting {
	found := map[string]*setting{}
	for _, f := range schema.leaves() {
		e.refuseElements(f, ps)
		name := f.env()
		v, ok := e.lookup(name)
		if !ok {
			continue
		}
		n, err := envNode(f, v)
		if err != nil {
			ps.add(f.path, fmt.Sprintf("%v (%s)", err, name))
			continue
		}
		found[f.path] = &setting{origin: Origin{Layer: "env", Name: name}, node: n}
	}
	return found
}

// refuseElements refuses variables that would set one element of a list, as
// other programs have them: a list is set as a whole.
func (e *environ) refuseElements(f *field, ps *problems) {
	if !f.list() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.vars)) {
		rest, ok := strings.CutPrefix(name, f.env()+"_")
		if !ok || rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))] == "" {
			continue
		}
		if _, set := e.lookup(name); set {
			ps.add(f.path, fmt.Sprintf("cannot be set one element at a time, as %s tries: set the whole list as %s=%s, or in the file",
				name, f.env(), envExample(f)))
		}
	}
}

// unknown warns of variables that look like ours and set nothing.
func (e *environ) unknown(schema *field) []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(e.vars)) {
		if strings.HasPrefix(name, EnvPrefix) && !strings.HasPrefix(name, testPrefix) && !e.used[name] && !e.ofService(name) {
			warnings = append(warnings, name+" sets no key that Penstock knows, and is ignored"+suggestVariable(schema, name))
		}
	}
	return warnings
}

// ofService tells whether Kubernetes set the variable for a Service. Those of
// Services named penstock-... are known by their SERVICE_HOST, which always comes along.
func (e *environ) ofService(name string) bool {
	m := serviceVariable.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	if m[1]+"_" == EnvPrefix {
		return true
	}
	_, ok := e.vars[m[1]+"_SERVICE_HOST"]
	return ok
}

// envNode gives a variable's value the form that it would have in a file.
func envNode(f *field, text string) (*yaml.Node, error) {
	if !f.list() {
		return textNode(text), nil
	}
	items, err := splitList(text)
	if err != nil {
		return nil, fmt.Errorf("%w: write %s", err, envExample(f))
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	elem := f.value.Type().Elem()
	for i, item := range items {
		n := textNode(item)
		if elem.Kind() == reflect.Struct && !isText(elem) {
			if n = pairNode(elem, item); n == nil {
				// The item is not quoted: it may hold a secret.
				return nil, fmt.Errorf("has an item, number %d, that cannot be read: write %s", i+1, envExample(f))
			}
		}
		list.Content = append(list.Content, n)
	}
	return list, nil
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// pairNode reads "name=value" as a struct of two fields, nil if it is none.
func pairNode(t reflect.Type, item string) *yaml.Node {
	first, second, ok := strings.Cut(item, "=")
	if !ok || t.NumField() != 2 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		textNode(t.Field(0).Tag.Get("yaml")), textNode(strings.TrimSpace(first)),
		textNode(t.Field(1).Tag.Get("yaml")), textNode(strings.TrimSpace(second)),
	}}
}

// splitList takes a comma-separated list apart. As in CSV, an item that holds
// a comma stands in double quotes. Spaces around items do not count.
func splitList(text string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	items, err := r.Read()
	if err != nil {
		// The reader's own error counts columns; it would not help.
		return nil, errors.New("is not a comma-separated list, or its double quotes do not match")
	}
	if r.InputOffset() < int64(len(strings.TrimRight(text, "\r\n"))) {
		return nil, errors.New("is a list on more than one line")
	}
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
		if items[i] == "" {
			return nil, fmt.Errorf("has an empty item, number %d", i+1)
		}
	}
	return items, nil
}

// envExample shows how the variable of a list is written.
func envExample(f *field) string {
	elem := f.value.Type().Elem()
	if elem.Kind() != reflect.Struct || isText(elem) {
		return "one,two"
	}
	if elem.NumField() != 2 {
		return "nothing here, but the list in the file"
	}
	a, b := elem.Field(0).Tag.Get("yaml"), elem.Field(1).Tag.Get("yaml")
	return fmt.Sprintf("%s=%s,%s=%s", a, b, a, b)
}
