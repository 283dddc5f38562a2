package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/examples/wasm-verify/engine"
)

// browser is a headless Chromium, driven by ChromeDriver over HTTP.
type browser struct {
	t       testing.TB
	session string // its address
}

// open starts both, or skips the test where they are not installed and
// ZKWARP_REQUIRE_BROWSER is not set.
func open(t testing.TB) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	chromium, err2 := exec.LookPath("chromium")
	switch err := errors.Join(err, err2); {
	case testing.Short():
		t.Skip("short")
	case err != nil && os.Getenv("ZKWARP_REQUIRE_BROWSER") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip(err, "(Debian: apt-get install chromium chromium-driver)")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	c := exec.Command(driver, fmt.Sprint("--port=", port))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	b := &browser{t, fmt.Sprintf("http://127.0.0.1:%d", port)}
	b.wait("chromedriver to start", func() bool {
		r, err := http.Get(b.session + "/status")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	var made struct {
		SessionID string `json:"sessionId"`
	}
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,1500", "--user-data-dir=" + t.TempDir()}
	b.call("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:chromeOptions": map[string]any{"binary": chromium, "args": args},
		"goog:loggingPrefs":  map[string]any{"browser": "WARNING"},
	}}}, &made)
	b.session += "/session/" + made.SessionID
	t.Cleanup(func() { b.call("DELETE", "", nil, nil) })
	return b
}

func (b *browser) call(method, path string, body, into any) {
	b.t.Helper()
	var text io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		text = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, b.session+path, text)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	answer := struct{ Value json.RawMessage }{}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode != http.StatusOK {
		b.t.Fatalf("%s %s: %s: %s (%v)", method, path, r.Status, answer.Value, err)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Value, into); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *browser) wait(what string, done func() bool) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waiting for %s: nothing in two minutes", what)
		}
	}
}

// js runs a script and returns its result as text.
func (b *browser) js(script string) (out string) {
	b.t.Helper()
	b.call("POST", "/execute/sync", map[string]any{"script": script, "args": []any{}}, &out)
	return out
}

func (b *browser) text(id string) string {
	return b.js("return document.getElementById('" + id + "').textContent")
}

// element finds one by a selector, and returns its path.
func (b *browser) element(selector string) string {
	b.t.Helper()
	var found map[string]string
	b.call("POST", "/element", map[string]any{"using": "css selector", "value": selector}, &found)
	for _, id := range found {
		return "/element/" + id
	}
	b.t.Fatal("no element ", selector)
	return ""
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.call("POST", b.element(selector)+"/click", map[string]any{}, nil)
}

func (b *browser) clear() {
	b.t.Helper()
	b.js("document.getElementById('files').value = ''; document.getElementById('verdict').textContent = ''; return ''")
}

// add drops files on the page.
func (b *browser) add(files ...string) {
	b.t.Helper()
	b.clear()
	b.call("POST", b.element("#files")+"/value", map[string]any{"text": strings.Join(files, "\n")}, nil)
}

// choose is add, and waits for a verdict.
func (b *browser) choose(files ...string) {
	b.t.Helper()
	b.add(files...)
	b.wait("a verdict", func() bool { return b.text("verdict") != "" })
}

// site builds the pages, serves them and opens the one for networks.
func site(t *testing.T, b *browser) (address string) {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	size, err := build(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if size > 14<<20 {
		t.Errorf("verify.wasm has %d bytes", size)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- serve(served, l, dir) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/"
}

func (b *browser) visit(page string) {
	b.t.Helper()
	b.call("POST", "/url", map[string]any{"url": page}, nil)
	b.wait("the verifier to load", func() bool { return b.text("state") == "Ready." })
}

// quiet fails the test for what the browser's console has.
func (b *browser) quiet() {
	b.t.Helper()
	var log []struct{ Level, Message string }
	b.call("POST", "/se/log", map[string]any{"type": "browser"}, &log)
	for _, l := range log {
		b.t.Errorf("the browser's console: %s: %s", l.Level, l.Message)
	}
}

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPages has both pages in one browser.
func TestPages(t *testing.T) {
	b := open(t)
	address := site(t, b)
	for _, c := range []struct {
		name, page string
		run        func(*testing.T, *browser)
	}{{"network", "", testNetwork}, {"committed alike", "", testAlike}, {"opening", "whir.html", testOpening}} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			b.visit(address + c.page)
			c.run(t, b)
			b.quiet()
		})
		b.t = t
	}
}

// testOpening has the page verify real files, reject spoiled ones by name, say what is no
// proof, and prove.
func testOpening(t *testing.T, b *browser) {
	made, err := engine.Prove(context.Background(), engine.Options{Scheme: engine.Schemes()[0][0], Vars: 16, Seed: "1", Bits: 100}, nil, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	b.choose(file(t, "opening.bundle", made.Bundle))
	if got := b.text("verdict"); !strings.HasPrefix(got, "Accepted") {
		t.Fatalf("a good bundle: %s: %s", got, b.text("reason"))
	}
	if got := b.text("about"); !strings.Contains(got, made.Report.Commitment) || !strings.Contains(got, "All errors together") {
		t.Errorf("the page does not show the commitment and its security: %s", got)
	}
	screenshot(t, b, "whir")

	b.js("document.getElementById('verdict').textContent = ''; return ''")
	b.click("#tamper")
	b.wait("a verdict", func() bool { return b.text("verdict") != "" })
	if got := b.text("verdict"); !strings.HasPrefix(got, "Rejected by the check: ") {
		t.Errorf("after the button: %s: %s", got, b.text("reason"))
	}
	bad := bytes.Clone(made.Bundle)
	bad[len(bad)/2] ^= 1 // in a row
	b.choose(file(t, "tampered.bundle", bad))
	if got := b.text("verdict"); !strings.HasPrefix(got, "Rejected by the check: ") {
		t.Errorf("a tampered bundle: %s: %s", got, b.text("reason"))
	}
	b.choose(file(t, "short.bundle", made.Bundle[:1000]))
	if got := b.text("verdict"); !strings.HasPrefix(got, "These files are not a proof") {
		t.Errorf("a bundle cut short: %s", got)
	}

	b.click("#go") // 2^14 elements
	b.wait("a proof", func() bool { return strings.Contains(b.text("progress"), "committed and opened") })
	if got := b.text("verdict"); !strings.HasPrefix(got, "Accepted") {
		t.Errorf("what the page proved: %s", got)
	}
	if got := b.text("progress"); !strings.HasPrefix(got, "16,384 elements") {
		t.Errorf("the page says: %s", got)
	}
	t.Log(b.text("progress"))
}

// screenshot puts a picture of the page into a file of the folder that
// ZKWARP_SCREENSHOT names, if it is set.
func screenshot(t testing.TB, b *browser, name string) {
	dir := os.Getenv("ZKWARP_SCREENSHOT")
	if dir == "" {
		return
	}
	var picture string
	b.call("GET", "/screenshot", nil, &picture)
	data, err := base64.StdEncoding.DecodeString(picture)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "wasm-verify-"+name+".png"), data, 0o644)); err != nil {
		t.Error(err)
	}
}

// The page is one folder of files without a place elsewhere.
func TestPageIsSelfContained(t *testing.T) {
	for _, name := range []string{"index.html", "whir.html", "style.css", "common.js", "network.js", "whir.js", "worker.js"} {
		data, err := page.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"http://", "https://", "//cdn", "@import"} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s contains %s", name, word)
			}
		}
	}
}
