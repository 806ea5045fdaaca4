// Package value has the types of settings that carry a unit or a secret. It is
// a leaf: packages that own a Config use it without knowing how settings are loaded.
package value
