package mlxrocm_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"mlxrocm"
)

var (
	model     *mlxrocm.Model
	session   *mlxrocm.Session
	tokenizer *mlxrocm.Tokenizer
	here      = context.Background()
)

func TestMain(m *testing.M) {
	cpu := mlxrocm.Must(mlxrocm.OpenDevice(0))
	model = mlxrocm.Must(mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), &mlxrocm.ModelOptions{Device: cpu}))
	session = mlxrocm.Must(model.NewSession(&mlxrocm.SessionOptions{Context: 512, MaxRequests: 4}))
	tokenizer = mlxrocm.Must(model.Tokenizer())
	os.Exit(m.Run())
}

func text(prompt string) mlxrocm.Prompt { return mlxrocm.Prompt{Text: prompt} }

func complete(t *testing.T, prompt mlxrocm.Prompt, options mlxrocm.Options) string {
	t.Helper()
	generation, err := session.Submit(here, prompt, &options)
	if err != nil {
		t.Fatal(err)
	}
	defer generation.Close()
	made, err := generation.Text()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestListTensors(t *testing.T) {
	tensors, err := mlxrocm.ListTensors(os.Getenv("MLXROCM_DEMO_MODEL"))
	if err != nil {
		t.Fatal(err)
	}
	info := mlxrocm.Must(model.Info())
	// 30 layers of 2 norms and 7 matrices, the embedding and the last norm.
	if len(tensors) != 30*9+2 {
		t.Errorf("%d tensors", len(tensors))
	}
	var numbers, bytes uint64
	for _, tensor := range tensors {
		count := uint64(1)
		for _, size := range tensor.Shape {
			count *= uint64(size)
		}
		numbers += count
		bytes += tensor.Bytes
		wanted := mlxrocm.TensorInfo{Name: "output_norm.weight", Format: "F32", Shape: []int{576}, Bytes: 4 * 576}
		if tensor.Name == wanted.Name && !reflect.DeepEqual(tensor, wanted) {
			t.Errorf("%v, not %v", tensor, wanted)
		}
		if tensor.Name == "blk.29.ffn_down.weight" && !reflect.DeepEqual(tensor.Shape, []int{576, 1536}) {
			t.Errorf("%v", tensor)
		}
	}
	if numbers != info.Parameters || bytes != info.WeightBytes {
		t.Errorf("%d numbers in %d bytes, the model has %d in %d", numbers, bytes, info.Parameters, info.WeightBytes)
	}
	if _, err := mlxrocm.ListTensors("/nowhere/model.gguf"); !errors.Is(err, mlxrocm.Io) {
		t.Errorf("no file: %v", err)
	}
}

func TestStreamingChat(t *testing.T) {
	messages := []mlxrocm.Message{{"user", "What is the capital of France?"}}
	generation, err := session.Chat(here, messages, &mlxrocm.Options{MaxTokens: 24})
	if err != nil {
		t.Fatal(err)
	}
	var tokens []mlxrocm.Token
	var streamed strings.Builder
	var last mlxrocm.Event
	for {
		event, err := generation.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if event.Kind == mlxrocm.TokenEvent {
			tokens = append(tokens, event.Token)
		}
		streamed.WriteString(event.Text)
		last = event
	}
	if last.Kind != mlxrocm.FinishedEvent || last.GeneratedTokens != uint64(len(tokens)) {
		t.Errorf("the end: %+v", last)
	}
	whole := mlxrocm.Must(tokenizer.Decode(tokens, mlxrocm.SkipSpecial))
	if streamed.String() != whole || !strings.Contains(whole, "Paris") {
		t.Errorf("%q, of tokens %q", streamed.String(), whole)
	}
	prompt := mlxrocm.Must(model.RenderChat(messages))
	same := mlxrocm.Prompt{Tokens: mlxrocm.Must(tokenizer.Encode(prompt, mlxrocm.ParseSpecial))}
	if found := complete(t, same, mlxrocm.Options{MaxTokens: 24}); found != whole {
		t.Errorf("of the rendered template: %q", found)
	}
	same = mlxrocm.Prompt{ChatJSON: `{"messages": [{"role": "user", "content": [
		{"type": "text", "text": "What is the capital"}, {"type": "text", "text": " of France?"}]}]}`}
	if found := complete(t, same, mlxrocm.Options{MaxTokens: 24}); found != whole {
		t.Errorf("of the chat in JSON: %q", found)
	}
}

func TestGreedyTakesTheLargestLogit(t *testing.T) {
	prompt := mlxrocm.Must(tokenizer.Encode("Water boils at", 0))
	options := mlxrocm.Options{MaxTokens: 5, Logprobs: 1}
	generation := mlxrocm.Must(session.Submit(here, mlxrocm.Prompt{Tokens: prompt}, &options))
	all, first := prompt, len(prompt)
	var logprobs []float32
	for event, err := generation.Next(); err == nil; event, err = generation.Next() {
		if event.Kind == mlxrocm.TokenEvent {
			all = append(all, event.Token)
			logprobs = append(logprobs, event.Logprob)
		}
	}
	width := mlxrocm.Must(model.Info()).VocabSize
	logits := mlxrocm.Must(session.Logits(all))
	for i, logprob := range logprobs {
		row := logits[(first+i-1)*width : (first+i)*width]
		best, total := 0, 0.0
		for token, logit := range row {
			if logit > row[best] {
				best = token
			}
			total += math.Exp(float64(logit))
		}
		if mlxrocm.Token(best) != all[first+i] {
			t.Errorf("token %d is %d, not %d", i, all[first+i], best)
		}
		if wanted := float64(row[best]) - math.Log(total); math.Abs(wanted-float64(logprob)) > 1e-3 {
			t.Errorf("its log-probability is %v, not %v", logprob, wanted)
		}
	}
	if len(logprobs) != 5 {
		t.Errorf("%d tokens", len(logprobs))
	}
}

func TestBatch(t *testing.T) {
	prompts := []mlxrocm.Prompt{text("The capital of France is"), text("Once upon a time"), text("Water boils at"),
		text("The sea"), text("Two and two")}
	options := mlxrocm.Options{MaxTokens: 8}
	found, err := session.Batch(here, prompts, &options)
	if err != nil {
		t.Fatal(err)
	}
	var wanted []string
	for _, prompt := range prompts {
		wanted = append(wanted, complete(t, prompt, options))
	}
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("%q, one by one %q", found, wanted)
	}
}

func TestStopAndBias(t *testing.T) {
	stopped := complete(t, text("One, two, three, four,"), mlxrocm.Options{MaxTokens: 20, Stop: []string{" six"}})
	if !strings.Contains(stopped, "five") || strings.Contains(stopped, "six") {
		t.Errorf("%q", stopped)
	}
	comma := mlxrocm.Must(tokenizer.Encode(",", 0))[0]
	bias := map[mlxrocm.Token]float32{comma: 1000}
	if found := complete(t, text("One two"), mlxrocm.Options{MaxTokens: 3, LogitBias: bias}); found != ",,," {
		t.Errorf("%q", found)
	}
}

func TestContextCancels(t *testing.T) {
	ctx, stop := context.WithCancel(here)
	generation := mlxrocm.Must(session.Submit(ctx, text("Count:"), &mlxrocm.Options{MaxTokens: 400, IgnoreEOS: true}))
	count := 0
	var err error
	for err == nil {
		var event mlxrocm.Event
		if event, err = generation.Next(); event.Kind == mlxrocm.TokenEvent {
			count++
			stop()
		}
	}
	if !errors.Is(err, context.Canceled) || count == 0 || count > 390 {
		t.Errorf("%v after %d tokens", err, count)
	}
	ctx, stop = context.WithTimeout(here, 100*time.Millisecond)
	defer stop()
	_, err = session.Batch(ctx, []mlxrocm.Prompt{text("a"), text("b")}, &mlxrocm.Options{IgnoreEOS: true})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a batch past its time: %v", err)
	}
	if _, err := session.Submit(ctx, text("a"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request after the time: %v", err)
	}
}

func TestCancelFromAnotherGoroutine(t *testing.T) {
	generation := mlxrocm.Must(session.Submit(here, text("Count:"), &mlxrocm.Options{MaxTokens: 400, IgnoreEOS: true}))
	go func() {
		time.Sleep(50 * time.Millisecond)
		if err := generation.Cancel(); err != nil {
			t.Error(err)
		}
	}()
	var last mlxrocm.Event
	for event, err := generation.Next(); err == nil; event, err = generation.Next() {
		last = event
	}
	if last.Reason != mlxrocm.WasCancelled {
		t.Errorf("%+v", last)
	}
	generation.Close()
	if _, err := generation.Next(); err == nil || err == io.EOF {
		t.Errorf("a closed generation: %v", err)
	}
}

func TestErrors(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged.gguf")
	content, err := os.ReadFile(os.Getenv("MLXROCM_DEMO_MODEL"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, content[:5000], 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing := mlxrocm.LoadModel("/nowhere/model.gguf", nil)
	_, broken := mlxrocm.LoadModel(damaged, nil)
	_, long := session.Submit(here, mlxrocm.Prompt{Tokens: make([]mlxrocm.Token, 600)}, nil)
	_, nul := session.Submit(here, text("a\x00b"), nil)
	_, hot := session.Submit(here, text("a"), &mlxrocm.Options{Temperature: float32(math.NaN())})
	_, both := session.Submit(here, mlxrocm.Prompt{Text: "a", Tokens: []mlxrocm.Token{1}}, nil)
	count := mlxrocm.Must(mlxrocm.DeviceCount())
	_, device := mlxrocm.OpenDevice(count)
	for _, test := range []struct {
		err    error
		status mlxrocm.Status
	}{
		{missing, mlxrocm.Io}, {broken, mlxrocm.InvalidFile}, {long, mlxrocm.ContextFull}, {nul, mlxrocm.InvalidArgument},
		{hot, mlxrocm.InvalidArgument}, {both, mlxrocm.InvalidArgument}, {device, mlxrocm.NoDevice},
	} {
		if !errors.Is(test.err, test.status) {
			t.Errorf("%v is not %v", test.err, test.status)
		}
	}
	if !strings.Contains(missing.Error(), "/nowhere/model.gguf") {
		t.Errorf("%v does not name the file", missing)
	}
}

func TestLogAndProgress(t *testing.T) {
	var mutex sync.Mutex
	var lines []string
	hear := func(level mlxrocm.LogLevel, message string) {
		mutex.Lock()
		defer mutex.Unlock()
		if level > mlxrocm.LogInfo {
			t.Errorf("level %d: %s", level, message)
		}
		lines = append(lines, message)
	}
	if err := mlxrocm.SetLog(mlxrocm.LogInfo, hear); err != nil {
		t.Fatal(err)
	}
	cpu := mlxrocm.Must(mlxrocm.OpenDevice(0))
	var last, all uint64
	options := &mlxrocm.ModelOptions{Device: cpu, Progress: func(done, total uint64) error {
		if done < last {
			t.Errorf("%d bytes after %d", done, last)
		}
		last, all = done, total
		return nil
	}}
	mlxrocm.Must(mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), options)).Close()
	if all == 0 || last != all {
		t.Errorf("%d of %d bytes", last, all)
	}
	if err := mlxrocm.SetLog(mlxrocm.LogInfo, nil); err != nil {
		t.Fatal(err)
	}
	heard := len(lines)
	if heard == 0 {
		t.Error("no line was heard")
	}
	enough := errors.New("enough")
	options.Progress = func(done, total uint64) error { return enough }
	if _, err := mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), options); err != enough {
		t.Errorf("a load that was ended: %v", err)
	}
	func() {
		defer func() {
			if recover() != enough {
				t.Error("a panic did not come out")
			}
		}()
		options.Progress = func(done, total uint64) error { panic(enough) }
		_, _ = mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), options)
	}()
	if len(lines) != heard {
		t.Errorf("lines after the end: %q", lines[heard:])
	}
	if err := mlxrocm.SetLog(9, hear); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("level 9: %v", err)
	}
}

func TestObjectsMayBeClosedInAnyOrder(t *testing.T) {
	other := mlxrocm.Must(mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), nil))
	short := mlxrocm.Must(other.NewSession(&mlxrocm.SessionOptions{Context: 64}))
	generation := mlxrocm.Must(short.Submit(here, text("The capital of France is"), &mlxrocm.Options{MaxTokens: 3}))
	other.Close()
	short.Close()
	if found, err := generation.Text(); err != nil || !strings.Contains(found, "Paris") {
		t.Errorf("%q %v", found, err)
	}
	if _, err := short.Submit(here, text("a"), nil); err == nil {
		t.Error("a closed session was used")
	}
	gone := mlxrocm.Must(mlxrocm.OpenDevice(0))
	gone.Close()
	if _, err := mlxrocm.LoadModel(os.Getenv("MLXROCM_DEMO_MODEL"), &mlxrocm.ModelOptions{Device: gone}); err == nil {
		t.Error("a model was loaded to a closed device")
	}
}
