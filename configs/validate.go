package configs

import (
	"fmt"
	"reflect"
	"strings"

	"penstock/configs/value"
)

// Validate calls the Validate method of each struct in root (a pointer), the
// items of lists included, and gives what they refuse, with full key paths.
func Validate(root any) []*value.Problem {
	var ps problems
	walk("", reflect.ValueOf(root).Elem(), &ps)
	return ps
}

func walk(path string, v reflect.Value, ps *problems) {
	if x, ok := v.Addr().Interface().(interface{ Validate() error }); ok {
		for _, p := range flatten(x.Validate()) {
			key := path
			if p.Key != "" {
				key = join(path, p.Key)
			}
			ps.add(key, p.Message)
		}
	}
	switch {
	case isText(v.Type()):
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			sf := v.Type().Field(i)
			if key := sf.Tag.Get("yaml"); sf.IsExported() && keyPattern.MatchString(key) {
				walk(join(path, key), v.Field(i), ps)
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i), ps)
		}
	}
}

// baseKey is the key that a path into a list belongs to.
func baseKey(path string) string {
	base, _, _ := strings.Cut(path, "[")
	return base
}
