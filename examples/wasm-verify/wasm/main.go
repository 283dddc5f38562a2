//go:build js && wasm

// Command wasm is package engine for a Web Worker (page/worker.js), which posts
// the results on.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/zkwarp/zkwarp/examples/wasm-verify/engine"
)

func main() {
	js.Global().Set("zkwarpVerify", js.FuncOf(verify))
	js.Global().Set("zkwarpProve", js.FuncOf(prove))
	js.Global().Set("zkwarpRoles", js.FuncOf(roles))
	js.Global().Set("zkwarpKey", js.FuncOf(key))
	js.Global().Set("zkwarpInfer", js.FuncOf(infer))
	post(map[string]any{"kind": "ready", "schemes": engine.Schemes(), "maxVars": engine.MaxVars}, nil)
	select {}
}

// verify(id, [Uint8Array...]) posts {kind: "verified", id, report}.
func verify(_ js.Value, args []js.Value) any {
	id, files := args[0].Int(), takeAll(args[1])
	go func() { post(map[string]any{"kind": "verified", "id": id, "report": engine.Verify(files...)}, nil) }()
	return nil
}

// keys remembers the last one.
var keys engine.Keys

// roles(id, [Uint8Array...]) posts {kind: "roles", id, roles}.
func roles(_ js.Value, args []js.Value) any {
	out := []engine.Role{}
	for _, f := range takeAll(args[1]) {
		out = append(out, engine.RoleOf(f))
	}
	post(map[string]any{"kind": "roles", "id": args[0].Int(), "roles": out}, nil)
	return nil
}

// key(id, Uint8Array) posts {kind: "key", id, key}.
func key(_ js.Value, args []js.Value) any {
	id, file := args[0].Int(), take(args[1])
	go func() { post(map[string]any{"kind": "key", "id": id, "key": keys.Read(file)}, nil) }()
	return nil
}

// infer(id, key, input, answer, [commitment...], [opening...], [proof...], text that the proof is
// tied to) posts {kind: "inferred", id, report}. input and answer may be empty; commitments and
// openings are {name, bytes}.
func infer(_ js.Value, args []js.Value) any {
	id := args[0].Int()
	c := &engine.Case{Key: take(args[1]), Input: take(args[2]), Answer: take(args[3]),
		Commitments: takeFiles(args[4]), Openings: takeFiles(args[5]), Proofs: takeAll(args[6]), Context: []byte(args[7].String())}
	go func() { post(map[string]any{"kind": "inferred", "id": id, "report": keys.Verify(c)}, nil) }()
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

func takeAll(v js.Value) (out [][]byte) {
	for i := range v.Length() {
		out = append(out, take(v.Index(i)))
	}
	return out
}

func takeFiles(v js.Value) (out []engine.File) {
	for i := range v.Length() {
		f := v.Index(i)
		out = append(out, engine.File{Name: f.Get("name").String(), Data: take(f.Get("bytes"))})
	}
	return out
}

// post hands a message, as JSON with a file beside it, to the worker.
func post(message map[string]any, file []byte) {
	text, err := json.Marshal(message)
	if err != nil {
		text = fmt.Appendf(nil, `{"kind": "failed", "id": %d, "reason": "the result has no JSON form"}`, message["id"])
	}
	bundle := js.Null()
	if file != nil {
		bundle = js.Global().Get("Uint8Array").New(len(file))
		js.CopyBytesToJS(bundle, file)
	}
	js.Global().Call("zkwarpPost", string(text), bundle)
}
