package value_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"penstock/configs/value"
)

func TestSecretPrintsAsStars(t *testing.T) {
	const planted = "s3cr/t"
	type config struct {
		Password value.Secret
		List     []value.Secret
		Pointer  *value.Secret
		hidden   value.Secret
	}
	s := value.NewSecret(planted)
	c := config{s, []value.Secret{s}, &s, s}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "config", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "config", c)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{"json": string(data), "slog": log.String(), "error": fmt.Errorf("bad: %v", s).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%c"} {
		outputs["one "+verb] = fmt.Sprintf(verb, s)
		outputs["struct "+verb] = fmt.Sprintf(verb, c)
	}
	for how, out := range outputs {
		if strings.Contains(out, planted) || strings.Contains(strings.ToLower(out), "733363722f74") {
			t.Errorf("%s shows the secret: %s", how, out)
		}
	}
	if got := c.hidden.Reveal(); got != planted {
		t.Errorf("Reveal() = %q, want %q", got, planted)
	}
	if got := fmt.Sprint(value.Secret{}, value.Secret{}.IsZero()); got != " true" {
		t.Errorf("an unset secret prints as %q", got)
	}
}

func TestRedactURLs(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:s3cr%2Ft@es:9200/":    "https://user:********@es:9200/",
		"https://user:a/b@c@es:9200/":       "https://user:********@es:9200/",
		"https://t0ken@es:9200/":            "https://********@es:9200/",
		"https://:pw@es/":                   "https://********@es/",
		"http://es:9200/x":                  "http://es:9200/x",
		"http://es:9200 and me@home":        "http://es:9200 and me@home",
		"http://es/path@x":                  "http://es/path@x",
		`parse "https://u:p w@h": no space`: `parse "https://u:p w@h": no space`,
		"a http://u:p@h1 b http://v:q@h2":   "a http://u:********@h1 b http://v:********@h2",
		"user:password@host":                "user:password@host",
	} {
		if got := value.RedactURLs(in); got != want {
			t.Errorf("RedactURLs(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	var none value.Problems
	if err := none.Err(); err != nil {
		t.Errorf("no problems give %v", err)
	}
	var p value.Problems
	p.Add("a.b", "is empty: write one")
	p.OneOf("c", "x", "y", "z")
	p.OneOf("d", "y", "y", "z")
	err := p.Err()
	const want = "a.b: is empty: write one\nc: \"x\" is not known here; write one of: y, z"
	if err == nil || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	problem, ok := errors.AsType[*value.Problem](err)
	if !ok || problem.Key != "a.b" {
		t.Errorf("the first problem is %v", problem)
	}
}
