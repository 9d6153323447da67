//go:build gpu

package mlxrocm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mlxrocm"
)

const (
	source = `
extern "C" __global__ void scaled_sum(float *c, const float *a, const float *b, float scale, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + scale * b[i];
}
`
	count = 1000
)

var blocks = mlxrocm.Launch{Grid: mlxrocm.Size{(count + 255) / 256}, Block: mlxrocm.Size{256}}

// engine is what the tests share.
type engine struct {
	gpu     *mlxrocm.Device
	kernel  *mlxrocm.Kernel
	stream  *mlxrocm.Stream
	a, b, c *mlxrocm.Buffer
}

func newEngine(t *testing.T) *engine {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	options := &mlxrocm.CompileOptions{Flags: []string{"-DUNUSED=1"}, Name: "sum.hip"}
	module := mlxrocm.Must(gpu.Compile(source, options))
	e := &engine{gpu: gpu, kernel: mlxrocm.Must(module.Kernel("scaled_sum")), stream: mlxrocm.Must(gpu.NewStream())}
	for _, buffer := range []**mlxrocm.Buffer{&e.a, &e.b, &e.c} {
		*buffer = mlxrocm.Must(gpu.NewBuffer(4 * count))
	}
	numbers, quarters := make([]float32, count), make([]float32, count)
	for i := range numbers {
		numbers[i], quarters[i] = float32(i), 0.25
	}
	mlxrocm.Must(e.a.WriteAt(mlxrocm.Bytes(numbers), 0))
	mlxrocm.Must(e.b.WriteAt(mlxrocm.Bytes(quarters), 0))
	return e
}

// arguments of the kernel: c = from + scale * b.
func (e *engine) arguments(from *mlxrocm.Buffer, scale float32) []any {
	return []any{mlxrocm.Out{Buffer: e.c}, mlxrocm.In{Buffer: from}, mlxrocm.In{Buffer: e.b}, scale, uint32(count)}
}

func (e *engine) expect(t *testing.T, added float32) {
	t.Helper()
	found := make([]float32, count)
	mlxrocm.Must(e.c.ReadAt(mlxrocm.Bytes(found), 0))
	for i, number := range found {
		if number != float32(i)+added {
			t.Fatalf("element %d is %v, not %v", i, number, float32(i)+added)
		}
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGPULaunch(t *testing.T) {
	e := newEngine(t)
	ctx, stop := context.WithTimeout(here, time.Minute)
	defer stop()
	ok(t, e.stream.Launch(e.kernel, blocks, e.arguments(e.a, 2)...), e.stream.Wait(ctx))
	e.expect(t, 0.5)
	if info := mlxrocm.Must(e.kernel.Info()); info.Name != "scaled_sum" || info.WaveSize != 32 {
		t.Errorf("%+v", info)
	}
	if info := mlxrocm.Must(e.gpu.Info()); info.Kind != mlxrocm.HIP || info.ISA != "gfx1151" {
		t.Errorf("%+v", info)
	}
	stop()
	if err := e.stream.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
}

func TestGPUProgram(t *testing.T) {
	e := newEngine(t)
	program := mlxrocm.Must(e.gpu.NewProgram())
	ok(t, program.Launch(e.kernel, blocks, e.arguments(e.a, 2)...), program.Launch(e.kernel, blocks, e.arguments(e.c, 4)...),
		program.End())
	if said := mlxrocm.Must(program.Explain()); !strings.Contains(said, "2 launches") {
		t.Error(said)
	}
	ok(t, e.stream.Run(program), e.stream.Run(program), e.stream.Wait(here))
	e.expect(t, 1.5)
}

func TestGPUFillAndCopy(t *testing.T) {
	e := newEngine(t)
	target, pinned := mlxrocm.Must(e.gpu.NewBuffer(16)), mlxrocm.Must(e.gpu.NewPinnedBuffer(16))
	ok(t, e.stream.Fill(target, 0, 16, 7), e.stream.Copy(target, 8, e.b, 0, 4), e.stream.Copy(pinned, 0, target, 0, 16),
		e.stream.Wait(here))
	for _, buffer := range []*mlxrocm.Buffer{target, pinned} {
		found := make([]byte, buffer.Size())
		mlxrocm.Must(buffer.ReadAt(found, 0))
		if string(found) != "\x07\x07\x07\x07\x07\x07\x07\x07\x00\x00\x80\x3e\x07\x07\x07\x07" {
			t.Errorf("%v", found)
		}
	}
}

func TestGPUMistakes(t *testing.T) {
	e := newEngine(t)
	_, err := e.gpu.Compile("nonsense", &mlxrocm.CompileOptions{Name: "wrong.hip"})
	var failure *mlxrocm.Error
	if !errors.As(err, &failure) || failure.Status != mlxrocm.InvalidArgument || !strings.Contains(failure.Details, "error") {
		t.Errorf("nonsense: %+v", err)
	}
	if err := e.stream.Launch(e.kernel, blocks, e.arguments(e.a, 2)[0]); err == nil || !strings.Contains(err.Error(), "5 arguments") {
		t.Errorf("one argument: %v", err)
	}
	if err := e.stream.Launch(e.kernel, blocks, 5); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("an int: %v", err)
	}
	if _, err := e.a.WriteAt([]byte("1234"), 4*count); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("outside: %v", err)
	}
	if _, err := mlxrocm.Must(mlxrocm.OpenDevice(0)).NewStream(); !errors.Is(err, mlxrocm.Unsupported) {
		t.Errorf("the CPU: %v", err)
	}
}

func TestGPUMemory(t *testing.T) {
	e := newEngine(t)
	before := mlxrocm.Must(e.gpu.Memory())
	large := mlxrocm.Must(e.gpu.NewBuffer(1 << 20))
	if now := mlxrocm.Must(e.gpu.Memory()); now.Active < before.Active+1<<20 {
		t.Errorf("%+v, then %+v", before, now)
	}
	large.Close()
	if now := mlxrocm.Must(e.gpu.Memory()); now.Active != before.Active {
		t.Errorf("%+v, then %+v", before, now)
	}
	ok(t, e.gpu.Trim(), e.gpu.SetMemoryLimit(before.Limit))
	if _, err := large.ReadAt(make([]byte, 4), 0); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed buffer was read: %v", err)
	}
	if err := e.stream.Launch(e.kernel, blocks, e.arguments(large, 2)...); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed buffer was an argument: %v", err)
	}
	// What is queued keeps its memory.
	ok(t, e.stream.Launch(e.kernel, blocks, e.arguments(e.a, 2)...))
	e.a.Close()
	ok(t, e.stream.Wait(here))
	e.expect(t, 0.5)
}

func TestGPUArrays(t *testing.T) {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	x := mlxrocm.Must(vector(t, []float32{1, 2, 3, 4}, 2, 2).ToDevice(gpu))
	square, err := x.Matmul(x)
	if found := elements[float32](t, square, err); found[0] != 7 || found[3] != 22 {
		t.Errorf("%v", found)
	}
}
