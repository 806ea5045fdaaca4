package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document reads a YAML file strictly. It works on YAML nodes, because viper's
// own reader merges keys that differ only in case and knows no lines.
type document struct {
	file     string
	root     *field
	settings map[string]*setting
	problems *problems
}

// read fills settings, and notes unknown and duplicate keys. An error means
// that the file is not YAML.
func (d *document) read(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return yamlError(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return errors.New("holds more than one YAML document: keep one, without a line of ---")
	}
	if top := doc.Content[0]; !isNull(top) {
		d.section(d.root, top)
	}
	return nil
}

// yamlError words a parser's error without what it quotes of the file.
func yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "unknown anchor") {
		return errors.New("is not YAML: a value begins with * and so refers to an anchor that does not exist: put it in quotes")
	}
	return fmt.Errorf("is not YAML: %s: a value with special characters needs quotes, and indentation needs spaces", text)
}

func (d *document) section(s *field, n *yaml.Node) {
	n = dealias(n)
	if n.Kind != yaml.MappingNode {
		name := s.path
		if name == "" {
			name = d.file
		}
		d.refuse(name, n, fmt.Sprintf("is %s where a section with keys is expected: write %s", describe(n), example(s)))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		d.entry(s, n.Content[i], n.Content[i+1], seen)
	}
}

func (d *document) entry(s *field, k, v *yaml.Node, seen map[string]int) {
	k = dealias(k)
	path := join(s.path, k.Value)
	switch {
	case k.Kind != yaml.ScalarNode:
		d.refuse(s.path, k, fmt.Sprintf("holds %s as a key: a key is one word", describe(k)))
		return
	case k.ShortTag() == "!!merge":
		d.refuse(path, k, "merging is not supported: write the keys out")
		return
	case seen[k.Value] > 0:
		d.refuse(path, k, fmt.Sprintf("is there twice, first in line %d: keep one", seen[k.Value]))
		return
	}
	seen[k.Value] = k.Line
	f := s.child(k.Value)
	switch {
	case f == nil:
		d.refuse(path, k, "is not a key that Penstock knows"+suggestKey(d.root, s, k.Value))
	case isNull(v): // a key without a value is not set
	case f.section:
		d.section(f, v)
	default:
		d.settings[f.path] = &setting{origin: Origin{"file", d.file, k.Line}, node: v, expand: true}
	}
}

func (d *document) refuse(key string, n *yaml.Node, message string) {
	d.problems.add(key, fmt.Sprintf("%s (%s)", message, Origin{"file", d.file, n.Line}.place()))
}

// dealias follows *name to what &name stands at. An alias never leads to another.
func dealias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = dealias(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// describe names a node's form without quoting it: it may be a secret.
func describe(n *yaml.Node) string {
	switch dealias(n).Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a section with keys"
	default:
		return "a single value"
	}
}

// example shows how a section is written.
func example(s *field) string {
	path := ""
	for f := s; len(f.children) > 0; f = f.children[0] {
		path += f.children[0].key + ": "
	}
	return strings.TrimSpace(path) + " ..."
}
