package mlxrocm_test

import (
	"errors"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mlxrocm"
)

func vector[T mlxrocm.Element](t *testing.T, data []T, shape ...int) *mlxrocm.Array {
	t.Helper()
	made, err := mlxrocm.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func elements[T mlxrocm.Element](t *testing.T, x *mlxrocm.Array, err error) []T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	made, err := mlxrocm.ToSlice[T](x)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func thereAndBack[T mlxrocm.Element](t *testing.T, data ...T) {
	t.Helper()
	x := vector(t, data)
	if found := elements[T](t, x, nil); len(found)+len(data) > 0 && !reflect.DeepEqual(found, data) {
		t.Errorf("%v came back as %v", data, found)
	}
}

func TestElementsThereAndBack(t *testing.T) {
	thereAndBack(t, true, false)
	thereAndBack[uint8](t, 0, 255)
	thereAndBack[uint16](t, 1, 65535)
	thereAndBack[uint32](t, 1, math.MaxUint32)
	thereAndBack[uint64](t, 1, math.MaxUint64)
	thereAndBack[int8](t, -128, 127)
	thereAndBack[int16](t, -5, 5)
	thereAndBack[int32](t, math.MinInt32, 3)
	thereAndBack[int64](t, math.MinInt64, 3)
	thereAndBack[float32](t, -1.5, 3)
	thereAndBack(t, math.Pi, -1e300)
	thereAndBack(t, complex64(1+2i))
	thereAndBack[float32](t)
}

// Against plain loops.
func TestProductsAndReductions(t *testing.T) {
	random := rand.New(rand.NewSource(20261122))
	const rows, inner, columns = 5, 7, 3
	a, b := make([]float32, rows*inner), make([]float32, inner*columns)
	for i := range a {
		a[i] = random.Float32() - 0.5
	}
	for i := range b {
		b[i] = random.Float32() - 0.5
	}
	x, y := vector(t, a, rows, inner), vector(t, b, inner, columns)
	product, err := x.Matmul(y)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := product.Sum([]int{-1}, false)
	found := elements[float32](t, sums, err)
	softmax, err := product.Softmax([]int{0}, false)
	shares := elements[float32](t, softmax, err)
	wanted := make([]float64, rows*columns)
	for i := 0; i < rows; i++ {
		sum := 0.0
		for j := 0; j < columns; j++ {
			for k := 0; k < inner; k++ {
				wanted[i*columns+j] += float64(a[i*inner+k]) * float64(b[k*columns+j])
			}
			sum += wanted[i*columns+j]
		}
		if math.Abs(sum-float64(found[i])) > 1e-5 {
			t.Errorf("row %d sums to %v, not %v", i, found[i], sum)
		}
	}
	for j := 0; j < columns; j++ {
		total := 0.0
		for i := 0; i < rows; i++ {
			total += math.Exp(wanted[i*columns+j])
		}
		for i := 0; i < rows; i++ {
			if share := math.Exp(wanted[i*columns+j]) / total; math.Abs(share-float64(shares[i*columns+j])) > 1e-5 {
				t.Errorf("softmax at %d, %d is %v, not %v", i, j, shares[i*columns+j], share)
			}
		}
	}
	if shape := product.Shape(); !reflect.DeepEqual(shape, []int{rows, columns}) {
		t.Errorf("the product's shape is %v", shape)
	}
}

func TestListsOptionsAndFlags(t *testing.T) {
	x := vector(t, []int32{5, 3, 1, 4, 2, 0}, 2, 3)
	sorted, err := x.Sort(mlxrocm.AxisNone)
	if found := elements[int32](t, sorted, err); !reflect.DeepEqual(found, []int32{0, 1, 2, 3, 4, 5}) {
		t.Errorf("sorted: %v", found)
	}
	parts, err := x.Split([]int{1}, 1)
	if err != nil || len(parts) != 2 || !reflect.DeepEqual(parts[1].Shape(), []int{2, 2}) {
		t.Fatalf("split: %v %v", parts, err)
	}
	joined, err := mlxrocm.Concatenate([]*mlxrocm.Array{parts[1], parts[0]}, 1)
	if found := elements[int32](t, joined, err); !reflect.DeepEqual(found, []int32{3, 1, 5, 2, 0, 4}) {
		t.Errorf("joined: %v", found)
	}
	turned, err := x.Transpose(nil)
	if found := elements[int32](t, turned, err); !reflect.DeepEqual(found, []int32{5, 4, 3, 2, 1, 0}) {
		t.Errorf("turned: %v", found)
	}
	limited, err := x.Clip(nil, mlxrocm.Scalar[int32](3))
	if found := elements[int32](t, limited, err); !reflect.DeepEqual(found, []int32{3, 3, 1, 3, 2, 0}) {
		t.Errorf("limited: %v", found)
	}
	part, err := x.Slice([]int{0, 2}, []int{2, -4}, []int{1, -2})
	if found := elements[int32](t, part, err); !reflect.DeepEqual(found, []int32{1, 5, 0, 4}) {
		t.Errorf("part: %v", found)
	}
	total, err := x.Sum(nil, false)
	if value, itemErr := total.Item(); err != nil || itemErr != nil || value != 15 {
		t.Errorf("total: %v %v %v", value, err, itemErr)
	}
	quotient, remainder, err := x.Divmod(mlxrocm.Scalar[int32](2))
	if found := elements[int32](t, quotient, err); !reflect.DeepEqual(found, []int32{2, 1, 0, 2, 1, 0}) {
		t.Errorf("quotient: %v", found)
	}
	if found := elements[int32](t, remainder, err); !reflect.DeepEqual(found, []int32{1, 1, 1, 0, 0, 0}) {
		t.Errorf("remainder: %v", found)
	}
	if _, err := x.LinalgNormMatrix("none", nil, false); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("norm: %v", err)
	}
}

func TestToDevice(t *testing.T) {
	cpu, err := mlxrocm.OpenDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	x := vector(t, []float32{1, 2, 3, 4}, 2, 2)
	moved, err := x.ToDevice(cpu)
	if found := elements[float32](t, moved, err); !reflect.DeepEqual(found, []float32{1, 2, 3, 4}) {
		t.Errorf("moved: %v", found)
	}
	cpu.Close()
	square, err := moved.Matmul(x)
	x.Close()
	if found := elements[float32](t, square, err); !reflect.DeepEqual(found, []float32{7, 10, 15, 22}) {
		t.Errorf("computed there: %v", found)
	}
	if _, err := moved.ToDevice(nil); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("nil: %v", err)
	}
	if _, err := moved.ToDevice(cpu); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("a closed device: %v", err)
	}
}

func TestArrayErrors(t *testing.T) {
	x, y := vector(t, []float32{1, 2, 3}), vector(t, []float32{1, 2})
	_, err := x.Add(y)
	var failure *mlxrocm.Error
	if !errors.Is(err, mlxrocm.InvalidArgument) || !errors.As(err, &failure) || failure.Message == "" {
		t.Errorf("add: %v", err)
	}
	if _, err := x.Add(nil); !errors.Is(err, mlxrocm.NullArgument) {
		t.Errorf("nil: %v", err)
	}
	if _, err := mlxrocm.FromSlice([]float32{1, 2}, 3); err == nil {
		t.Error("2 elements filled a shape of 3")
	}
	if _, err := mlxrocm.FromSlice([]float32{}, -1); err == nil {
		t.Error("a negative size")
	}
	if _, err := mlxrocm.ToSlice[int32](x); err == nil {
		t.Error("float32 read as int32")
	}
	if _, err := x.SplitParts(-1, 0); err == nil {
		t.Error("-1 parts")
	}
	y.Close()
	y.Close()
	if _, err := y.Exp(); err == nil {
		t.Error("a closed array was used")
	}
}

func TestOptionalDTypes(t *testing.T) {
	x := vector(t, make([]float32, 64), 1, 64)
	if like := mlxrocm.Must(x.ZerosLike(mlxrocm.DTypeNone)); like.DType() != mlxrocm.Float32 {
		t.Error(like)
	}
	if like := mlxrocm.Must(x.OnesLike(mlxrocm.Int8)); like.String() != "Array([1 64], int8)" {
		t.Error(like)
	}
	codes, scales, biases, err := x.Quantize(64, 4)
	if err != nil {
		t.Fatal(err)
	}
	numbers := mlxrocm.Must(codes.Dequantize(scales, biases, 64, 4, "affine", nil, mlxrocm.Float16))
	if numbers.DType() != mlxrocm.Float16 {
		t.Error(numbers)
	}
	_, err = mlxrocm.ToSlice[float32](numbers)
	if err == nil || !strings.Contains(err.Error(), "dtype is float16, not float32") {
		t.Error(err)
	}
	numbers.Close()
	if _, err = mlxrocm.ToSlice[float32](numbers); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	x := vector(t, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	// A NUL ends no name: nothing is written to "x".
	if err := x.Save(filepath.Join(folder, "x\x00.npy")); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	if found := mlxrocm.Must(os.ReadDir(folder)); len(found) != 0 {
		t.Errorf("written: %v", found)
	}
	given := map[string]*mlxrocm.Array{"x": x, "y": mlxrocm.Must(x.Astype(mlxrocm.Int32))}
	said := map[string]string{"format": "mlx", "empty": ""}
	for name, save := range map[string]func(string, map[string]*mlxrocm.Array, map[string]string) error{
		"a.safetensors": mlxrocm.SaveSafetensors, "a.gguf": mlxrocm.SaveGGUF,
	} {
		path := filepath.Join(folder, name)
		if err := save(path, given, said); err != nil {
			t.Fatal(err)
		}
		arrays, metadata, err := mlxrocm.LoadArrays(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := mlxrocm.Must(mlxrocm.ToSlice[int32](arrays["y"])); len(arrays) != 2 || !reflect.DeepEqual(found, []int32{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: %v %v", name, arrays, found)
		}
		if metadata["format"] != "mlx" || !reflect.DeepEqual(arrays["x"].Shape(), []int{2, 3}) {
			t.Errorf("%s: %v %v", name, arrays, metadata)
		}
		if err := save(path, map[string]*mlxrocm.Array{"none": nil}, nil); !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := mlxrocm.LoadArrays(""); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
}

func TestArraysFromManyGoroutines(t *testing.T) {
	x := vector(t, []float32{1, 2, 3, 4}, 2, 2)
	lazy := mlxrocm.Must(x.Matmul(x))
	var all sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < 50; i++ {
				found, err := mlxrocm.ToSlice[float32](mlxrocm.Must(lazy.Negative()))
				if err != nil || !reflect.DeepEqual(found, []float32{-7, -10, -15, -22}) {
					t.Errorf("%v %v", found, err)
					return
				}
				if i%10 == 0 {
					runtime.GC() // finalizers run beside it
				}
			}
		}()
	}
	all.Wait()
}
