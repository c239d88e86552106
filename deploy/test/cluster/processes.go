package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// patience is how long a program may take to end when asked to. The API server would
// wait up to a minute for its watchers.
const patience = 2 * time.Second

// Processes are programs that run until [Processes.Stop], each with its output in a
// file. If this process dies first, they die with it.
type Processes struct {
	dir   string
	start chan func()

	mu  sync.Mutex
	all []*Process
}

// NewProcesses keeps the logs below dir, which it makes.
func NewProcesses(dir string) (*Processes, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	p := &Processes{dir: dir, start: make(chan func())}
	go p.starter()
	return p, nil
}

// starter starts all processes from one thread that lives as long as there may be
// any: the kernel sends a child its parent-death signal when the thread that made it
// ends, not the process.
func (p *Processes) starter() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for start := range p.start {
		start()
	}
}

// Start starts cmd, whose output goes to the file NAME.log, behind what an earlier
// process of that name wrote.
func (p *Processes) Start(name string, cmd *exec.Cmd) (*Process, error) {
	log := filepath.Join(p.dir, name+".log")
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL

	started := make(chan error)
	p.start <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %q: %w", name, err)
	}
	process := &Process{Name: name, Log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		process.err = cmd.Wait()
		close(process.done)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, process)
	return process, nil
}

// Logged returns how many bytes processes of this name have written so far.
func (p *Processes) Logged(name string) int {
	info, err := os.Stat(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return 0 // there was none
	}
	return int(info.Size())
}

// Stop ends all processes, the last started first, and waits for them. None can be
// started after it.
func (p *Processes) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, process := range slices.Backward(p.all) {
		process.Stop()
	}
	p.all = nil
	close(p.start)
}

// A Process is one of them.
type Process struct {
	Name string
	Log  string // the file with its output

	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, once done is closed
}

// PID is the process's id. Commands that enter a namespace become what they start,
// so that it is the program's own.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended, with the end of its log, and nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended: %v; its log ends with:\n%s", p.Name, p.err, p.Tail())
	default:
		return nil
	}
}

// Signal sends a signal; a process that has ended does not mind.
func (p *Process) Signal(signal os.Signal) { _ = p.cmd.Process.Signal(signal) }

// Stop asks the process to end, kills it if it does not, and waits for its end.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		p.Kill()
	}
}

// Kill ends the process at once and waits for its end.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Output returns all that the process, and earlier ones of its name, have written.
func (p *Process) Output() string {
	log, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// Tail returns the last 4,000 bytes of [Process.Output].
func (p *Process) Tail() string {
	output := p.Output()
	return output[max(0, len(output)-4000):]
}
