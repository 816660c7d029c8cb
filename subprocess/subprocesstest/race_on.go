//go:build race

package subprocesstest

const raceDetector = true
