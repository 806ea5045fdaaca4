package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// pingTimeout bounds the question whether Docker is there.
const pingTimeout = 10 * time.Second

// docker is the connection to the daemon, made once for a process.
type docker struct {
	provider *testcontainers.DockerProvider
	client   client.APIClient
}

var connect = sync.OnceValues(func() (*docker, error) {
	// The reaper is an image of its own, which may not be had; leftovers are
	// removed by their label instead. "localhost" can mean ::1, where Docker
	// may publish another port than on 127.0.0.1.
	setDefault("TESTCONTAINERS_RYUK_DISABLED", "true")
	setDefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	tclog.SetDefault(quiet{})

	provider, err := newProvider()
	if err != nil {
		return nil, fmt.Errorf("no Docker answers: %w", err)
	}
	d := &docker{provider: provider, client: provider.Client()}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	if err := provider.Health(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("no Docker answers: %w", err), provider.Close())
	}
	if err := removeLeftovers(ctx, d.client); err != nil {
		return nil, errors.Join(fmt.Errorf("removing the containers of killed runs: %w", err), provider.Close())
	}
	connected.Store(d)
	return d, nil
})

// newProvider turns the panics of testcontainers (no Docker host found) into errors.
func newProvider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return testcontainers.NewDockerProvider()
}

func setDefault(name, value string) {
	if _, set := os.LookupEnv(name); !set {
		os.Setenv(name, value)
	}
}

// quiet drops the running commentary of testcontainers.
type quiet struct{}

// Printf does nothing.
func (quiet) Printf(string, ...any) {}
