// Command library runs one command through the front door and tells apart the
// ways in which it can end.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hardshell"
	"hardshell/shell"
)

func main() {
	// A library takes no signals. A program that wants its commands to end with
	// it asks for them, and closes the harness.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	h, err := hardshell.Open(ctx, hardshell.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(context.WithoutCancel(ctx))) }()

	result, err := h.Run(ctx, shell.Request{
		Command: "echo working; exit 3",
		Timeout: 30 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("could not be run (%s): %w", hardshell.CodeOf(err), err)
	}
	switch {
	case result.TimedOut:
		fmt.Println("timed out after", result.Timeout)
	case result.Aborted:
		fmt.Println("aborted")
	default:
		fmt.Println("exit status", result.Status())
	}
	fmt.Print(result.Stdout.Text)
	if result.Stdout.SpillPath != "" {
		fmt.Println("the whole output is in", result.Stdout.SpillPath)
	}
	return nil
}
