package compose

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"hardshell/internal/state"
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
	if config.Path != "" && !filepath.IsAbs(config.Path) {
		config.Path = filepath.Join(in.Home.Root(), config.Path) // wherever this process was started
	}
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

// validate is the check, for values whose refusals may not quote them.
func (s settingsOf[T]) validate() func(T) error {
	if s.check == nil {
		return nil
	}
	return func(value T) error {
		if err := s.check(value); err != nil {
			return errors.New(unquoted(err.Error()))
		}
		return nil
	}
}

// unquoted is a message without what it quotes.
func unquoted(message string) string {
	parts := strings.Split(message, `"`)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return strings.Join(parts, `"`)
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
// Stated is what the row says as data, nil when it was made in Go.
func (s settingsOf[T]) register(service *settings.Service, config T, stated map[string]any, tolerate bool) (*settings.Scope[T], error) {
	base := stated
	if base == nil {
		var err error
		if base, err = difference(config, s.defaults); err != nil {
			return nil, err
		}
	}
	options := settings.RegisterOptions[T]{Applies: s.applies, Validate: s.validate(), Tolerate: tolerate}
	if base != nil {
		options.Base = base
	}
	return settings.Register(service, s.ns, options)
}

// configured is what a row is configured with, as the settings have it.
type configured[T any] struct {
	of      *Composition
	ns      settings.Namespace
	row     T
	service *settings.Service // nil in a composition without settings
	scope   *settings.Scope[T]
}

// follow makes a row the owner of its namespace for as long as it is active.
// Without settings the configuration is the row's alone, and so it is for one call
// when the document says nothing: a schema would cost more than the call.
//
// A section that is refused keeps a harness from starting, and not a row of a
// running one from coming back: that goes on with its last good value.
func follow[T any](c *Composition, a *plugin.Activation, s settingsOf[T]) (*configured[T], error) {
	own := &configured[T]{of: c, ns: s.ns, row: a.Config.(T)}
	service, ok := plugin.Lookup(a, settingsKey)
	if !ok || c.in.OneShot && !service.Stored(s.ns) {
		return own, nil
	}
	if s.check != nil {
		if err := s.check(own.row); err != nil {
			return nil, err // the row's fault, and not the document's
		}
	}
	_, again := c.lastGood.Load(s.ns)
	scope, err := s.register(service, own.row, c.stated(a.Row), again)
	if err != nil {
		return nil, err
	}
	own.service, own.scope = service, scope
	return own, a.Scope.Defer(quietly(scope.Close))
}

// get is the configuration as it stands.
func (c *configured[T]) get() T {
	if c.scope == nil {
		return c.row
	}
	if c.service.Refused(c.ns) {
		if last, ok := c.of.lastGood.Load(c.ns); ok {
			return last.(T)
		}
	}
	value := c.scope.Get()
	c.of.lastGood.Store(c.ns, value)
	return value
}

// live has apply called with the configuration now and after every change, while
// the row is active: before the write that changed it returns.
func (c *configured[T]) live(a *plugin.Activation, apply func(T) error) error {
	if c.scope == nil {
		return apply(c.row)
	}
	var mu sync.Mutex // so that what is applied last is what there was last
	ended := false
	now := func() error {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return nil
		}
		return apply(c.get())
	}
	// A section that is mended may hold what was in force before it was registered
	// again: that changes the document, and not the value.
	remove := c.service.OnDocumentUpdated(func(_ context.Context, u settings.DocumentUpdated) error {
		if u.NS != c.ns {
			return nil
		}
		return now()
	})
	end := func() {
		remove()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
	if err := now(); err != nil {
		end()
		return err
	}
	return undo(a, end, nil)
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
	return registerAll(ctx, service, in, rows, configured)
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
	return registerAll(ctx, service, in, rows, configured)
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
func registerAll(ctx context.Context, service *settings.Service, in Surroundings, rows, configured []Row) (*settings.Service, error) {
	data := statedBy(rows)
	for _, row := range configured {
		var err error
		switch config := row.Config.(type) {
		case ShellConfig:
			_, err = shellSettings().register(service, config, data[row.ID], true)
		case SandboxPolicyConfig:
			_, err = policySettings(in).register(service, config, data[row.ID], true)
		case JobsConfig:
			_, err = jobsSettings().register(service, config, data[row.ID], true)
		}
		if err != nil {
			service.Close(context.WithoutCancel(ctx))
			return nil, errRow(row, err)
		}
	}
	return service, nil
}

// statedBy is what rows say as data, by id.
func statedBy(rows []Row) map[string]map[string]any {
	data := map[string]map[string]any{}
	for _, row := range rows {
		if said, ok := row.Config.(map[string]any); ok {
			data[row.ID] = said
		}
	}
	return data
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

// documentOf is the path of the settings document of rows, as it is configured.
func documentOf(in Surroundings, rows []Row) string {
	configured, err := configureAll(rows)
	if err != nil {
		return "" // Build says so
	}
	provider, err := settingsFileOf(configured).provider(in, false)
	if err != nil {
		return ""
	}
	return provider.Path()
}

// Decided reports whether a home has files that decide how commands are confined.
func Decided(home state.Home) bool {
	for _, name := range []string{"settings.yaml", patchFile} {
		if _, err := os.Lstat(filepath.Join(home.Root(), name)); err == nil {
			return true
		}
	}
	return false
}
