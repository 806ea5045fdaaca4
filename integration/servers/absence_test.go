package servers

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestAbsenceIsSaidOnceAndSummedUp(t *testing.T) {
	a := &absence{tests: map[Kind][]string{}}
	var said, summary bytes.Buffer
	a.add(&said, OpenSearch3, "TestA", errors.New("no\nimage"))
	a.add(&said, OpenSearch3, "TestB", errors.New("no\nimage"))
	a.add(&said, KafkaBroker, "TestB", errors.New("no image"))
	if n := strings.Count(said.String(), "opensearch3"); n != 1 {
		t.Errorf("said %d times:\n%s", n, &said)
	}
	if n := strings.Count(said.String(), "\n"); n != 2 {
		t.Errorf("%d lines for two servers:\n%s", n, &said)
	}

	a.summary(&summary)
	want := "integration: NOT RUN for want of kafka: TestB\n" +
		"integration: NOT RUN for want of opensearch3: TestA, TestB\n"
	if summary.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &summary, want)
	}
}
