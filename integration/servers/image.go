package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Bounds of getting an image. A pull whose registry does not answer gives up
// soon, a slow one only when nothing moves any more.
const (
	firstByte    = 20 * time.Second
	stall        = time.Minute
	buildTimeout = 15 * time.Minute
)

// images remembers for each kind what came of looking for its image, so that a
// missing registry costs its time-out once.
var images = func() map[Kind]func() (string, error) {
	m := make(map[Kind]func() (string, error), len(Kinds))
	for _, k := range Kinds {
		m[k] = sync.OnceValues(func() (string, error) { return findImage(context.Background(), k) })
	}
	return m
}()

// findImage gives the image to start: the one that the environment names, else
// the official one, else the one built here.
func findImage(ctx context.Context, kind Kind) (string, error) {
	d, err := connect()
	if err != nil {
		return "", err
	}
	from := origins[kind]
	if image := os.Getenv(from.override); image != "" {
		if err := ensure(ctx, d.client, image); err != nil {
			return "", fmt.Errorf("%s: %w", from.override, err)
		}
		return image, nil
	}
	pullErr := ensure(ctx, d.client, from.official)
	if pullErr == nil {
		return from.official, nil
	}
	if from.local == "" {
		return "", fmt.Errorf("%w (set %s to an image that is here; none can be built)", pullErr, from.override)
	}
	// The build is asked even if an image is there: it knows whether that is up to date.
	if err := buildImage(ctx, kind); err != nil {
		return "", fmt.Errorf("%w; %w", pullErr, err)
	}
	return from.local, nil
}

// ensure finds the image here or pulls it.
func ensure(ctx context.Context, docker client.APIClient, image string) error {
	_, err := docker.ImageInspect(ctx, image)
	if err == nil {
		return nil
	}
	if !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("looking for image %s: %w", image, err)
	}
	if err := pull(ctx, docker, image); err != nil {
		return fmt.Errorf("pulling %s: %w", image, err)
	}
	return nil
}

// pull fetches the image for as long as something moves.
func pull(ctx context.Context, docker client.APIClient, image string) error {
	errStalled := errors.New("the registry does not answer")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(firstByte, func() { cancel(errStalled) })
	defer watchdog.Stop()

	progress, err := docker.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return causeOr(ctx, err)
	}
	defer progress.Close()
	for message, err := range progress.JSONMessages(ctx) {
		switch {
		case err != nil:
			return causeOr(ctx, err)
		case message.Error != nil:
			return message.Error
		}
		watchdog.Reset(stall)
	}
	return causeOr(ctx, nil)
}

// causeOr gives why ctx was cancelled, else err.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// buildImage runs images/build, the very script that "make images" runs.
func buildImage(ctx context.Context, kind Kind) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, "integration", "images", "build"), string(kind))
	cmd.Stdout, cmd.Stderr = &out, &out
	// The script's children may hold its output open after it was killed.
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building its image: %w: %s", err, lastLine(out.String()))
	}
	return nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// moduleRoot is the folder of go.mod: tests run in the folder of their package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in this folder or above")
		}
		dir = parent
	}
}
