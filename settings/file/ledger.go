package file

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"hardshell/internal/document"
)

// ledger is what all processes know of a document beside its bytes: the revision
// of every section that there has been. It is written under the lock only. One
// that is behind its document, after a crash or an edit by another program, is
// brought up to date by the next who holds the lock: a section whose hash is
// another than the ledger's has changed.
type ledger struct {
	// Start is below every revision that is given out from now on. It is 0 unless
	// a ledger was lost: then the time in milliseconds, which is above all that
	// the lost one can have given out.
	Start uint64 `json:"start"`
	// Document is the digest of the whole document's bytes, when it was last
	// written or taken in; "" when it was absent.
	Document string           `json:"document"`
	Sections map[string]entry `json:"sections"`
}

// entry is the revision of one section, and the digest of its data at that
// revision: "" when it is absent.
type entry struct {
	Revision uint64 `json:"revision"`
	Hash     string `json:"hash"`
}

// maxRevision is the largest number that every JSON reader keeps exactly.
const maxRevision = 1<<53 - 1

// ledgerFiles are the paths of what belongs to one document in the home.
type ledgerFiles struct {
	lock, ledger string
	// key tells the documents of a home apart.
	key string
}

func (p *Provider) filesOf(at place) ledgerFiles {
	key := digestOf([]byte(at.target))[:16]
	base := filepath.Join(p.home.Run(), "settings-"+key)
	return ledgerFiles{lock: base + ".lock", ledger: base + ".json", key: key}
}

// readLedger reads the ledger at path. One that is absent, or damaged, is lost.
func readLedger(path string) (l ledger, found bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return ledger{}, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ledger{}, false
	}
	data, err := io.ReadAll(io.LimitReader(f, document.MaxSize))
	if err != nil || json.Unmarshal(data, &l) != nil || l.Sections == nil || l.Start > maxRevision {
		return ledger{}, false
	}
	for _, e := range l.Sections {
		if e.Revision > maxRevision {
			return ledger{}, false
		}
	}
	return l, true
}

// advance returns the ledger for a document with the given digest, whose sections
// have the given hashes. Held are the revisions that this process has given out.
// It reports whether an entry is another than in l.
func (l ledger) advance(document string, hashes map[string]string, held map[string]entry) (next ledger, moved bool) {
	next = ledger{Start: l.Start, Document: document, Sections: make(map[string]entry, len(l.Sections)+len(hashes))}
	set := func(key string) {
		if _, done := next.Sections[key]; done {
			return
		}
		hash := hashes[key]
		was, listed := l.Sections[key]
		now := entry{Revision: was.Revision, Hash: hash}
		if !listed || was.Hash != hash {
			now.Revision = max(was.Revision, l.Start) + 1
		}
		if mine, ok := held[key]; ok {
			switch {
			case mine.Hash == hash:
				now.Revision = max(now.Revision, mine.Revision)
			case now.Revision <= mine.Revision:
				now.Revision = mine.Revision + 1
			}
		}
		next.Sections[key] = now
		moved = moved || !listed || now != was
	}
	for key := range l.Sections {
		set(key)
	}
	for key := range hashes {
		set(key)
	}
	for key := range held {
		set(key)
	}
	return next, moved
}

// store writes the ledger. The lock is held.
func (p *Provider) store(files ledgerFiles, l ledger) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	temp := files.ledger + ".tmp"
	if err := sweep(temp); err != nil {
		return err
	}
	_, err = p.swap(swap{target: files.ledger, temp: temp, data: append(data, '\n'), mode: 0o600, steps: "ledger-"})
	return err
}
