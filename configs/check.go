package configs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// CheckSchema reports mistakes in the schema of root, a pointer to a struct that
// holds its defaults: for the tests of the package that composes it. Two keys
// must not share a variable, none may have a variable that Kubernetes sets for
// a Service, each needs a doc tag of one line, and each default must survive
// being written down and read back.
func CheckSchema(root any) error {
	schema, err := schemaOf(root)
	if err != nil {
		return err
	}
	var errs []error
	owner := map[string]string{}
	for _, f := range schema.leaves() {
		name := f.env()
		if other, taken := owner[name]; taken {
			errs = append(errs, fmt.Errorf("%s and %s would both be set by %s", other, f.path, name))
		}
		owner[name] = f.path
		if serviceVariable.MatchString(name) {
			errs = append(errs, fmt.Errorf("%s: Kubernetes sets %s for a Service: name the key otherwise", f.path, name))
		}
		if strings.HasPrefix(name, testPrefix) {
			errs = append(errs, fmt.Errorf("%s: variables with the prefix %s belong to the tests: name the key otherwise", f.path, testPrefix))
		}
		if f.doc == "" || strings.ContainsAny(f.doc, "\r\n") {
			errs = append(errs, fmt.Errorf("%s: needs a doc tag of one line", f.path))
		}
		errs = append(errs, checkItems(f), checkDefault(f))
	}
	return errors.Join(errs...)
}

// checkItems wants the keys inside list items documented too.
func checkItems(f *field) error {
	for _, item := range itemFields(f) {
		if item.doc == "" {
			return fmt.Errorf("%s: needs a doc tag of one line", item.path)
		}
	}
	return nil
}

func checkDefault(f *field) error {
	text := f.effective()
	if f.value.Type() == secretType {
		if !f.value.IsZero() {
			return fmt.Errorf("%s: a secret cannot have a default", f.path)
		}
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("%s: the default %s is not YAML: %w", f.path, text, err)
	}
	fresh := reflect.New(f.value.Type()).Elem()
	fresh.Set(f.value)
	d := decoder{expand: true}
	if !isNull(doc.Content[0]) {
		d.into(f.path, fresh, doc.Content[0])
	}
	if len(d.problems) > 0 {
		return fmt.Errorf("%s: the default %s is refused: %w", f.path, text, d.problems[0])
	}
	if !reflect.DeepEqual(fresh.Interface(), f.value.Interface()) {
		return fmt.Errorf("%s: the default %v reads back as %v", f.path, f.value, fresh)
	}
	return nil
}
