package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/google/uuid"
	"github.com/moby/moby/client"
)

// Labels of every container: the run that started it, and on which host.
const (
	runLabel  = "penstock.it.run"
	hostLabel = "penstock.it.host"
)

// connected is the daemon once it was reached, for closing it at the end.
var connected atomic.Pointer[docker]

// run is this process as its containers name it. It holds a lock on a file of
// that name, which the kernel lets go however the process ends: so another run
// knows which containers are still wanted, even beside it.
type run struct {
	id, host string
	lock     *os.File
}

var thisRun = sync.OnceValues(func() (*run, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	r := &run{id: uuid.NewString(), host: host}
	r.lock, err = hold(r.id)
	return r, err
})

// hold takes the lock of a run for as long as the file is open.
func hold(id string) (*os.File, error) {
	if err := os.MkdirAll(lockDir(), 0o777); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(lockDir(), id))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lockDir() string { return filepath.Join(os.TempDir(), "penstock-it-runs") }

func (r *run) labels() map[string]string {
	return map[string]string{runLabel: r.id, hostLabel: r.host}
}

// ended tells whether the run of that id is over, and forgets its file if so.
func ended(id string) bool {
	path := filepath.Join(lockDir(), filepath.Base(id))
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return false
	}
	os.Remove(path)
	return true
}

// removeLeftovers removes the containers of runs on this host that were killed.
func removeLeftovers(ctx context.Context, docker client.APIClient) error {
	r, err := thisRun()
	if err != nil {
		return err
	}
	list, err := docker.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", runLabel, hostLabel+"="+r.host),
	})
	if err != nil {
		return err
	}
	for _, c := range list.Items {
		id := c.Labels[runLabel]
		if id == r.id || !ended(id) {
			continue
		}
		opts := client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}
		if _, err := docker.ContainerRemove(ctx, c.ID, opts); err != nil {
			return fmt.Errorf("container %.12s: %w", c.ID, err)
		}
		fmt.Fprintf(os.Stderr, "integration: removed container %.12s of a killed run\n", c.ID)
	}
	return nil
}
