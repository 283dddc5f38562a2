package bench

func zkmlCases() []Case { return nil }
