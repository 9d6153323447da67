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
	if _, err := mlxrocm.ListTensors("/nowhere/model.gguf"); !errors.Is(err, mlxrocm.IO) {
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

func TestGuessesChangeNoText(t *testing.T) {
	prompt := mlxrocm.Prompt{Text: "one two three one two three one two three one"}
	plain := complete(t, prompt, mlxrocm.Options{MaxTokens: 30})
	for _, options := range []mlxrocm.SessionOptions{{PromptLookup: true}, {DraftModel: model}} {
		options.Context = 128
		guessing := mlxrocm.Must(model.NewSession(&options))
		defer guessing.Close()
		generation := mlxrocm.Must(guessing.Submit(here, prompt, &mlxrocm.Options{MaxTokens: 30}))
		text := ""
		var last mlxrocm.Event
		for event, err := generation.Next(); err != io.EOF; event, err = generation.Next() {
			if err != nil {
				t.Fatal(err)
			}
			text += event.Text
			last = event
		}
		if text != plain || last.GuessedTokens == 0 || last.AcceptedTokens > last.GuessedTokens {
			t.Errorf("%q instead of %q; %+v", text, plain, last)
		}
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
	_, nul := mlxrocm.LoadModel("a\x00b", nil)
	_, hot := session.Submit(here, text("a"), &mlxrocm.Options{Temperature: float32(math.NaN())})
	_, both := session.Submit(here, mlxrocm.Prompt{Text: "a", Tokens: []mlxrocm.Token{1}}, nil)
	count := mlxrocm.Must(mlxrocm.DeviceCount())
	_, device := mlxrocm.OpenDevice(count)
	for _, test := range []struct {
		err    error
		status mlxrocm.Status
	}{
		{missing, mlxrocm.IO}, {broken, mlxrocm.InvalidFile}, {long, mlxrocm.ContextFull}, {nul, mlxrocm.InvalidArgument},
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

func TestClosedObjectsAreNamed(t *testing.T) {
	short := mlxrocm.Must(model.NewSession(&mlxrocm.SessionOptions{Context: 64}))
	short.Close()
	if _, err := short.Submit(here, text("a"), nil); err == nil || !strings.Contains(err.Error(), "session is nil or was closed") {
		t.Error(err)
	}
	if _, err := session.Chat(here, nil, nil); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Errorf("a chat of no messages: %v", err)
	}
}

// What follows a NUL is seen too.
func TestTextsMayHoldNULs(t *testing.T) {
	prompts := []mlxrocm.Prompt{text("One two\x00 three four"), {Messages: []mlxrocm.Message{{Role: "user", Content: "a\x00b"}}}}
	for _, prompt := range prompts {
		made := complete(t, prompt, mlxrocm.Options{MaxTokens: 2, Stop: []string{"never\x00ever", ""}})
		if made == "" {
			t.Errorf("%q: nothing", prompt)
		}
	}
	whole := mlxrocm.Must(tokenizer.Encode("One two\x00 three four", mlxrocm.AddSpecial))
	generation := mlxrocm.Must(session.Submit(here, text("One two\x00 three four"), &mlxrocm.Options{MaxTokens: 1}))
	defer generation.Close()
	for event, err := generation.Next(); err == nil; event, err = generation.Next() {
		if event.Kind == mlxrocm.FinishedEvent && event.PromptTokens != uint64(len(whole)) {
			t.Errorf("%d tokens of %d", event.PromptTokens, len(whole))
		}
	}
}

func TestFactsAboutTokensAndSessions(t *testing.T) {
	info := mlxrocm.Must(tokenizer.Info())
	end := mlxrocm.Must(tokenizer.FindToken("<|im_end|>"))
	if info.VocabSize != 49152 || info.EOS != end || !mlxrocm.Must(tokenizer.IsSpecial(end)) {
		t.Errorf("%+v, end %d", info, end)
	}
	if none := mlxrocm.Must(tokenizer.FindToken("no such token")); none != mlxrocm.NoToken {
		t.Error(none)
	}
	if _, err := tokenizer.IsSpecial(info.VocabSize); !errors.Is(err, mlxrocm.InvalidArgument) {
		t.Error(err)
	}
	var whole []byte
	for _, token := range mlxrocm.Must(tokenizer.Encode("Zoë 🙂", 0)) {
		whole = append(whole, mlxrocm.Must(tokenizer.TokenBytes(token))...)
	}
	if string(whole) != "Zoë 🙂" {
		t.Errorf("%q", whole)
	}
	if facts := mlxrocm.Must(session.Info()); facts.Context != 512 || facts.KVBytes == 0 || facts.KVTokens < 512 {
		t.Errorf("%+v", facts)
	}
}

func TestStates(t *testing.T) {
	tokens := mlxrocm.Must(tokenizer.Encode(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 9), 0))
	options := &mlxrocm.Options{MaxTokens: 6, Logprobs: 1}
	run := func(s *mlxrocm.Session) (last mlxrocm.Event, logprobs []float32) {
		generation := mlxrocm.Must(s.Submit(here, mlxrocm.Prompt{Tokens: tokens}, options))
		defer generation.Close()
		for event, err := generation.Next(); err != io.EOF; event, err = generation.Next() {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind == mlxrocm.TokenEvent {
				logprobs = append(logprobs, event.Logprob)
			}
			last = event
		}
		return last, logprobs
	}
	_, expected := run(session)
	state := mlxrocm.Must(session.SaveState(tokens))
	if of := mlxrocm.Must(mlxrocm.StateTokens(state)); !reflect.DeepEqual(of, tokens) {
		t.Errorf("tokens of the state: %v", of)
	}
	path := filepath.Join(t.TempDir(), "state")
	if err := session.SaveStateFile(tokens, path); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2; i++ {
		other := mlxrocm.Must(model.NewSession(&mlxrocm.SessionOptions{Context: 512}))
		load := func() error { return other.LoadState(state) }
		if i == 1 {
			load = func() error { return other.LoadStateFile(path) }
		}
		if err := load(); err != nil {
			t.Fatal(err)
		}
		last, logprobs := run(other)
		if last.CachedTokens < 32 || !reflect.DeepEqual(logprobs, expected) {
			t.Errorf("%d tokens cached; %v instead of %v", last.CachedTokens, logprobs, expected)
		}
		if err := other.LoadState(state[:len(state)/2]); !errors.Is(err, mlxrocm.InvalidFile) {
			t.Errorf("half a state: %v", err)
		}
		if err := other.LoadState(nil); !errors.Is(err, mlxrocm.InvalidFile) {
			t.Errorf("no state: %v", err)
		}
		other.Close()
	}
	if err := session.LoadStateFile("/nowhere/state"); !errors.Is(err, mlxrocm.IO) || strings.Contains(err.Error(), "os error") {
		t.Error(err)
	}
	if _, err := session.SaveState(make([]mlxrocm.Token, 600)); !errors.Is(err, mlxrocm.ContextFull) {
		t.Error(err)
	}
}

func TestForks(t *testing.T) {
	whole := complete(t, text("One two three"), mlxrocm.Options{MaxTokens: 8})
	generation := mlxrocm.Must(session.Submit(here, text("One two three"), &mlxrocm.Options{MaxTokens: 8}))
	defer generation.Close()
	begin := ""
	for tokens := 0; tokens < 3; {
		event := mlxrocm.Must(generation.Next())
		begin += event.Text
		if event.Kind == mlxrocm.TokenEvent {
			tokens++
		}
	}
	fork, err := generation.Fork(here, &mlxrocm.Options{MaxTokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if rest := mlxrocm.Must(fork.Text()); begin+rest != whole {
		t.Errorf("%q + %q is not %q", begin, rest, whole)
	}
	if rest := mlxrocm.Must(generation.Text()); begin+rest != whole {
		t.Errorf("%q + %q is not %q", begin, rest, whole)
	}
}

func TestLogitsOfPositionsAndEmbeddings(t *testing.T) {
	tokens := mlxrocm.Must(tokenizer.Encode("The capital of France is", 0))
	all := mlxrocm.Must(session.Logits(tokens))
	columns := len(all) / len(tokens)
	at := mlxrocm.Must(session.LogitsAt(tokens, []uint32{1, 3}))
	if !reflect.DeepEqual(at, append(append([]float32{}, all[columns:2*columns]...), all[3*columns:4*columns]...)) {
		t.Error("rows of positions are others")
	}
	if last := mlxrocm.Must(session.LogitsAt(tokens, nil)); !reflect.DeepEqual(last, all[len(all)-columns:]) {
		t.Error("the last row is another")
	}
	states := mlxrocm.Must(session.Embed(tokens, mlxrocm.PoolingNone, false))
	width := len(states) / len(tokens)
	mean := mlxrocm.Must(session.Embed(tokens, mlxrocm.PoolingMean, false))
	for i := range mean {
		var sum float64
		for row := range tokens {
			sum += float64(states[row*width+i])
		}
		if math.Abs(sum/float64(len(tokens))-float64(mean[i])) > 1e-4 {
			t.Fatalf("column %d: %v", i, mean[i])
		}
	}
	var square float64
	for _, x := range mlxrocm.Must(session.Embed(tokens, mlxrocm.PoolingLast, true)) {
		square += float64(x) * float64(x)
	}
	if math.Abs(square-1) > 1e-4 {
		t.Errorf("of length %v", square)
	}
	// Refused before there is memory for it.
	for _, count := range []int{0, 600} {
		if _, err := session.Logits(make([]mlxrocm.Token, count)); err == nil {
			t.Errorf("%d tokens were run", count)
		}
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
