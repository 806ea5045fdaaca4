package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"penstock/internal/logging"
)

func (a *app) runCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "run",
		Short: "Move records from Kafka to Elasticsearch or OpenSearch until stopped",
		Long: "Consume as one member of a consumer group and write to Elasticsearch or OpenSearch in bulk. SIGTERM or Ctrl-C\n" +
			"stores and commits what is in flight, leaves the group and exits; a second one exits at once.",
		Example: "  penstock run -c penstock.yaml",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, loaded, err := a.load(c, file)
			if err != nil {
				return err
			}
			log, err := logging.New(config.Log)
			if err != nil {
				return fmt.Errorf("log: %w", err)
			}
			defer func() { _ = log.Sync() }()
			for _, w := range loaded.Warnings {
				log.Warn(w)
			}
			ctx, stop := untilSignal(c.Context(), log)
			defer stop()
			log.Info("starting", zap.String("version", buildVersion()), zap.Strings("brokers", config.Source.Kafka.Brokers), zap.String("group", config.Source.Kafka.Group))
			s, err := newService(ctx, *config, log)
			if err != nil {
				return err
			}
			defer s.close()
			return s.run(ctx)
		},
	}
	configFlag(c, &file)
	return c
}

// untilSignal gives a context that ends with the first SIGTERM or SIGINT. The
// second ends the process.
func untilSignal(parent context.Context, log *zap.Logger) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	over := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			log.Info("stopping: storing and committing what is in flight; a second signal exits at once", zap.Stringer("signal", s))
			cancel()
		case <-over:
			return
		}
		select {
		case s := <-signals:
			number := 0
			if n, ok := s.(syscall.Signal); ok {
				number = int(n)
			}
			os.Exit(exitSignal + number)
		case <-over:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}
