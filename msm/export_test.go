package msm

// WithGroups is o with so many groups of windows.
func WithGroups(o Options, groups int) Options {
	o.groups = groups
	return o
}
