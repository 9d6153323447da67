package mlxrocm_test

import (
	"errors"
	"strings"
	"testing"

	"mlxrocm"
)

func TestBuildInfo(t *testing.T) {
	said := mlxrocm.BuildInfo()
	if !strings.Contains(said, "mlxrocm "+mlxrocm.Version()) || strings.Contains(said, "\n") {
		t.Errorf("%q", said)
	}
}

func TestWhatTheCPUHasNot(t *testing.T) {
	cpu := mlxrocm.Must(mlxrocm.OpenDevice(0))
	_, event := cpu.NewEvent()
	_, module := cpu.LoadModule([]byte("code"))
	_, kernel := cpu.Kernel("mlxrocm_vector_add_f32")
	for name, err := range map[string]error{
		"an event": event, "a module": module, "a kernel": kernel, "graphs": cpu.SetGraphs(mlxrocm.GraphsOff),
		"a self-test": cpu.Selftest(here, nil),
	} {
		if !errors.Is(err, mlxrocm.Unsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
