//go:build gpu

package mlxrocm_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"mlxrocm"
)

func TestGPUEvents(t *testing.T) {
	e := newEngine(t)
	other := mlxrocm.Must(e.gpu.NewStream())
	first, second := mlxrocm.Must(e.gpu.NewEvent()), mlxrocm.Must(e.gpu.NewEvent())
	// What marks nothing is done, and not waited for.
	if !mlxrocm.Must(second.Done()) {
		t.Error("an event that marks nothing is not done")
	}
	ok(t, second.Wait(here))
	// c = a + 2b on one stream, c += 4b on the other, always in this order.
	for round := 0; round < 20; round++ {
		ok(t, e.stream.WaitFor(second), e.stream.Launch(e.kernel, blocks, e.arguments(e.a, 2)...), e.stream.Record(first),
			other.WaitFor(first), other.Launch(e.kernel, blocks, e.arguments(e.c, 4)...), other.Record(second))
	}
	ctx, stop := context.WithTimeout(here, time.Minute)
	defer stop()
	ok(t, second.Wait(ctx))
	e.expect(t, 1.5)
	if took := mlxrocm.Must(second.Since(first)); took < 0 || took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if _, err := second.Since(mlxrocm.Must(e.gpu.NewEvent())); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("since an event that marks nothing: %v", err)
	}
	if err := e.stream.Record(nil); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("no event: %v", err)
	}
	second.Close()
	if _, err := second.Done(); !errors.Is(err, mlxrocm.NullArgument) || !strings.Contains(err.Error(), "was closed") {
		t.Errorf("a closed event: %v", err)
	}
	if err := e.stream.WaitFor(second); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed event was waited for: %v", err)
	}
}

func TestGPUWorkThatIsNotDone(t *testing.T) {
	gpu := mlxrocm.Must(mlxrocm.OpenDevice(1))
	slow := mlxrocm.Must(mlxrocm.Must(gpu.Compile(`
extern "C" __global__ void slow(float *x, unsigned rounds) {
    float v = 0;
    for (unsigned i = 0; i < rounds; i++) v = v * 0.5f + 1;
    *x = v;
}
`, nil)).Kernel("slow"))
	one := mlxrocm.Launch{Grid: mlxrocm.Size{1}, Block: mlxrocm.Size{1}}
	stream, event := mlxrocm.Must(gpu.NewStream()), mlxrocm.Must(gpu.NewEvent())
	x := mlxrocm.Must(gpu.NewBuffer(4))
	begin := time.Now()
	rounds := uint32(1 << 10)
	for ; time.Since(begin) < 300*time.Millisecond; rounds *= 2 {
		begin = time.Now()
		ok(t, stream.Launch(slow, one, mlxrocm.Out{Buffer: x}, rounds), stream.Wait(here))
	}
	ok(t, stream.Record(event), stream.Fill(x, 0, 4, 0), stream.Wait(here), event.Wait(here))
	ok(t, stream.Launch(slow, one, mlxrocm.Out{Buffer: x}, rounds), stream.Record(event))
	if mlxrocm.Must(stream.Done()) || mlxrocm.Must(event.Done()) {
		t.Error("what was just queued is done")
	}
	found := []float32{-1}
	for name, wait := range map[string]func(ctx context.Context) error{
		"Stream.Wait": stream.Wait, "GPUEvent.Wait": event.Wait,
		"Stream.Read": func(ctx context.Context) error { return stream.Read(ctx, x, 0, mlxrocm.Bytes(found)) },
	} {
		ctx, stop := context.WithTimeout(here, time.Millisecond)
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		stop()
	}
	if found[0] != -1 {
		t.Errorf("a read that was ended gave %v", found)
	}
	ok(t, stream.Read(here, x, 0, mlxrocm.Bytes(found)))
	if found[0] != 2 || !mlxrocm.Must(stream.Done()) || !mlxrocm.Must(event.Done()) {
		t.Errorf("the end: %v", found)
	}
}

func TestGPUQueuedCopies(t *testing.T) {
	e := newEngine(t)
	target := mlxrocm.Must(e.gpu.NewBuffer(4 * count))
	numbers := make([]float32, count)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	ok(t, e.stream.Write(target, 4, mlxrocm.Bytes(numbers)[4:]), e.stream.Write(target, 0, mlxrocm.Bytes(numbers)[:4]))
	// They were taken.
	for i := range numbers {
		numbers[i] = -1
	}
	runtime.GC()
	ok(t, e.stream.Launch(e.kernel, blocks, e.arguments(target, 2)...))
	found := make([]float32, 2)
	ok(t, e.stream.Read(here, e.c, 4*7, mlxrocm.Bytes(found)), e.stream.Read(here, e.c, 4*count, nil))
	if found[0] != 7.5 || found[1] != 8.5 {
		t.Errorf("%v", found)
	}
	e.expect(t, 0.5)
	pinned := mlxrocm.Must(e.gpu.NewPinnedBuffer(16))
	for name, err := range map[string]error{
		"a write outside":  e.stream.Write(target, 4*count, mlxrocm.Bytes(found)),
		"a read outside":   e.stream.Read(here, target, 4*count, mlxrocm.Bytes(found)),
		"a pinned buffer":  e.stream.Write(pinned, 0, mlxrocm.Bytes(found)),
		"a pinned buffer ": e.stream.Read(here, pinned, 0, mlxrocm.Bytes(found)),
	} {
		if !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	target.Close()
	if err := e.stream.Write(target, 0, mlxrocm.Bytes(found)); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed buffer was written: %v", err)
	}
	if err := e.stream.Read(here, nil, 0, mlxrocm.Bytes(found)); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("no buffer was read: %v", err)
	}
}

func TestGPUBufferInfo(t *testing.T) {
	e := newEngine(t)
	info := mlxrocm.Must(e.a.Info())
	if info.Kind != mlxrocm.DeviceBuffer || info.Size != 4*count || info.Address == 0 || info.Address%256 != 0 || info.Data != nil {
		t.Errorf("%+v", info)
	}
	// The address is what a kernel gets.
	ok(t, e.stream.Launch(e.kernel, blocks, mlxrocm.Out{Buffer: e.c}, info.Address, mlxrocm.In{Buffer: e.b}, float32(2),
		uint32(count)), e.stream.Wait(here))
	e.expect(t, 0.5)

	pinned := mlxrocm.Must(e.gpu.NewPinnedBuffer(4 * count))
	info = mlxrocm.Must(pinned.Info())
	if info.Kind != mlxrocm.PinnedBuffer || info.Size != 4*count || info.Data == nil {
		t.Fatalf("%+v", info)
	}
	numbers := unsafe.Slice((*float32)(info.Data), count)
	for i := range numbers {
		numbers[i] = float32(i) - 9
	}
	ok(t, e.stream.Copy(e.c, 0, pinned, 0, 4*count), e.stream.Wait(here))
	e.expect(t, -9)
	ok(t, e.stream.Copy(pinned, 4, e.b, 0, 4), e.stream.Wait(here))
	if numbers[0] != -9 || numbers[1] != 0.25 || numbers[2] != -7 {
		t.Errorf("%v", numbers[:3])
	}
	pinned.Close()
	if _, err := pinned.Info(); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed buffer: %v", err)
	}
}
