// Package signame spells signals as people and scripts do.
package signame
