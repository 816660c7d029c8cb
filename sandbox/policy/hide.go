package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hardshell/internal/realpath"
)

// secrets are hidden by default: what holds credentials and nothing that a
// build needs. Paths are relative to the home directory; the last element may
// be a pattern of path.Match.
//
// A configuration that holds a token beside the address of a registry, such as
// ~/.npmrc, ~/.m2/settings.xml or pip.conf, stays readable: without it a
// package manager would look for the packages of a private registry in the
// public one, where anybody can offer that name. Name such a file in
// sandbox.hide when it holds a token that may publish.
var secrets = []struct{ path, what string }{
	{".ssh/id_*", "private keys of ssh; public ones stay readable"},
	{".ssh/identity", "the private key of protocol 1"},
	{".ssh/*_rsa", "private keys by other usual names"},
	{".ssh/*_dsa", "the same"},
	{".ssh/*_ecdsa", "the same"},
	{".ssh/*_ed25519", "the same"},
	{".ssh/*.pem", "the same, as clouds hand them out"},
	{".ssh/*.key", "the same"},
	{".gnupg", "private keys, and the sockets of gpg-agent"},
	{".password-store", "pass"},
	{".config/age", "private keys of age"},
	{".config/sops", "keys of sops"},
	{".pki", "certificates and keys of NSS"},

	{".aws", "AWS: credentials, and the cached tokens of sso and cli"},
	{".azure", "Azure: tokens"},
	{".config/gcloud", "Google Cloud: credentials and tokens"},
	{".boto", "gsutil and old AWS clients"},
	{".oci", "Oracle Cloud: keys"},
	{".aliyun", "Alibaba Cloud"},
	{".config/doctl", "DigitalOcean: tokens"},
	{".config/hcloud", "Hetzner Cloud: tokens"},
	{".config/linode-cli", "Linode: tokens"},
	{".config/scw", "Scaleway: keys"},
	{".bluemix", "IBM Cloud: tokens"},
	{".fly", "fly.io: tokens"},
	{".config/heroku", "Heroku"},
	{".config/netlify", "Netlify: tokens"},
	{".local/share/com.vercel.cli", "Vercel: tokens"},
	{".config/.wrangler", "Cloudflare: tokens"},
	{".wrangler", "the same, older"},
	{".config/rclone", "rclone: keys of every remote"},
	{".s3cfg", "s3cmd"},
	{".mc", "MinIO client"},
	{".databrickscfg", "Databricks: tokens"},
	{".snowflake", "Snowflake"},

	{".kube", "Kubernetes: certificates and tokens"},
	{".docker/config.json", "logins of image registries"},
	{".config/containers/auth.json", "the same, of podman"},
	{".config/helm/registry", "the same, of helm"},
	{".terraform.d/credentials.tfrc.json", "Terraform Cloud: tokens"},
	{".terraformrc", "the same"},
	{".pulumi/credentials.json", "Pulumi: tokens"},
	{".vault-token", "HashiCorp Vault"},

	{".netrc", "logins by host; curl and git read it"},
	{"_netrc", "the same, as on Windows"},
	{".authinfo", "the same, of Emacs"},
	{".authinfo.gpg", "the same"},
	{".git-credentials", "git's plain store"},
	{".config/git/credentials", "the same"},
	{".cache/git/credential", "the socket of git's credential cache"},
	{".git-credential-cache", "the same, older"},
	{".config/gh/hosts.yml", "GitHub's client: tokens"},
	{".config/glab-cli", "GitLab's client: tokens"},
	{".config/hub", "hub: token"},

	{".pypirc", "uploads to PyPI"},
	{".cargo/credentials", "publishing to crates.io"},
	{".cargo/credentials.toml", "the same"},
	{".gem/credentials", "publishing to rubygems.org"},
	{".local/share/gem/credentials", "the same"},
	{".config/composer/auth.json", "Composer: tokens"},
	{".composer/auth.json", "the same"},
	{".m2/settings-security.xml", "the master password of Maven"},
	{".hex/hex.config", "publishing to hex.pm"},
	{".huggingface/token", "Hugging Face"},
	{".cache/huggingface/token", "the same"},
	{".cache/huggingface/stored_tokens", "the same"},

	{".pgpass", "passwords of PostgreSQL"},
	{".my.cnf", "passwords of MySQL"},
	{".mylogin.cnf", "the same"},
	{".smbcredentials", "passwords of file servers"},
	{".fetchmailrc", "passwords of mail servers"},
	{".msmtprc", "the same"},
	{".mbsyncrc", "the same"},

	{".local/share/keyrings", "GNOME's keyring"},
	{".local/share/kwalletd", "KDE's wallet"},
	{".config/op", "1Password's client"},
	{".config/1Password", "1Password"},
	{".1password", "the agent's socket"},
	{".config/Bitwarden", "Bitwarden"},
	{".config/Bitwarden CLI", "its client"},
	{".config/keepassxc", "KeePassXC: key of the browser link"},

	{".mozilla", "Firefox: cookies and passwords"},
	{".config/mozilla", "the same, by the XDG layout"},
	{".thunderbird", "mail and passwords"},
	{".config/google-chrome*", "cookies and passwords"},
	{".config/chromium", "the same"},
	{".config/BraveSoftware", "the same"},
	{".config/microsoft-edge*", "the same"},
	{".config/opera*", "the same"},
	{".config/vivaldi*", "the same"},
	{".librewolf", "the same"},
	{".zen", "the same"},
	{".var/app", "data of Flatpak programs, browsers among them"},
	{"snap/firefox", "Firefox as a snap"},
	{"snap/chromium", "Chromium as a snap"},
	{".config/Signal", "messages"},
	{".config/Slack", "tokens and messages"},
	{".config/discord", "the same"},
	{".local/share/TelegramDesktop", "the same"},

	{".electrum", "wallets"},
	{".bitcoin", "the same"},
	{".ethereum", "the same"},
	{".config/solana", "the same"},
}

// DefaultHide returns what is hidden unless the settings say otherwise: keys,
// credentials, password stores and browsers' profiles below the home directory
// home. Patterns are matched now; a path without one is returned whether it
// exists or not. A directory that cannot be listed stands for all that matches in
// it. It returns nil for a relative home.
func DefaultHide(home string) []string {
	if !filepath.IsAbs(home) {
		return nil
	}
	var out []string
	type listing struct {
		names []string
		err   error
	}
	listed := map[string]listing{}
	for _, secret := range secrets {
		dir, pattern := path.Split(secret.path)
		dir = filepath.Join(home, filepath.FromSlash(dir))
		if !strings.Contains(pattern, "*") {
			out = append(out, filepath.Join(dir, pattern))
			continue
		}
		found, ok := listed[dir]
		if !ok {
			found.names, found.err = namesIn(dir)
			listed[dir] = found
		}
		if found.err != nil {
			// A command may have taken its permissions, to give them back later.
			out = append(out, dir)
		}
		for _, name := range found.names {
			if matched, _ := path.Match(pattern, name); matched && !strings.HasSuffix(name, ".pub") {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesIn returns the names in dir, none when there is no such directory. With an
// error it could not be read to the end.
func namesIn(dir string) ([]string, error) {
	info, err := os.Stat(dir)
	if realpath.LeadsNowhere(err) || err == nil && !info.IsDir() {
		return nil, nil
	}
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}
