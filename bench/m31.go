package bench

func m31Cases() []Case { return nil }
