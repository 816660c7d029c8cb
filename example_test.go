package hardshell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"hardshell"
	"hardshell/shell"
)

// A harness runs commands in the foreground. Every outcome is a field of its
// own: an exit status is no error.
func Example() {
	ctx := context.Background()
	home, err := os.MkdirTemp("", "hardshell-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)

	h, err := hardshell.Open(ctx, hardshell.Options{Home: home})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)

	result, err := h.Run(ctx, shell.Request{Command: "echo hello; exit 3", Timeout: time.Minute})
	if err != nil {
		log.Fatal(err) // it could not be run: hardshell.CodeOf(err) says why
	}
	fmt.Printf("%q, status %d, timed out: %t\n", result.Stdout.Text, result.Status(), result.TimedOut)

	_, err = h.Run(ctx, shell.Request{Command: "true", Workdir: "/nonexistent-place"})
	fmt.Println(hardshell.CodeOf(err))
	// Output:
	// "hello\n", status 3, timed out: false
	// WORKDIR_NOT_FOUND
}

// A command in the background is read as it goes, and ends with the harness.
func ExampleHarness_Start() {
	ctx := context.Background()
	home, err := os.MkdirTemp("", "hardshell-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	h, err := hardshell.Open(ctx, hardshell.Options{Home: home})
	if err != nil {
		log.Fatal(err)
	}

	process, err := h.Start(ctx, shell.Request{Command: "echo done"})
	if err != nil {
		log.Fatal(err)
	}
	<-process.Done()
	fmt.Printf("%s, %q\n", process.State().Status, process.ReadOutput().Delta)

	server, err := h.Start(ctx, shell.Request{Command: "sleep 600"})
	if err != nil {
		log.Fatal(err)
	}
	if err := h.Close(ctx); err != nil {
		log.Fatal(err)
	}
	<-server.Done()
	fmt.Println(server.State().Status, server.State().Signal)
	// Output:
	// completed, "done\n"
	// killed SIGTERM
}

// A tool is called as a model would call it: what comes back is what the model
// reads, beside the value and the cards for a person.
func ExampleHarness_Call() {
	ctx := context.Background()
	home, err := os.MkdirTemp("", "hardshell-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	h, err := hardshell.Open(ctx, hardshell.Options{Home: home})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)

	result := h.Call(ctx, "bash", json.RawMessage(`{"command":"echo hi; exit 3","description":"Greet and fail"}`))
	text, _ := result.SoleText()
	fmt.Println(result.IsError)
	fmt.Println(text)
	// Output:
	// false
	// hi
	// [exit code: 3]
}
