package configs

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// kindInfo describes a type of settings to people.
type kindInfo struct {
	name    string // as the reference calls it
	example string // as it is written in the file
}

func typeOf(t reflect.Type) kindInfo {
	switch {
	case t == durationType:
		return kindInfo{"duration", "a number with its unit, such as 5s"}
	case t == bytesType:
		return kindInfo{"size", "a number with its unit, such as 5MiB"}
	case t == secretType:
		return kindInfo{"secret", "${NAME}, file:/path or the value in quotes"}
	case isText(t) || t.Kind() == reflect.String:
		return kindInfo{"text", "one value, in quotes if it has special characters"}
	case t.Kind() == reflect.Bool:
		return kindInfo{"true or false", "true or false"}
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return kindInfo{"number", "a number such as 0.5"}
	case isScalar(t.Kind()):
		return kindInfo{"whole number", "a whole number such as 500"}
	case t.Kind() == reflect.Struct:
		keys := make([]string, t.NumField())
		for i := range keys {
			keys[i] = t.Field(i).Tag.Get("yaml")
		}
		return kindInfo{"{" + strings.Join(keys, ", ") + "}", "{" + strings.Join(keys, ": ..., ") + ": ...}"}
	default: // a list
		item := typeOf(t.Elem())
		if t.Elem().Kind() == reflect.Struct && !isText(t.Elem()) {
			return kindInfo{"list of " + item.name, "[" + item.example + "]"}
		}
		return kindInfo{"list, each a " + item.name, "[one, two]"}
	}
}

// unitWords are the ways in which people write units that Go does not take.
var unitWords = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hour": "h", "hours": "h", "hr": "h", "hrs": "h", "msec": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
	"s": "s", "m": "m", "h": "h", "ms": "ms",
}

var loose = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*$`)

func setDuration(v reflect.Value, text string) error {
	d, err := time.ParseDuration(text)
	if err == nil {
		v.SetInt(int64(d))
		return nil
	}
	m := loose.FindStringSubmatch(text)
	switch {
	case m != nil && m[2] == "":
		return fmt.Errorf("%q has no unit: write %ss, or %sms, %sm, %sh if you mean that", text, m[1], m[1], m[1], m[1])
	case m != nil && unitWords[strings.ToLower(m[2])] != "":
		return fmt.Errorf("%q is not a duration: write %s", text, m[1]+unitWords[strings.ToLower(m[2])])
	case m != nil && strings.HasPrefix(strings.ToLower(m[2]), "d"):
		return fmt.Errorf("%q is not a duration: days have no unit here, write hours, such as 24h", text)
	default:
		return fmt.Errorf("%q is not a duration: write a number and a unit, such as 500ms, 5s or 1m30s", text)
	}
}

func setBool(v reflect.Value, text string) error {
	switch text {
	case "true", "True", "TRUE":
		v.SetBool(true)
	case "false", "False", "FALSE":
		v.SetBool(false)
	default:
		return fmt.Errorf("%q is neither true nor false: write one of them", text)
	}
	return nil
}

// decimal is a number as people write it. A zero in front would be octal to
// some readers of YAML and decimal to others.
var decimal = regexp.MustCompile(`^[+-]?(0|[1-9]\d*)$`)

func setNumber(v reflect.Value, text string) error {
	t := v.Type()
	if v.CanFloat() {
		x, err := strconv.ParseFloat(text, t.Bits())
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%q is not a number: write one such as 0.5", text)
		}
		v.SetFloat(x)
		return nil
	}
	if !decimal.MatchString(text) {
		return fmt.Errorf("%q is not a whole number: write one such as 500, in digits alone", text)
	}
	text = strings.TrimPrefix(text, "+")
	if v.CanUint() {
		n, err := strconv.ParseUint(text, 10, t.Bits())
		if err != nil {
			return fmt.Errorf("%q is out of range: write a number from 0 to %d", text, uint64(math.MaxUint64)>>(64-t.Bits()))
		}
		v.SetUint(n)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, t.Bits())
	if err != nil {
		limit := int64(math.MaxInt64) >> (64 - t.Bits())
		return fmt.Errorf("%q is out of range: write a number from %d to %d", text, -limit-1, limit)
	}
	v.SetInt(n)
	return nil
}
