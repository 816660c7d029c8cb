package compose

import (
	"context"

	"hardshell/plugin"
	"hardshell/settings"
	"hardshell/settings/file"
	"hardshell/shell/bash"
)

// SettingsFileConfig is the configuration of the row "settings-file".
type SettingsFileConfig struct {
	Path       string  `json:"path,omitempty" doc:"The settings document, ending in .yaml, .yml or .json; absent is settings.yaml in the home."`
	Watch      bool    `json:"watch" default:"true" doc:"Whether changes that others make to the document are seen at once. A process that makes one call does not watch."`
	DebounceMs float64 `json:"debounceMs" default:"100" minimum:"0" maximum:"60000" doc:"How long the document must be left alone before a change counts, in milliseconds."`
}

func defaultSettingsFile() SettingsFileConfig {
	return SettingsFileConfig{Watch: true, DebounceMs: 100}
}

// open returns the service over the document.
func (config SettingsFileConfig) open(ctx context.Context, in Surroundings, watch bool) (*settings.Service, error) {
	debounce := milliseconds(config.DebounceMs)
	if debounce == 0 {
		debounce = -1 // none, and not the default
	}
	provider, err := file.New(file.Config{
		Home: in.Home, Path: config.Path, Watch: config.Watch && watch, Debounce: debounce, Log: in.Log,
	})
	if err != nil {
		return nil, err
	}
	return settings.Open(ctx, provider, settings.Options{Log: in.Log})
}

func (c *Composition) applySettingsFile(ctx context.Context, a *plugin.Activation) error {
	service, err := a.Config.(SettingsFileConfig).open(ctx, c.in, !c.in.OneShot)
	if err != nil {
		return err
	}
	if err := a.Scope.Defer(service.Close); err != nil {
		return err
	}
	return plugin.Provide(a.Scope, settingsKey, service)
}

// settingsOf is a row's part in the settings: a namespace that has the keys of its
// configuration, which is the layer below the user's.
type settingsOf[T any] struct {
	ns       settings.Namespace
	defaults T
	applies  settings.Applies
	check    func(T) error
	// changed is told of every change after the first value; nil for what applies
	// after a restart.
	changed func(T) error
}

// register makes the row of a configuration the owner of its namespace.
func (s settingsOf[T]) register(service *settings.Service, config T, tolerate bool) (*settings.Scope[T], error) {
	base, err := difference(config, s.defaults)
	if err != nil {
		return nil, err
	}
	options := settings.RegisterOptions[T]{Applies: s.applies, Validate: s.check, Tolerate: tolerate}
	if base != nil {
		options.Base = base
	}
	return settings.Register(service, s.ns, options)
}

// follow returns the configuration of a row as the settings have it, and has every
// change told while the row is active. Without settings it is the row's alone.
func follow[T any](a *plugin.Activation, s settingsOf[T]) (T, error) {
	config := a.Config.(T)
	service, ok := plugin.Lookup(a, settingsKey)
	if !ok {
		return config, nil
	}
	scope, err := s.register(service, config, false)
	if err != nil {
		return config, err
	}
	if err := a.Scope.Defer(scope.Close); err != nil {
		return config, err
	}
	if s.changed == nil {
		return scope.Get(), nil
	}
	remove := service.OnUpdated(func(_ context.Context, u settings.Updated) error {
		if u.NS != s.ns {
			return nil
		}
		return s.changed(scope.Get())
	})
	return scope.Get(), undo(a, remove, nil)
}

// OpenSettings returns the settings of a home for whoever looks at them or changes
// them: every namespace that rows have is registered, also over a section that is
// wrong (see settings.Descriptor). The caller closes the service. DOCUMENT_INVALID
// when the document cannot be read at all.
func OpenSettings(ctx context.Context, in Surroundings, rows []Row, watch bool) (*settings.Service, error) {
	config := defaultSettingsFile()
	configured := make([]Row, 0, len(rows))
	for _, row := range rows {
		typed, err := configure(row)
		if err != nil {
			return nil, err
		}
		if row.Disabled {
			continue
		}
		if own, ok := typed.(SettingsFileConfig); ok {
			config = own
		}
		row.Config = typed
		configured = append(configured, row)
	}
	service, err := config.open(ctx, in, watch)
	if err != nil {
		return nil, err
	}
	for _, row := range configured {
		var err error
		switch config := row.Config.(type) {
		case ShellConfig:
			_, err = shellSettings().register(service, config, true)
		case SandboxPolicyConfig:
			_, err = policySettings(in).register(service, config, true)
		case JobsConfig:
			_, err = jobsSettings().register(service, config, true)
		}
		if err != nil {
			service.Close(context.WithoutCancel(ctx))
			return nil, errRow(row, err)
		}
	}
	return service, nil
}

func shellSettings() settingsOf[ShellConfig] {
	return settingsOf[ShellConfig]{ns: "shell", defaults: defaultShell(), check: ShellConfig.check}
}

func policySettings(in Surroundings) settingsOf[SandboxPolicyConfig] {
	return settingsOf[SandboxPolicyConfig]{
		ns: "sandbox", defaults: defaultPolicy(),
		check: func(config SandboxPolicyConfig) error {
			_, err := config.service(in)
			return err
		},
	}
}

func jobsSettings() settingsOf[JobsConfig] {
	return settingsOf[JobsConfig]{ns: "jobs", defaults: defaultJobs(), applies: settings.Restart, check: JobsConfig.check}
}

// check refuses what an executor would.
func (config ShellConfig) check() error {
	_, err := bash.New(nil, config.bash())
	return err
}
