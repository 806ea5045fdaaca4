package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"penstock/configs"
)

func (a *app) validateCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration, and print it with where each value came from",
		Long: "Check the configuration without connecting to anything. Prints the effective configuration as YAML, secrets as stars,\n" +
			"with where each value came from; or every problem on a line of its own, and exits with code 2.",
		Example: "  penstock validate -c penstock.yaml",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, loaded, err := a.load(c, file)
			if err != nil {
				return err
			}
			a.warn(loaded)
			return configs.WriteEffective(a.stdout, loaded)
		},
	}
	configFlag(c, &file)
	return c
}

// configFlag adds the flag that names the configuration file.
func configFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "config", "c", "", "configuration file (YAML); without one, the environment alone counts")
}

// load reads the configuration. Problems come with their warnings printed,
// since a misspelt variable is often their cause; otherwise the warnings are
// the caller's to tell.
func (a *app) load(c *cobra.Command, file string) (*Config, *configs.Loaded, error) {
	if file == "" && c.Flags().Changed("config") {
		return nil, nil, &usageError{command: c.CommandPath(), err: errors.New("--config is empty: name a file, or leave the flag out to use the environment alone")}
	}
	config := DefaultConfig()
	loaded, err := configs.Load(file, a.environ, &config)
	if err != nil {
		a.warn(loaded)
		return nil, nil, err
	}
	return &config, loaded, nil
}

// warn prints what is worth telling and stops nothing.
func (a *app) warn(loaded *configs.Loaded) {
	if loaded == nil {
		return
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(a.stderr, "warning:", w)
	}
}
