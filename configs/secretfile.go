package configs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"penstock/configs/value"
)

// maxSecret bounds a secret's file, in bytes.
const maxSecret = 64 << 10

// errStars meets those who load what [WriteEffective] printed.
var errStars = errors.New("holds the stars that stand for a secret in the printed configuration: write the secret itself, ${NAME} or file:/path")

// secret gives the secret that raw stands for. Errors never quote it. The
// prefix file: counts only where it was written, not where a variable held it,
// so that ${NAME} can carry any secret.
func (d *decoder) secret(raw string) (string, error) {
	text, err := d.expanded(raw)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(raw, "file:") {
		text, err = secretFile(strings.TrimPrefix(text, "file:"))
	}
	switch {
	case err != nil:
		return "", err
	case strings.ContainsAny(text, "\r\n"):
		return "", errors.New("holds a line break, which no header can carry: remove it (echo -n writes none)")
	case text == value.Stars:
		return "", errStars
	}
	return text, nil
}

// secretFile reads a secret from its file, without the line breaks at its end.
func secretFile(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("names the file %q, which is not an absolute path: write file:/path", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot be read from the file %q: %w", path, withoutPath(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("cannot be read from the file %q: %w", path, withoutPath(err))
	}
	text := strings.TrimRight(string(data), "\r\n")
	switch {
	case len(data) > maxSecret:
		return "", fmt.Errorf("cannot be the file %q: it is larger than %v", path, value.Bytes(maxSecret))
	case text == "":
		return "", fmt.Errorf("cannot be the file %q: it is empty", path)
	}
	return text, nil
}
