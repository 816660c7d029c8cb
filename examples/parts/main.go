// Command parts puts an executor together by hand, starts a command in the
// background, follows its output and ends it.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/subprocess/local"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	runtime := local.New(local.Config{})
	defer runtime.Close(ctx)

	executor, err := bash.New(runtime, bash.DefaultConfig())
	if err != nil {
		return err
	}
	spec, err := executor.Resolve(shell.Request{Command: "echo ready; exec sleep 600"})
	if err != nil {
		return err
	}
	process, err := executor.Start(ctx, spec)
	if err != nil {
		return err
	}
	for output := ""; output != "ready\n"; time.Sleep(10 * time.Millisecond) {
		output += process.ReadOutput().Delta // consumes: each byte comes once
	}
	process.Kill()
	<-process.Done()
	fmt.Println(process.State().Status, process.State().Signal)
	return nil
}
