// Package integration holds the suites that run Penstock against real servers.
package integration

import (
	"testing"

	"go.uber.org/goleak"

	"penstock/integration/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Suite(cleaning{m})) }
