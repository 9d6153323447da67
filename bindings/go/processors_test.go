package mlxrocm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlxrocm"
)

func TestWhatATextMustBe(t *testing.T) {
	answer := func(options mlxrocm.Options) (string, error) {
		options.MaxTokens = 30
		generation, err := session.Submit(here, text("Is the sky blue? As JSON:"), &options)
		if err != nil {
			return "", err
		}
		defer generation.Close()
		return generation.Text()
	}
	made := mlxrocm.Must(answer(mlxrocm.Options{JSONSchema: `{"enum": ["yes", "no"]}`}))
	if made != `"yes"` && made != `"no"` {
		t.Errorf("%q", made)
	}
	if made := mlxrocm.Must(answer(mlxrocm.Options{Regex: "[A-Z]{3}!"})); len(made) != 4 || made[3] != '!' {
		t.Errorf("%q", made)
	}
	if made := mlxrocm.Must(answer(mlxrocm.Options{Grammar: `start: "ja" | "nein"`})); made != "ja" && made != "nein" {
		t.Errorf("%q", made)
	}
	if _, err := answer(mlxrocm.Options{JSONSchema: "{"}); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("%v", err)
	}
	generation := mlxrocm.Must(session.Submit(here, text("One"), &mlxrocm.Options{Regex: "a"}))
	defer generation.Close()
	for event, err := generation.Next(); err != io.EOF; event, err = generation.Next() {
		if err != nil || event.Kind == mlxrocm.FinishedEvent && event.Reason != mlxrocm.Complete {
			t.Fatalf("%v %v", event, err)
		}
	}
}

func TestLogitsProcessors(t *testing.T) {
	prompt := mlxrocm.Must(tokenizer.Encode("One two", 0))
	comma := mlxrocm.Must(tokenizer.Encode(",", 0))[0]
	var seen [][]mlxrocm.Token
	var kept [][]float32
	options := &mlxrocm.Options{MaxTokens: 3, LogitsProcessor: func(tokens []mlxrocm.Token, logits []float32) error {
		seen = append(seen, tokens)
		kept = append(kept, append([]float32{}, logits...), logits)
		logits[comma] += 1000
		return nil
	}}
	generation := mlxrocm.Must(session.Submit(here, mlxrocm.Prompt{Tokens: prompt}, options))
	defer generation.Close()
	if made := mlxrocm.Must(generation.Text()); made != ",,," {
		t.Errorf("%q", made)
	}
	if !reflect.DeepEqual(seen, [][]mlxrocm.Token{prompt, append(prompt[:2:2], comma), append(prompt[:2:2], comma, comma)}) {
		t.Errorf("tokens: %v", seen)
	}
	if row := mlxrocm.Must(session.LogitsAt(prompt, nil)); !reflect.DeepEqual(kept[0], row) {
		t.Error("the logits are not the session's")
	}
	kept[1][0]++ // what is kept is the program's

	enough := errors.New("enough")
	fails := &mlxrocm.Options{MaxTokens: 3, LogitsProcessor: func([]mlxrocm.Token, []float32) error { return enough }}
	if _, err := mlxrocm.Must(session.Submit(here, text("One"), fails)).Text(); err != enough {
		t.Errorf("an error: %v", err)
	}
	if _, err := mlxrocm.Must(generation.Fork(here, fails)).Text(); err != enough {
		t.Errorf("an error of a fork: %v", err)
	}
	fails.LogitsProcessor = func([]mlxrocm.Token, []float32) error { panic(enough) }
	func() {
		defer func() {
			if recover() != enough {
				t.Error("a panic did not come out")
			}
		}()
		_, _ = mlxrocm.Must(session.Submit(here, text("One"), fails)).Text()
	}()
	fails.LogitsProcessor = func(_ []mlxrocm.Token, logits []float32) error {
		logits[0] = float32(math.NaN())
		return nil
	}
	if _, err := mlxrocm.Must(session.Submit(here, text("One"), fails)).Text(); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("NaN: %v", err)
	}
	if made := complete(t, text("The"), mlxrocm.Options{MaxTokens: 2}); made == "" {
		t.Error("the session does not go on")
	}
}

// A processor is freed with its request, also where that is refused or forgotten.
func TestLogitsProcessorsAreForgotten(t *testing.T) {
	var freed int32
	submit := func(prompt string) error {
		owned := &[]int{0} // not so small that it lies among others
		runtime.SetFinalizer(owned, func(*[]int) { atomic.AddInt32(&freed, 1) })
		generation, err := session.Submit(here, text(prompt), &mlxrocm.Options{
			MaxTokens: 400, IgnoreEOS: true, LogitsProcessor: func([]mlxrocm.Token, []float32) error {
				(*owned)[0]++
				return nil
			},
		})
		if err == nil {
			mlxrocm.Must(generation.Next())
			generation.Close()
		}
		return err
	}
	if err := submit("Count:"); err != nil {
		t.Error(err)
	}
	if err := submit(""); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); atomic.LoadInt32(&freed) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of 2 processors are freed", freed)
		}
		runtime.GC()
	}
}

func TestWaitAny(t *testing.T) {
	other := mlxrocm.Must(model.NewSession(&mlxrocm.SessionOptions{Context: 64}))
	defer other.Close()
	prompts := []string{"The capital of France is", "Once upon a time", "Water boils at"}
	texts := make(map[*mlxrocm.Generation]string)
	var generations []*mlxrocm.Generation
	for i, prompt := range prompts {
		of := session
		if i == 1 {
			of = other
		}
		generation := mlxrocm.Must(of.Submit(here, text(prompt), &mlxrocm.Options{MaxTokens: uint32(4 + i)}))
		defer generation.Close()
		generations = append(generations, generation)
	}
	ctx, stop := context.WithCancel(here)
	for i := 0; ; i++ {
		given := []context.Context{here, ctx}[i%2]
		ready, err := mlxrocm.WaitAny(given, generations)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[ready] += mlxrocm.Must(ready.Next()).Text
	}
	for i, prompt := range prompts {
		if wanted := complete(t, text(prompt), mlxrocm.Options{MaxTokens: uint32(4 + i)}); texts[generations[i]] != wanted {
			t.Errorf("%q, not %q", texts[generations[i]], wanted)
		}
	}
	if _, err := mlxrocm.WaitAny(here, nil); err != io.EOF {
		t.Error(err)
	}
	stop()
	if _, err := mlxrocm.WaitAny(ctx, generations); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	generations[0].Close()
	if _, err := mlxrocm.WaitAny(here, generations); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}

// A llama of one layer, and its weights.
func modelFolder(t *testing.T, path string) map[string]*mlxrocm.Array {
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	config := mlxrocm.Must(json.Marshal(map[string]any{
		"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1,
		"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 96, "rms_norm_eps": 1e-5,
		"max_position_embeddings": 128, "tie_word_embeddings": true,
	}))
	if err := os.WriteFile(filepath.Join(path, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	shapes := map[string][]int{"model.embed_tokens": {96, 64}, "model.norm": {64}}
	for name, shape := range map[string][]int{
		"input_layernorm": {64}, "post_attention_layernorm": {64}, "self_attn.q_proj": {64, 64}, "self_attn.k_proj": {64, 64},
		"self_attn.v_proj": {64, 64}, "self_attn.o_proj": {64, 64}, "mlp.gate_proj": {128, 64}, "mlp.up_proj": {128, 64},
		"mlp.down_proj": {64, 128},
	} {
		shapes["model.layers.0."+name] = shape
	}
	state := uint32(1)
	tensors := make(map[string]*mlxrocm.Array)
	for name, shape := range shapes {
		count := 1
		for _, size := range shape {
			count *= size
		}
		numbers := make([]float32, count)
		for i := range numbers {
			state = state*1664525 + 1013904223
			numbers[i] = float32(state>>8)/(1<<24) - 0.5
		}
		tensors[name+".weight"] = mlxrocm.Must(mlxrocm.FromSlice(numbers, shape...))
	}
	if err := mlxrocm.SaveSafetensors(filepath.Join(path, "model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	return tensors
}

func TestQuantize(t *testing.T) {
	folder := t.TempDir()
	source, made := filepath.Join(folder, "model"), filepath.Join(folder, "made")
	tensors := modelFolder(t, source)
	var done, total uint64
	options := mlxrocm.QuantizeOptions{Bits: 8, GroupSize: 32, Progress: func(d, of uint64) error {
		done, total = d, of
		return nil
	}}
	result := mlxrocm.Must(mlxrocm.Quantize(source, made, &options))
	if done == 0 || done != total || result.Files != 1 {
		t.Errorf("%d of %d bytes; %+v", done, total, result)
	}
	var bytes uint64
	for _, tensor := range mlxrocm.Must(mlxrocm.ListTensors(made)) {
		bytes += tensor.Bytes
	}
	if bytes != result.Bytes {
		t.Errorf("%d bytes, not %d", bytes, result.Bytes)
	}
	arrays, _, err := mlxrocm.LoadArrays(filepath.Join(made, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	floats := func(name string) []float32 { return mlxrocm.Must(mlxrocm.ToSlice[float32](arrays[name])) }
	for name, weight := range tensors {
		wanted := mlxrocm.Must(mlxrocm.ToSlice[float32](weight))
		module := strings.TrimSuffix(name, ".weight")
		if arrays[module+".scales"] == nil {
			if !strings.Contains(name, "norm") || !reflect.DeepEqual(floats(name), wanted) {
				t.Errorf("%s is not quantized", name)
			}
			continue
		}
		// By hand: four codes in each number, the lowest bits first, in groups of 32.
		codes := mlxrocm.Must(mlxrocm.ToSlice[uint32](arrays[name]))
		scales, biases := floats(module+".scales"), floats(module+".biases")
		for i, value := range wanted {
			code := float32(codes[i/4] >> (8 * (i % 4)) & 255)
			scale, bias := scales[i/32], biases[i/32]
			// The end of a group may be off by a whole step: 0 is one of the codes' numbers.
			if math.Abs(float64(code*scale+bias-value)) > 1.01*math.Abs(float64(scale)) {
				t.Fatalf("%s %d: %v, not %v", name, i, code*scale+bias, value)
			}
		}
	}
	enough := errors.New("enough")
	other := filepath.Join(folder, "other")
	options.Progress = func(uint64, uint64) error { return enough }
	if _, err := mlxrocm.Quantize(source, other, &options); err != enough {
		t.Errorf("a run that was ended: %v", err)
	}
	func() {
		defer func() {
			if recover() != enough {
				t.Error("a panic did not come out")
			}
		}()
		options.Progress = func(uint64, uint64) error { panic(enough) }
		_, _ = mlxrocm.Quantize(source, other, &options)
	}()
	for _, wrong := range []mlxrocm.QuantizeOptions{
		{Bits: 7}, {Mode: "int4"}, {Mode: "affine\x00"}, {Rules: []string{"*=4", "nonsense"}}, {DType: "float8"},
	} {
		if _, err := mlxrocm.Quantize(source, filepath.Join(folder, "none"), &wrong); !errors.Is(err, mlxrocm.InvalidArgument) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	_, exists := mlxrocm.Quantize(source, made, nil)
	_, again := mlxrocm.Quantize(made, filepath.Join(folder, "again"), nil)
	_, missing := mlxrocm.Quantize("/nowhere", other, nil)
	for _, test := range []struct {
		err    error
		status mlxrocm.Status
	}{{exists, mlxrocm.InvalidArgument}, {again, mlxrocm.Unsupported}, {missing, mlxrocm.IO}} {
		if !errors.Is(test.err, test.status) {
			t.Errorf("%v is not %v", test.err, test.status)
		}
	}
}
