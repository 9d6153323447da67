//go:build gpu

package mlxrocm_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mlxrocm"
)

func TestGPURecordedCopies(t *testing.T) {
	e := newEngine(t)
	program := mlxrocm.Must(e.gpu.NewProgram())
	target, other := mlxrocm.Must(e.gpu.NewBuffer(16)), mlxrocm.Must(e.gpu.NewBuffer(16))
	ok(t, program.Fill(target, 0, 16, 7), program.Copy(target, 8, e.b, 4, 4), program.Fill(target, 15, 1, 9))
	if _, err := program.Info(); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("facts of a program in recording: %v", err)
	}
	// The copy and the second fill follow the first one; what the last one touches nobody else does.
	ok(t, program.Barrier(), program.Fill(other, 0, 16, 8), program.End())
	if info := mlxrocm.Must(program.Info()); info.Nodes != 4 || info.Edges != 4 {
		t.Errorf("%+v", info)
	}
	if err := program.Barrier(); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("a barrier after the end: %v", err)
	}
	ok(t, e.stream.Run(program))
	found := make([]byte, 16)
	ok(t, e.stream.Read(here, target, 0, found))
	if string(found) != "\x07\x07\x07\x07\x07\x07\x07\x07\x00\x00\x80\x3e\x07\x07\x07\x09" {
		t.Errorf("%v", found)
	}
	ok(t, e.stream.Read(here, other, 0, found))
	if string(found) != strings.Repeat("\x08", 16) {
		t.Errorf("%v", found)
	}
	program = mlxrocm.Must(e.gpu.NewProgram())
	ok(t, program.Fill(target, 0, 16, 7), program.Fill(other, 0, 16, 8), program.End())
	if info := mlxrocm.Must(program.Info()); info.Nodes != 2 || info.Edges != 0 {
		t.Errorf("without a barrier: %+v", info)
	}
	pinned := mlxrocm.Must(e.gpu.NewPinnedBuffer(16))
	program = mlxrocm.Must(e.gpu.NewProgram())
	for name, err := range map[string]error{
		"a copy outside": program.Copy(target, 13, e.b, 0, 4), "a fill outside": program.Fill(target, 16, 1, 0),
		"a fill of pinned memory": program.Fill(pinned, 0, 16, 0),
	} {
		if !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGPUGraphs(t *testing.T) {
	e := newEngine(t)
	defer func() { ok(t, e.gpu.SetGraphs(mlxrocm.GraphsAuto)) }()
	program := mlxrocm.Must(e.gpu.NewProgram())
	ok(t, program.Launch(e.kernel, blocks, e.arguments(e.a, 2)...), program.Launch(e.kernel, blocks, e.arguments(e.c, 4)...),
		program.End())
	for when, mode := range map[mlxrocm.Graphs]uint32{
		mlxrocm.GraphsOff: mlxrocm.ProgramDirect, mlxrocm.GraphsOn: mlxrocm.ProgramGraph,
	} {
		ok(t, e.gpu.SetGraphs(when))
		if info := mlxrocm.Must(program.Info()); info.Mode != mode || info.Reason != mlxrocm.ReasonSetting {
			t.Errorf("graphs %d: %+v", when, info)
		}
		ok(t, e.stream.Fill(e.c, 0, 4*count, 0), e.stream.Run(program), e.stream.Wait(here))
		e.expect(t, 1.5)
	}
	if err := e.gpu.SetGraphs(7); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("graphs 7: %v", err)
	}
	// Enough launches for a comparison.
	ok(t, e.gpu.SetGraphs(mlxrocm.GraphsAuto))
	program = mlxrocm.Must(e.gpu.NewProgram())
	for launch := 0; launch < 8; launch++ {
		ok(t, program.Launch(e.kernel, blocks, e.arguments(e.a, float32(launch))...))
	}
	ok(t, program.End(), e.stream.Run(program), e.stream.Wait(here))
	e.expect(t, 7*0.25)
	info := mlxrocm.Must(program.Info())
	if info.Reason != mlxrocm.ReasonCompared || !info.SameBits || info.Direct <= 0 || info.Graph <= 0 {
		t.Errorf("%+v", info)
	}
}

func TestGPUPeakMemory(t *testing.T) {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	// What earlier tests forgot is freed now.
	runtime.GC()
	mlxrocm.Must(gpu.NewBuffer(8 << 20)).Close()
	before := mlxrocm.Must(gpu.Memory())
	ok(t, gpu.ResetPeakMemory())
	if now := mlxrocm.Must(gpu.Memory()); before.Peak < 8<<20 || now.Peak > before.Peak-(4<<20) || now.Peak < now.Active {
		t.Errorf("%+v, then %+v", before, now)
	}
}

func TestGPULibraryKernel(t *testing.T) {
	e := newEngine(t)
	add := mlxrocm.Must(e.gpu.Kernel("mlxrocm_vector_add_f32"))
	ok(t, e.stream.Launch(add, blocks, mlxrocm.Out{Buffer: e.c}, mlxrocm.In{Buffer: e.a}, mlxrocm.In{Buffer: e.b}, uint32(count)),
		e.stream.Wait(here))
	e.expect(t, 0.25)
	if info := mlxrocm.Must(add.Info()); info.Name != "mlxrocm_vector_add_f32" {
		t.Errorf("%+v", info)
	}
	if _, err := e.gpu.Kernel("none"); !errors.Is(err, mlxrocm.Unsupported) {
		t.Errorf("no kernel: %v", err)
	}
}

// compiled gives the code of a kernel that was compiled, from the library's cache: there it has a header.
func compiled(t *testing.T, kernel string) []byte {
	folder := os.Getenv("MLXROCM_CACHE_DIR")
	if folder == "" {
		folder = filepath.Join(mlxrocm.Must(os.UserCacheDir()), "mlxrocm")
	}
	for _, path := range mlxrocm.Must(filepath.Glob(filepath.Join(folder, "kernels", "*.bin"))) {
		code := mlxrocm.Must(os.ReadFile(path))
		if begin := bytes.Index(code, []byte("\x7fELF")); begin >= 0 && bytes.Contains(code, []byte(kernel)) {
			return code[begin:]
		}
	}
	t.Skipf("no ELF file of %s in %s", kernel, folder)
	return nil
}

func TestGPULoadModule(t *testing.T) {
	e := newEngine(t)
	renamed := strings.Replace(source, "scaled_sum", "sum_to_be_loaded", 1)
	mlxrocm.Must(e.gpu.Compile(renamed, nil)).Close()
	code := compiled(t, "sum_to_be_loaded")
	module := mlxrocm.Must(e.gpu.LoadModule(code))
	// It was borrowed for the call.
	for i := range code {
		code[i] = 0
	}
	kernel := mlxrocm.Must(module.Kernel("sum_to_be_loaded"))
	module.Close()
	ok(t, e.stream.Launch(kernel, blocks, e.arguments(e.a, 2)...), e.stream.Wait(here))
	e.expect(t, 0.5)
}

func TestGPUNoCode(t *testing.T) {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	if _, err := gpu.LoadModule([]byte("no code")); !errors.Is(err, mlxrocm.InvalidFile) {
		t.Errorf("no code: %v", err)
	}
	if _, err := gpu.LoadModule(nil); err == nil {
		t.Error("nothing was loaded")
	}
}

func TestGPUSelftest(t *testing.T) {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	var report []string
	options := mlxrocm.SelftestOptions{Quick: true, NoMeasurements: true, Seed: 1234567}
	options.Report = func(line string) error {
		report = append(report, line)
		return nil
	}
	ok(t, gpu.Selftest(here, &options))
	said := strings.Join(report, "\n")
	if len(report) < 10 || !strings.Contains(said, "seed: 1234567") || strings.Contains(said, "measured:") {
		t.Error(said)
	}

	enough := errors.New("enough")
	options.NoMeasurements = false
	options.Report = func(line string) error {
		if line == "measured:" {
			return enough
		}
		return nil
	}
	if err := gpu.Selftest(here, &options); err != enough {
		t.Errorf("measurements: %v", err)
	}
	heard := 0
	options.Report = func(line string) error {
		heard++
		return enough
	}
	if err := gpu.Selftest(here, &options); err != enough || heard != 1 {
		t.Errorf("an error after a line: %v, %d lines", err, heard)
	}
	ctx, stop := context.WithCancel(here)
	options.Report = func(string) error {
		stop()
		heard++
		return nil
	}
	if err := gpu.Selftest(ctx, &options); !errors.Is(err, context.Canceled) || heard != 2 {
		t.Errorf("the context's end after a line: %v, %d lines", err, heard)
	}
	if err := gpu.Selftest(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
	options.Report = func(string) error { panic("thrown") }
	defer func() {
		if caught := recover(); caught != "thrown" {
			t.Errorf("a panic: %v", caught)
		}
	}()
	_ = gpu.Selftest(here, &options)
}
