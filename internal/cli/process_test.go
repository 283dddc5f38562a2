package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkwarp/zkwarp/device"
)

// programForTests is what cmd/zkwarp does.
func programForTests() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return Main(ctx, os.Args[1:], Process())
}

// Ctrl-C ends a demo at once with code 130, whatever stage it is in, and
// leaves nothing in the output folder.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals between processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, delay := range []time.Duration{150 * time.Millisecond, 900 * time.Millisecond} {
		// On a fast machine the demo may be over before the signal comes.
		for !interrupt(t, exe, delay) {
			if delay /= 2; delay < 10*time.Millisecond {
				t.Fatal("the demo always ends before it can be interrupted")
			}
		}
	}
}

// interrupt starts a demo and sends the signal after a delay. It says whether
// the demo was still running then.
func interrupt(t *testing.T, exe string, delay time.Duration) bool {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(exe, "demo", "--device", "cpu", "--out", filepath.Join(dir, "new", "folder"))
	cmd.Env = append(os.Environ(), runAsProgram+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	start := time.Now()
	err := cmd.Wait()
	took := time.Since(start)
	if err == nil && strings.Contains(out.String(), "accepted") {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != ExitInterrupted {
		t.Fatalf("after %v: %v, output %s%s", delay, err, out.String(), errs.String())
	}
	if took > graceful+4*time.Second { // generous: test machines are busy
		t.Errorf("took %v to stop", took)
	}
	if !strings.HasSuffix(errs.String(), "zkwarp: interrupted\n") {
		t.Errorf("standard error: %q", errs.String())
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	return true
}

// Devices are not replaced by files, not even with --force and not behind a
// link.
func TestDevicesStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no device files")
	}
	dir := t.TempDir()
	file, dangling, device, link := filepath.Join(dir, "file"), filepath.Join(dir, "dangling"), filepath.Join(dir, "device"), filepath.Join(dir, "link")
	writeFile(t, file, nil)
	for name, target := range map[string]string{dangling: filepath.Join(dir, "absent"), device: os.DevNull, link: file} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{os.DevNull: ExitUsage, device: ExitUsage, file: ExitOK, link: ExitOK, dangling: ExitOK} {
		a := &app{force: true}
		if err := a.checkOutputs(path); exitCode(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Unfinished files go away, and none begins after that.
func TestTemporaries(t *testing.T) {
	dir := t.TempDir()
	a := &app{}
	if _, err := a.temps.create(output{path: filepath.Join(dir, "x"), data: []byte("half")}); err != nil {
		t.Fatal(err)
	}
	if len(names(t, dir)) != 1 {
		t.Fatal("no temporary file")
	}
	a.temps.removeAll()
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	if err := a.write(output{path: filepath.Join(dir, "y")}); err == nil {
		t.Error("wrote after the end")
	}
	if err := a.temps.folder(filepath.Join(dir, "z")); err == nil {
		t.Error("made a folder after the end")
	}
}

// Folders that a run made go away if nothing was put into them; others stay.
func TestTemporaryFolders(t *testing.T) {
	dir := t.TempDir()
	a := &app{}
	there := filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{there, filepath.Join(there, "a", "b"), filepath.Join(dir, "c", "d"), filepath.Join(dir, "c", "e")} {
		if err := a.temps.folder(path); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "c", "e", "file")
	writeFile(t, file, []byte("kept"))
	if err := a.temps.folder(file); exitCode(err) != ExitInput {
		t.Errorf("a file is no folder: %v", err)
	}
	a.temps.removeAll()
	if left := names(t, there); len(left) != 0 {
		t.Errorf("left %v in a folder that was there", left)
	}
	if left := names(t, filepath.Join(dir, "c")); !slices.Equal(left, []string{"e"}) || string(readBytes(t, file)) != "kept" {
		t.Errorf("left %v", left)
	}
}

// A verb that writes several files writes none if one cannot be written, and
// never replaces a file that appeared in the meantime.
func TestWriteAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	a := &app{}
	err := a.write(output{path: filepath.Join(dir, "a"), data: []byte("1")}, output{path: filepath.Join(dir, "absent", "b")})
	if exitCode(err) != ExitInput || len(names(t, dir)) != 0 {
		t.Errorf("%v, left %v", err, names(t, dir))
	}
	writeFile(t, filepath.Join(dir, "c"), []byte("old"))
	if err := a.write(output{path: filepath.Join(dir, "c"), data: []byte("new")}); exitCode(err) != ExitUsage {
		t.Errorf("replaced without --force: %v", err)
	}
	a.force = true
	if err := a.write(output{path: filepath.Join(dir, "c"), data: []byte("new")}); err != nil || string(readBytes(t, filepath.Join(dir, "c"))) != "new" {
		t.Errorf("not replaced with --force: %v", err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left %v", got)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{usageError("x"), ExitUsage},
		{inputError("x: %w", context.Canceled), ExitInterrupted},
		{inputError("x: %w", &device.Error{Class: device.ErrNoMemory}), ExitMemory},
		{withCode(ExitInput, &device.Error{Class: device.ErrFault}), ExitDevice},
		{withCode(ExitInput, &os.PathError{Err: syscall.ENOSPC}), ExitMemory},
		{withCode(ExitUsage, inputError("x")), ExitInput},
		{errors.New("x"), ExitInput},
	} {
		if got := finalCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	got := oneLine("a\nb\x1b[31m\u202e" + strings.Repeat("x", 1000))
	if strings.ContainsAny(got, "\n\x1b\u202e") || len(got) > 700 {
		t.Errorf("%q", got)
	}
}
