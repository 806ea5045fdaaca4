package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	loopback = "127.0.0.1"
	// StopTimeout is how long a server may take to end after SIGTERM.
	StopTimeout = time.Minute
	// ReadyTimeout is how long a server may take until it answers.
	ReadyTimeout = 3 * time.Minute
	// readyInterval is the pause between two questions whether it answers.
	readyInterval = 200 * time.Millisecond
)

// Server is one server in a container. Data and port outlive Stop, Kill and
// Start. Its methods are for one goroutine at a time, which may be another than
// the test's: they return errors and never end the test.
type Server struct {
	// Kind is what it is.
	Kind Kind
	// Image is what it was started from.
	Image string

	port      int
	container testcontainers.Container
	docker    client.APIClient
	ready     func(ctx context.Context) error
}

// Address is where it listens, host:port; the same for all its life.
func (s *Server) Address() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// Stop ends the server by SIGTERM and waits until it has gone. One that takes
// longer than [StopTimeout] is killed by Docker.
func (s *Server) Stop(ctx context.Context) error {
	timeout := StopTimeout
	if err := s.container.Stop(ctx, &timeout); err != nil {
		return fmt.Errorf("stopping %s: %w", s.Kind, err)
	}
	return nil
}

// Kill ends the server by SIGKILL and waits until it has gone.
func (s *Server) Kill(ctx context.Context) error {
	id := s.container.GetContainerID()
	if _, err := s.docker.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
		return fmt.Errorf("killing %s: %w", s.Kind, err)
	}
	// A start while the old process is still there would do nothing.
	wait := s.docker.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		return fmt.Errorf("waiting for the end of %s: %w", s.Kind, err)
	}
}

// Start starts the server again after Stop or Kill, and waits until it answers.
func (s *Server) Start(ctx context.Context) error {
	if err := s.container.Start(ctx); err != nil {
		return fmt.Errorf("starting %s: %w", s.Kind, err)
	}
	return s.waitReady(ctx)
}

// Restart is Stop and Start.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// waitReady asks the server until it answers, or its container has ended.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ReadyTimeout)
	defer cancel()
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		state, stateErr := s.container.State(ctx)
		if stateErr == nil && !state.Running {
			return fmt.Errorf("%s ended with code %d before it answered", s.Kind, state.ExitCode)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w (%w)", s.Kind, err, ctx.Err())
		}
	}
}

// spec is what a server's container is made from.
type spec struct {
	// port is what the server listens on in its container, for a given port of the host.
	port func(host int) int
	// env is its environment, for a given port of the host.
	env func(host int) map[string]string
	// ready asks the server at that address whether it works.
	ready func(ctx context.Context, address string) error
}

// launch starts a container. A port that someone else took in between is not
// a failure: another one is tried.
func launch(ctx context.Context, kind Kind, image string, from spec) (*Server, error) {
	d, err := connect()
	if err != nil {
		return nil, err
	}
	var failed []error
	for range 3 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s := &Server{Kind: kind, Image: image, port: port, docker: d.client}
		s.ready = func(ctx context.Context) error { return from.ready(ctx, s.Address()) }
		if s.container, err = create(ctx, d, image, port, from); err != nil {
			return nil, fmt.Errorf("creating a container of %s: %w", image, err)
		}
		if err = s.container.Start(ctx); err == nil {
			return s, nil
		}
		failed = append(failed, err, s.remove(ctx))
	}
	return nil, fmt.Errorf("starting a container of %s: %w", image, errors.Join(failed...))
}

func create(ctx context.Context, d *docker, image string, port int, from spec) (testcontainers.Container, error) {
	r, err := thisRun()
	if err != nil {
		return nil, err
	}
	inside := strconv.Itoa(from.port(port)) + "/tcp"
	return d.provider.CreateContainer(ctx, testcontainers.ContainerRequest{
		Image:        image,
		Env:          from.env(port),
		Labels:       r.labels(),
		ExposedPorts: []string{inside},
		HostConfigModifier: func(c *container.HostConfig) {
			// Stated, because Docker publishes another port at each start otherwise.
			c.PortBindings = network.PortMap{network.MustParsePort(inside): []network.PortBinding{{
				HostIP: netip.MustParseAddr(loopback), HostPort: strconv.Itoa(port),
			}}}
		},
	})
}

// remove ends and removes the container with its volumes.
func (s *Server) remove(ctx context.Context) error {
	opts := client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}
	if _, err := s.docker.ContainerRemove(ctx, s.container.GetContainerID(), opts); err != nil {
		return fmt.Errorf("removing the container of %s: %w", s.Kind, err)
	}
	return nil
}
