package configs

import (
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// setting is what one layer says of one key, not yet converted. It carries its
// own origin, so that whichever layer wins says where it came from.
type setting struct {
	origin Origin
	node   *yaml.Node // nil for a default
	expand bool       // whether ${NAME} is expanded
}

// resolve lets viper decide, for each key of the schema, which layer wins: the
// environment over the file over the default.
//
// Viper is given settings that it cannot look into, and only keys that the
// schema knows. So it can neither lower-case what a user wrote, nor merge keys
// that differ in case, nor guess types; and as every key has a default here, a
// key that only the environment sets is seen like any other.
func resolve(schema *field, file, env map[string]*setting) map[string]*setting {
	v := viper.New()
	leaves := schema.leaves()
	for _, f := range leaves {
		v.SetDefault(f.path, &setting{origin: Origin{Layer: "default"}})
	}
	// MergeConfigMap always returns nil; a layer merged later would win.
	_ = v.MergeConfigMap(nest(file))
	for path, s := range env {
		v.Set(path, s)
	}
	winners := make(map[string]*setting, len(leaves))
	for _, f := range leaves {
		winners[f.path], _ = v.Get(f.path).(*setting)
	}
	return winners
}

// nest turns dotted paths into the nested maps that viper merges.
func nest(settings map[string]*setting) map[string]any {
	root := map[string]any{}
	for path, s := range settings {
		m := root
		parts := strings.Split(path, ".")
		for _, part := range parts[:len(parts)-1] {
			next, ok := m[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				m[part] = next
			}
			m = next
		}
		m[parts[len(parts)-1]] = s
	}
	return root
}
