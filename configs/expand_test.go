package configs

import (
	"strings"
	"testing"
)

func lookupIn(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v := vars[name]; return v, v != "" }
}

func TestExpand(t *testing.T) {
	lookup := lookupIn(map[string]string{"PW": "p@s$w0rd${X}", "A": "$$", "X": "never", "_1": "u"})
	for text, want := range map[string]string{
		"":              "",
		"plain":         "plain",
		"${PW}":         "p@s$w0rd${X}", // one pass only
		"${A}${_1}":     "$$u",
		"a-${PW}-b":     "a-p@s$w0rd${X}-b",
		"a$$b$c":        "a$b$c",
		"$${PW}":        "${PW}",
		"$$${PW}":       "$p@s$w0rd${X}",
		"$$$${PW}":      "$${PW}",
		"^logs$":        "^logs$",
		"$PW $(PW) $1":  "$PW $(PW) $1",
		"{topic}-${_1}": "{topic}-u",
	} {
		if got, err := expand(text, lookup); err != nil || got != want {
			t.Errorf("expand(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"${NONE}":   "variable NONE is not set or is empty",
		"${":        "${ without",
		"${}":       "${ without",
		"${A B}":    "${ without",
		"${A:-b}":   "${ without",
		"x${PW}${A": "${ without",
	} {
		if got, err := expand(text, lookup); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p@s") {
			t.Errorf("expand(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzUnexpand(f *testing.F) {
	for _, s := range []string{"", "$", "$$", "${", "$${X}", "a$b$$c$", "$$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := expand(unexpand(s), lookupIn(nil))
		if err != nil || got != s {
			t.Errorf("%q is written %q and reads as %q, %v", s, unexpand(s), got, err)
		}
	})
}

// The field case of secrets that are mangled on the way in.
func TestSecrets(t *testing.T) {
	lf, crlf, blank := writeFile(t, "abc\n"), writeFile(t, " a c\t\r\n"), writeFile(t, "file:/x")
	for _, c := range []struct{ in, want string }{
		{"password: ${PW}", "p@s$w0rd${X}"},
		{"password: 'a$$b$c'", "a$b$c"},
		{"password: 0123", "0123"},
		{"password: true", "true"},
		{"password: file:" + lf, "abc"},
		{"password: file:" + crlf, " a c\t"},
		{"password: file:${DIR}", "abc"},
		{"password: file:" + blank, "file:/x"},
		{"password: ${FILE}", "file:/etc/x"}, // what a variable holds is not looked at
	} {
		got, _, err := loadText(t, "sink:\n  "+c.in+"\n", "PW=p@s$w0rd${X}", "DIR="+lf, "FILE=file:/etc/x")
		if err != nil || got.Sink.Password.Reveal() != c.want {
			t.Errorf("%s gives %q, %v; want %q", c.in, got.Sink.Password.Reveal(), err, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"p@s$$w0rd${X}", "p@s$$w0rd${X}"}, // nothing in a variable is expanded
		{"file:" + lf, "abc"},
	} {
		got, _, err := loadText(t, "", "PENSTOCK_SINK_PASSWORD="+c.in)
		if err != nil || got.Sink.Password.Reveal() != c.want {
			t.Errorf("%s gives %q, %v; want %q", c.in, got.Sink.Password.Reveal(), err, c.want)
		}
	}
}

func TestSecretsRefused(t *testing.T) {
	const stars = "holds the stars that stand for a secret in the printed configuration: write the secret itself, ${NAME} or file:/path"
	const lineBreak = "holds a line break, which no header can carry: remove it (echo -n writes none)"
	inner, empty, big := writeFile(t, "ab\ncd\n"), writeFile(t, "\r\n"), writeFile(t, strings.Repeat("x", maxSecret+1))
	for in, want := range map[string]string{
		"file:" + inner:        lineBreak,
		"file:" + empty:        "cannot be the file \"" + empty + "\": it is empty",
		"file:" + big:          "cannot be the file \"" + big + "\": it is larger than 64KiB",
		"file:/does/not/exist": `cannot be read from the file "/does/not/exist": no such file or directory`,
		"file:secrets/pw":      `names the file "secrets/pw", which is not an absolute path: write file:/path`,
		"********":             stars,
		"abcd\n":               lineBreak,
	} {
		_, _, err := loadText(t, "", "PENSTOCK_SINK_PASSWORD="+in)
		wantLines(t, err, "sink.password: "+want+" (PENSTOCK_SINK_PASSWORD)")
	}
	_, _, err := loadText(t, "sink: {password: '${PW}', urls: ['https://u:********@es']}", "PW=")
	wantLines(t, err,
		"sink.urls[0]: "+stars+" (penstock.yaml:1)",
		"sink.password: refers to ${PW}, but the environment variable PW is not set or is empty: set it, or write $${PW} for the characters themselves (penstock.yaml:1)")
}

// Problems quote what was found, but no credentials.
func TestProblemsHideCredentials(t *testing.T) {
	_, _, err := loadText(t, "interval: 'https://user:s3cr@es/'\n")
	wantLines(t, err, `interval: "https://user:********@es/" is not a duration: write a number and a unit, such as 500ms, 5s or 1m30s (penstock.yaml:1)`)
}
