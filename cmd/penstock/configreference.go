package main

import (
	"github.com/spf13/cobra"

	"penstock/configs"
)

//go:generate go test -run ^TestReferenceIsCurrent$ -update .

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Explain the configuration",
		Args:  noArgs,
		RunE:  showHelp,
	}
	c.AddCommand(&cobra.Command{
		Use:   "reference",
		Short: "Print every key with its default, type, variable and meaning, as Markdown",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			config := DefaultConfig()
			return configs.WriteReference(a.stdout, &config)
		},
	})
	return c
}
