//go:build js && wasm

// Command wasm is package engine for a Web Worker (page/worker.js), which posts
// the results on.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/zkwarp/zkwarp/examples/wasm-verify/engine"
)

func main() {
	js.Global().Set("zkwarpVerify", js.FuncOf(verify))
	js.Global().Set("zkwarpProve", js.FuncOf(prove))
	post(map[string]any{"kind": "ready", "schemes": engine.Schemes(), "maxVars": engine.MaxVars}, nil)
	select {}
}

// verify(id, [Uint8Array...]) posts {kind: "verified", id, report}.
func verify(_ js.Value, args []js.Value) any {
	var files [][]byte
	for i := range args[1].Length() {
		files = append(files, take(args[1].Index(i)))
	}
	id := args[0].Int()
	go func() { post(map[string]any{"kind": "verified", "id": id, "report": engine.Verify(files...)}, nil) }()
	return nil
}

// prove(id, options as JSON, Uint8Array or null) posts {kind: "progress", id,
// stage} as it goes on, and at its end {kind: "proved", id, made, bundle} or
// {kind: "failed", id, reason}.
func prove(_ js.Value, args []js.Value) any {
	id, text := args[0].Int(), args[1].String()
	var table []byte
	if !args[2].IsNull() {
		table = take(args[2])
	}
	go func() {
		failed := func(err error) { post(map[string]any{"kind": "failed", "id": id, "reason": err.Error()}, nil) }
		var o engine.Options
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			failed(err)
			return
		}
		m, err := engine.Prove(context.Background(), o, table, func(stage string) {
			post(map[string]any{"kind": "progress", "id": id, "stage": stage}, nil)
		})
		if err != nil {
			failed(err)
			return
		}
		post(map[string]any{"kind": "proved", "id": id, "made": m}, m.Bundle)
	}()
	return nil
}

func take(v js.Value) []byte {
	out := make([]byte, v.Get("length").Int())
	js.CopyBytesToGo(out, v)
	return out
}

// post hands a message, as JSON with a file beside it, to the worker.
func post(message map[string]any, file []byte) {
	text, err := json.Marshal(message)
	if err != nil {
		text = []byte(`{"kind": "failed", "reason": "the result has no JSON form"}`)
	}
	bundle := js.Null()
	if file != nil {
		bundle = js.Global().Get("Uint8Array").New(len(file))
		js.CopyBytesToJS(bundle, file)
	}
	js.Global().Call("zkwarpPost", string(text), bundle)
}
