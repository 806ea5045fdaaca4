package configs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"penstock/configs/value"
)

// maxFile bounds a configuration file, in bytes: ours have a few thousand.
const maxFile = 1 << 20

// Loaded says where the values of a configuration came from.
type Loaded struct {
	// Warnings are worth telling and stop nothing: variables that set no key.
	Warnings []string

	schema  *field
	origins map[string]Origin
}

// Origin is where a value came from.
type Origin struct {
	// Layer is "default", "file" or "env".
	Layer string
	// Name is the file or the variable, "" for a default.
	Name string
	// Line is the line in the file, 0 elsewhere.
	Line int
}

// String gives "default", "file penstock.yaml:7" or "env PENSTOCK_LOG_LEVEL".
func (o Origin) String() string {
	if o.Name == "" {
		return o.Layer
	}
	return o.Layer + " " + o.place()
}

// place is where to look for the value, "" for a default.
func (o Origin) place() string {
	if o.Line == 0 {
		return o.Name
	}
	return o.Name + ":" + strconv.Itoa(o.Line)
}

// Origin tells where the value of a key came from, by the key's full path.
func (l *Loaded) Origin(key string) Origin { return l.origins[key] }

// Load reads the YAML file and the environment (as os.Environ gives it) into a
// pointer to a struct that holds its defaults, and validates the result. No
// file ("") is fine. The error is an *[Error] with everything that is wrong,
// or says that the schema itself is; Loaded is not nil with an *Error, so that
// its warnings can be shown beside the problems.
func Load(file string, environ []string, into any) (*Loaded, error) {
	if file == "" {
		return load("", nil, environ, into)
	}
	data, err := readFile(file)
	if err != nil {
		var ps problems
		ps.add(file, "cannot be read: "+err.Error())
		return &Loaded{}, ps.err()
	}
	return load(file, data, environ, into)
}

func load(file string, data []byte, environ []string, into any) (*Loaded, error) {
	schema, err := schemaOf(into)
	if err != nil {
		return nil, err
	}
	var ps problems
	doc := &document{file: file, root: schema, settings: map[string]*setting{}, problems: &ps}
	if err := doc.read(data); err != nil {
		// What is missing cannot be told when nothing could be read.
		ps.add(file, err.Error())
		return &Loaded{}, ps.err()
	}
	env := readEnviron(environ)
	fromEnv := env.settings(schema, &ps)
	winners := resolve(schema, doc.settings, fromEnv)

	l := &Loaded{schema: schema, origins: map[string]Origin{}}
	d := decoder{lookup: env.lookup}
	for _, f := range schema.leaves() {
		s := winners[f.path]
		l.origins[f.path] = s.origin
		if s.node != nil {
			d.setting(f, s)
		}
	}
	for _, p := range d.problems {
		ps.add(p.Key, p.Message)
	}
	l.Warnings = env.unknown(schema)
	l.validate(&ps)
	return l, ps.err()
}

// validate adds what the packages themselves refuse, and where it was set. A
// key that could not be loaded holds its default: what is said of that is noise.
func (l *Loaded) validate(ps *problems) {
	loading := *ps
	for _, p := range Validate(l.schema.value.Addr().Interface()) {
		base := baseKey(p.Key)
		if loading.about(base) {
			continue
		}
		message := p.Message
		if place := l.origins[base].place(); place != "" {
			message += " (" + place + ")"
		}
		ps.add(p.Key, message)
	}
}

// readFile reads a file of bounded size.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %v, which no configuration is", value.Bytes(maxFile))
	}
	return data, nil
}

// withoutPath leaves the file's name out, which the message has already.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
