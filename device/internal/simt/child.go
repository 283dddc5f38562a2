//go:build (linux || darwin) && (amd64 || arm64)

package simt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zkwarp/zkwarp/device/internal/driver"
)

// Commands, as in host.cpp.
const (
	opLoad = iota + 1
	opLaunch
	opFill
	opCopy
	opWrite
	opPoison
	opUnpoison
	opSync
)

// child is the process that runs kernels, seen from here: commands go down one
// pipe in order, replies (to opLoad and opSync) come up another. Its methods
// must not run concurrently.
type child struct {
	cmd      *exec.Cmd
	commands *os.File
	replies  *bufio.Reader
	closers  []io.Closer
	memory   []byte // shared
	base     uint64 // where the child has it
	stderr   chan string
	buf      []byte
	err      error // once set, the child is gone
}

func temporaryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "zkwarp-simt-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

func startChild(host string, c Config) (_ *child, err error) {
	p := &child{stderr: make(chan string, 1)}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	mem, err := anonymousFile()
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	defer mem.Close()
	if err := mem.Truncate(c.Memory); err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	p.memory, err = syscall.Mmap(int(mem.Fd()), 0, int(c.Memory), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	var ends [6]*os.File
	for i := 0; i < 6; i += 2 {
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			return nil, err
		}
	}
	p.commands, p.replies = ends[1], bufio.NewReader(ends[2])
	p.closers = []io.Closer{ends[1], ends[2]}
	p.cmd = exec.Command(host, string(c.Order), strconv.FormatUint(c.Seed, 10), strconv.Itoa(c.Threads),
		strconv.Itoa(int(c.Timeout/time.Second)))
	p.cmd.Env = append(os.Environ(),
		"ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:exitcode=87:"+os.Getenv("ASAN_OPTIONS"),
		"UBSAN_OPTIONS=print_stacktrace=0:abort_on_error=1:"+os.Getenv("UBSAN_OPTIONS"))
	p.cmd.ExtraFiles = []*os.File{ends[0], ends[3], mem}
	p.cmd.Stdout, p.cmd.Stderr = os.Stderr, ends[5] // a kernel's printf is for the developer's eyes
	err = p.cmd.Start()
	for _, f := range []*os.File{ends[0], ends[3], ends[5]} {
		f.Close()
	}
	if err != nil {
		ends[4].Close()
		return nil, err
	}
	go func() {
		p.stderr <- lastLines(ends[4], 40)
		ends[4].Close()
	}()
	greeting, err := p.reply()
	if err != nil {
		return nil, err
	}
	p.base = binary.LittleEndian.Uint64(greeting)
	return p, nil
}

// lastLines reads r to its end.
func lastLines(r io.Reader, n int) string {
	var lines []string
	s := bufio.NewReader(r)
	for {
		line, err := s.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			lines = append(lines, line)
			if len(lines) > 4*n {
				lines = append(lines[:0], lines[len(lines)-n:]...)
			}
		}
		if err != nil {
			return strings.Join(lines[max(0, len(lines)-n):], "\n")
		}
	}
}

// begin starts a command; words and text append its payload, send sends it.
func (p *child) begin(op uint32) { p.buf = append(p.buf[:0], byte(op), 0, 0, 0, 0, 0, 0, 0) }

func (p *child) words(w ...uint64) {
	for _, x := range w {
		p.buf = binary.LittleEndian.AppendUint64(p.buf, x)
	}
}

func (p *child) send() error {
	if p.err != nil {
		return p.err
	}
	binary.LittleEndian.PutUint32(p.buf[4:], uint32(len(p.buf)-8))
	if _, err := p.commands.Write(p.buf); err != nil {
		return p.fail(err)
	}
	return nil
}

// errRefused is the child's answer to a command it could not carry out.
type errRefused string

func (e errRefused) Error() string { return string(e) }

func (p *child) reply() ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	var head [8]byte
	if _, err := io.ReadFull(p.replies, head[:]); err != nil {
		return nil, p.fail(err)
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[4:]))
	if _, err := io.ReadFull(p.replies, body); err != nil {
		return nil, p.fail(err)
	}
	if binary.LittleEndian.Uint32(head[:]) != 0 {
		return nil, errRefused(body)
	}
	return body, nil
}

func (p *child) sync() error {
	p.begin(opSync)
	if err := p.send(); err != nil {
		return err
	}
	_, err := p.reply()
	return err
}

var lastWords = regexp.MustCompile(`(?m)^simt: kernel (\w+), `)

// fail buries a child that stopped talking: the error names the kernel it died
// in and carries what it wrote to stderr.
func (p *child) fail(cause error) error {
	words, err := p.wait()
	op := "run kernels"
	if m := lastWords.FindStringSubmatch(words); m != nil {
		op = "launch " + m[1]
	}
	text := words
	if text == "" {
		text = fmt.Sprintf("the emulator ended (%v, %v)", errors.Join(err), cause)
	}
	p.err = &driver.Error{Op: op, Text: text, Class: driver.ErrFault}
	return p.err
}

// wait ends the process and returns its last words.
func (p *child) wait() (string, error) {
	for _, c := range p.closers {
		c.Close()
	}
	p.closers = nil
	timer := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	words := <-p.stderr
	p.stderr <- words
	return words, p.cmd.Wait()
}

// release ends the process and gives its memory back.
func (p *child) release() {
	for _, c := range p.closers {
		c.Close()
	}
	if p.cmd != nil && p.cmd.Process != nil && p.err == nil {
		_, _ = p.wait()
	}
	if p.err == nil {
		p.err = &driver.Error{Op: "run kernels", Text: "the device is closed", Class: driver.ErrUsage}
	}
	if p.memory != nil {
		_ = syscall.Munmap(p.memory)
		p.memory = nil
	}
}
