package compose

import (
	"context"
	"errors"
	"syscall"
	"time"

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
	provider, err := config.provider(in, watch)
	if err != nil {
		return nil, err
	}
	return settings.Open(ctx, provider, settings.Options{Log: in.Log})
}

func (config SettingsFileConfig) provider(in Surroundings, watch bool) (*file.Provider, error) {
	debounce := milliseconds(config.DebounceMs)
	if debounce == 0 {
		debounce = -1 // none, and not the default
	}
	return file.New(file.Config{
		Home: in.Home, Path: config.Path, Watch: config.Watch && watch, Debounce: debounce, Log: in.Log,
	})
}

func (c *Composition) applySettingsFile(ctx context.Context, a *plugin.Activation) error {
	config := a.Config.(SettingsFileConfig)
	service, err := config.open(ctx, c.in, !c.in.OneShot)
	if config.Path == "" && errors.Is(err, syscall.ENOTDIR) {
		// A home that can be none has no document either.
		service, err = settings.Open(ctx, settings.NewReadOnlyMemory(nil), settings.Options{Log: c.in.Log})
	}
	if err != nil {
		return err
	}
	if err := a.Scope.Defer(quietly(service.Close)); err != nil {
		return err
	}
	return plugin.Provide(a.Scope, settingsKey, service)
}

// quietly has the settings come to rest although the context is over that cuts the
// grace of commands short: they wait for no command.
func quietly(closing func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settingsRest)
		defer cancel()
		return closing(ctx)
	}
}

// settingsRest is more than the check of an owner may take.
const settingsRest = 10 * time.Second

// settingsOf is a row's part in the settings: a namespace that has the keys of its
// configuration, which is the layer below the user's.
type settingsOf[T any] struct {
	ns       settings.Namespace
	defaults T
	applies  settings.Applies
	check    func(T) error
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

// configured is what a row is configured with, as the settings have it.
type configured[T any] struct {
	ns      settings.Namespace
	row     T
	service *settings.Service // nil in a composition without settings
	scope   *settings.Scope[T]
}

// follow makes a row the owner of its namespace for as long as it is active.
// Without settings the configuration is the row's alone, and so it is for one call
// when the document says nothing: a schema would cost more than the call.
func follow[T any](a *plugin.Activation, s settingsOf[T], oneShot bool) (*configured[T], error) {
	c := &configured[T]{ns: s.ns, row: a.Config.(T)}
	service, ok := plugin.Lookup(a, settingsKey)
	if !ok || oneShot && !service.Stored(s.ns) {
		return c, nil
	}
	scope, err := s.register(service, c.row, false)
	if err != nil {
		return nil, err
	}
	c.service, c.scope = service, scope
	return c, a.Scope.Defer(quietly(scope.Close))
}

// get is the configuration as it stands.
func (c *configured[T]) get() T {
	if c.scope == nil {
		return c.row
	}
	return c.scope.Get()
}

// live has apply called with the configuration now and after every change, while
// the row is active: before the write that changed it returns.
func (c *configured[T]) live(a *plugin.Activation, apply func(T) error) error {
	if c.scope == nil {
		return apply(c.row)
	}
	remove := c.service.OnUpdated(func(_ context.Context, u settings.Updated) error {
		if u.NS != c.ns {
			return nil
		}
		return apply(c.scope.Get())
	})
	return undo(a, remove, apply(c.scope.Get()))
}

// OpenSettings returns the settings of a home for whoever looks at them or changes
// them: every namespace that rows have is registered, also over a section that is
// wrong (see settings.Descriptor). The caller closes the service. DOCUMENT_INVALID
// when the document cannot be read at all.
func OpenSettings(ctx context.Context, in Surroundings, rows []Row, watch bool) (*settings.Service, error) {
	configured, err := configureAll(rows)
	if err != nil {
		return nil, err
	}
	service, err := settingsFileOf(configured).open(ctx, in, watch)
	if err != nil {
		return nil, err
	}
	return registerAll(ctx, service, in, configured)
}

// SettingsOver is OpenSettings with the document of another provider, which the
// service closes.
func SettingsOver(ctx context.Context, provider settings.Provider, in Surroundings, rows []Row) (*settings.Service, error) {
	configured, err := configureAll(rows)
	if err != nil {
		return nil, err
	}
	service, err := settings.Open(ctx, provider, settings.Options{Log: in.Log})
	if err != nil {
		return nil, err
	}
	return registerAll(ctx, service, in, configured)
}

// SettingsFile is the document that OpenSettings opens, as a file that is not
// opened yet: for whoever handles its text, valid or not. INVALID_ARGUMENT for a
// path that can be none.
func SettingsFile(in Surroundings, rows []Row) (*file.Provider, error) {
	configured, err := configureAll(rows)
	if err != nil {
		return nil, err
	}
	return settingsFileOf(configured).provider(in, false)
}

// configureAll returns the rows that are not disabled, with typed configurations.
func configureAll(rows []Row) ([]Row, error) {
	configured := make([]Row, 0, len(rows))
	for _, row := range rows {
		typed, err := configure(row)
		if err != nil {
			return nil, err
		}
		if row.Config = typed; !row.Disabled {
			configured = append(configured, row)
		}
	}
	return configured, nil
}

// settingsFileOf is the configuration of the document; its defaults without a row.
func settingsFileOf(rows []Row) SettingsFileConfig {
	config := defaultSettingsFile()
	for _, row := range rows {
		if own, ok := row.Config.(SettingsFileConfig); ok {
			config = own
		}
	}
	return config
}

// registerAll registers the namespaces of rows, or closes the service when one
// cannot be.
func registerAll(ctx context.Context, service *settings.Service, in Surroundings, rows []Row) (*settings.Service, error) {
	for _, row := range rows {
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
