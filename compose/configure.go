package compose

import (
	"fmt"
	"reflect"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings/schema"
)

// configurations are what the plugins are configured with.
var configurations = map[string]func(any) (any, error){
	PluginSettingsFile:  configuration(defaultSettingsFile, nil),
	PluginSubprocess:    nothing,
	PluginSandbox:       configuration(defaultSandbox, nil),
	PluginSandboxPolicy: configuration(defaultPolicy, nil),
	PluginShellEnv:      nothing,
	PluginSession:       nothing,
	PluginShell:         configuration(defaultShell, ShellConfig.check),
	PluginShellPlain:    configuration(defaultShell, ShellConfig.check),
	PluginJobs:          configuration(defaultJobs, JobsConfig.check),
	PluginToolBash:      configuration(defaultToolBash, nil),
	PluginToolJobs:      configuration(defaultToolJobs, nil),
}

// configure returns the configuration of a row in the type of its plugin.
func configure(row Row) (any, error) {
	typed, known := configurations[row.Plugin]
	if !known {
		return nil, errRow(row, fmt.Errorf("there is no plugin %q", row.Plugin))
	}
	config, err := typed(row.Config)
	if err != nil {
		return nil, errRow(row, err)
	}
	return config, nil
}

func errRow(row Row, err error) error {
	return fault.New(codeOr(err, fault.InvalidArgument), "composition row %q: %w", row.ID, err)
}

// nothing is for plugins without a configuration.
func nothing(config any) (any, error) {
	if config != nil {
		return nil, fmt.Errorf("the plugin has no configuration: leave it out")
	}
	return nil, nil
}

// configuration takes a value of a type, the same as data, or nothing for the
// defaults, and checks it where there is a check.
func configuration[T any](defaults func() T, check func(T) error) func(any) (any, error) {
	return func(config any) (any, error) {
		var typed T
		switch config := config.(type) {
		case nil:
			return defaults(), nil
		case T:
			typed = config
		case map[string]any:
			read, err := fromData[T](config)
			if err != nil {
				return nil, err
			}
			typed = read
		default:
			return nil, fmt.Errorf("%T is no configuration of the plugin: %T is", config, defaults())
		}
		if check != nil {
			if err := check(typed); err != nil {
				return nil, err
			}
		}
		return typed, nil
	}
}

// fromData reads a configuration from a composition file. A key that means
// nothing is refused: it would be a rule that does not hold.
func fromData[T any](data map[string]any) (config T, err error) {
	s, err := schema.For[T]()
	if err != nil {
		return config, err
	}
	resolved := s.Resolve(nil, data)
	problems := append(s.ValidateWrite(data), resolved.Problems...)
	var wrong []string
	for _, problem := range problems {
		wrong = append(wrong, problem.String())
	}
	for _, path := range resolved.Unknown {
		wrong = append(wrong, path+" is no key of this plugin")
	}
	if len(wrong) > 0 {
		return config, fmt.Errorf("config: %s", strings.Join(wrong, "; "))
	}
	return config, jsontree.Decode(resolved.Value, &config)
}

// difference is what config, a struct, says other than the defaults, as data; nil
// when that is nothing. So what a row leaves alone shows as a default, and not as
// the row's; and an empty list stays one, where no list would mean another thing.
func difference[T any](config, defaults T) (map[string]any, error) {
	var changed map[string]any
	of, from := reflect.ValueOf(config), reflect.ValueOf(defaults)
	for i := range of.NumField() {
		if reflect.DeepEqual(of.Field(i).Interface(), from.Field(i).Interface()) {
			continue
		}
		value, err := jsontree.From(of.Field(i).Interface())
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue // there is no way to say so
		}
		if changed == nil {
			changed = map[string]any{}
		}
		name, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ",")
		changed[name] = value
	}
	return changed, nil
}
