// Package configs loads a configuration from defaults, a YAML file and the
// environment, says where each value came from, and documents every key. It
// knows none of the packages whose settings it loads: cmd composes their Config
// structs into one, and everything here works on that by reflection.
//
// # Schema
//
// Each exported field has a tag `yaml:"key"` (lower case, digits, underscores)
// and, unless it is a section, `doc:"one line"`; `unit:"documents"` names the
// unit of a number. Leaves are strings, booleans, integers, floats,
// time.Duration, value.Bytes, value.Secret, anything that implements
// encoding.TextUnmarshaler, and lists of these or of structs of these. Maps are
// refused: their keys would be the user's own, and viper lower-cases keys and
// merges the twins. [CheckSchema] is for the composing package's tests.
//
// # Precedence
//
// The environment wins over the file, the file over the defaults. The variable
// of source.kafka.brokers is PENSTOCK_SOURCE_KAFKA_BROKERS. In the file, null
// leaves a key unset; in the environment, an empty variable does.
//
// # Values
//
// In the file, ${NAME} gives the environment's NAME, once: what it gives is not
// looked at again. $$ gives one $; a $ before anything else is itself. Nothing
// in a value that comes from the environment is expanded. A secret written as
// file:/path is read from that file, without the line break at its end.
//
// # Mistakes
//
// All mistakes are reported together, loading and validation alike, each as a
// [value.Problem] with the key's full path, what was found and what to write.
package configs
