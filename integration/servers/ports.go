package servers

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which Linux and others give ports to
// outgoing connections: a server that is down for a moment must find its port free
// when it comes back.
const (
	firstPort = 20000
	lastPort  = 32000
)

// freePort gives a port of the loopback address that nobody listens on.
func freePort() (int, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("no free port found")
}
