package servers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
)

// A run is over when its process is, even if that was killed; not before.
func TestRunEndsWithItsProcess(t *testing.T) {
	if id := os.Getenv("PENSTOCK_IT_HOLD_LOCK"); id != "" {
		holdLock(t, id)
		return
	}
	id := uuid.NewString()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), "PENSTOCK_IT_HOLD_LOCK="+id)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process said %q (%v)", line, err)
	}
	if ended(id) {
		t.Error("a living run is taken for over: its containers would be removed")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, and says so
	if !ended(id) {
		t.Error("a killed run is taken for living: its containers would stay for ever")
	}
	if _, err := os.Stat(filepath.Join(lockDir(), id)); !os.IsNotExist(err) {
		t.Errorf("its file is still there (%v)", err)
	}
}

// holdLock takes the lock of a run, says so, and waits to be killed: its input
// never ends before the parent does.
func holdLock(t *testing.T, id string) {
	f, err := hold(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Println("locked")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
}

func TestRunWithoutItsFileIsOver(t *testing.T) {
	if !ended(uuid.NewString()) {
		t.Error("a run without a file is taken for living")
	}
}
