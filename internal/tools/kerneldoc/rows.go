package main

// row is an operation by its usual name, and what does it here.
type row struct {
	name    string
	ours    string   // package and operation
	kernels []string // in the order of their launches
	moved   string   // bytes of device memory an entry
	cases   []figure
}

// figure is where the results file says how fast it is: a suite (m31 if none is given), a case, and
// the metric of its time. The share of the card's limit is a metric of its own
// (share), or follows from the bytes that the case moves (bytes, against the
// rate of copies) or the permutations that it does (against the permutations of a
// kernel that touches no memory).
type figure struct {
	bench, time, share string
	bytes              float64
	permutations       float64
	suite              string
}

const table = 1 << 25 // entries of the large cases

var rows = []row{
	{"sumcheck_round", "`sumcheck/prover.Prove`: a pass binds the variables of the window before and sums on the grid of the next",
		[]string{"sumcheck_product1", "sumcheck_product2_first", "sumcheck_product2", "sumcheck_product3", "sumcheck_eq_product1", "sumcheck_eq_product2", "sumcheck_eq_product3", "sumcheck_terms"},
		"words: 4 read a table for the first window; every later one reads what is to be bound, writes 16 for each 8 (first) or 4 entries",
		[]figure{{bench: "sumcheck-product-2^25", time: "ms", bytes: 80 * table / 3}}},
	{"sumcheck_round, one large table", "`sumcheck/prover.Prove` for degree 1: the sums of rows serve half of the rounds, then rows are bound at once",
		[]string{"sumcheck_row_sums_base", "sumcheck_row_sums_ext", "sumcheck_bind_rows_base", "sumcheck_bind_rows_ext"}, "8: 4 read, twice",
		[]figure{{bench: "sumcheck-single-2^25", time: "ms", bytes: 8 * table}}},
	{"sumcheck_reduce", "the same launch: the block that comes last adds the sums up, forms the messages, takes them through the transcript and draws; the last rounds are one block's",
		[]string{"sumcheck_begin", "sumcheck_eq", "sumcheck_tail", "sumcheck_evals"}, "none but the blocks' sums",
		[]figure{{bench: "sumcheck-product-2^14", time: "ms"}}},
	{"sumcheck_round, stacks of words with claims on blocks", "`sumcheck/prover.Stacks`: rows of words times the claims' weights give the first rounds, then rows are bound at once",
		[]string{"sumcheck_stack_rows", "sumcheck_stack_fold", "sumcheck_stack_sums", "sumcheck_stack_bind"}, "8: the words, twice, or 4 for each two claims and 4", nil},
	{"sumcheck_3way", "`sumcheck/prover.Prove` for three factors, or two and eq; `sumcheck.Compile` for any other expression",
		[]string{"sumcheck_product3", "sumcheck_eq_product2"}, "as sumcheck_round, a table more",
		[]figure{{bench: "sumcheck-expr-2^24", time: "ms"}}},
	{"binary sum-check: first rounds", "`sumcheck/binary/prover.Prove`, window: masks of the product of the bit columns, then the sums of elements that they select, all as products of matrices of bits",
		[]string{"binary_window_*"}, "16 an element read, and the bits of the columns", nil},
	{"binary sum-check: eq for the first factor", "the same for kind `eq-bits`: two tables of eq, the weights of the pass's sums, and what is left of eq after the first rounds",
		[]string{"binary_eq_*"}, "16 written for every 2^k", nil},
	{"binary sum-check: small sizes", "the same: bits as bytes, where all rounds are the tail's", []string{"binary_patterns1"}, "", nil},
	{"binary sum-check: rounds by masks", "the same, large tables after the window: values of the product of all factors but the last at a few points, summed under the last one's bits",
		[]string{"binary_mask_*"}, "16 an element of p_1 and the patterns of the others read; p_2 .. p_d written at the end", nil},
	{"binary sum-check: fold", "the same: up to four challenges at once, products by constants as a matrix of bits",
		[]string{"binary_fold*"}, "16 an element read, 16 for every 2^k written", nil},
	{"binary sum-check: rounds over elements", "the same: a round a launch binds by the challenge before and sums in the basis of POLYVAL, carry-less products by multipliers; the last rounds are one block's",
		[]string{"binary_tail_*"}, "16 an element read, 8 written; patterns of bits, one or two bytes, while they last", nil},
	{"binary sum-check: second window", "`sumcheck/binary/prover.Prove` for d = 2 from 2^24 points on: p_1's slices by masks of the bits, made in passing; then both tables are bound",
		[]string{"binary_second_*"}, "16 an element of p_1 read, and again for the fold; the bits, twice", nil},
	{"binary sum-check: tables", "`sumcheck/binary/prover.Pack`, `Value`, `EvaluateBits`, `Evaluate`: columns of elements 0 and 1, a claim's value, values at a point",
		[]string{"binary_pack", "binary_value", "binary_evaluate*"}, "16 an element read; a bit column's words", nil},
	{"gates on bit columns", "`bitproof/prover.Prove`: factors of the AND gates and a check of all, then the tables of the sum-check that joins two points",
		[]string{"bits_*"}, "columns' words read, two bits a gate and row written; 32 a row written", nil},
	{"binary sum-check: sliced tables", "the same by BDT-1 and what builds on it: elements in slices of bits, eight warps a product; fold, compose, get_batch",
		[]string{"binary_slice", "binary_unslice", "binary_transpose_bits", "binary_get_batches", "binary_compose", "binary_scale", "binary_compose_round", "binary_masks", "binary_eq_base"},
		"16 an element read for each point of a round; 16 read and 8 written by the fold", nil},
	{"binary sum-check: BDT-2", "the same by BDT-2: sums of elements that bits select, term by term",
		[]string{"binary_terms_*", "binary_widen"}, "16 an element read for every 16 of the terms with its p_1", nil},
	{"restrict_mle, M31 by M31, in place", "`mle/prover.FoldM31`", []string{"mle_fold_words"}, "6 (4 read, 2 written)",
		[]figure{{bench: "fold-m31-2^25", time: "ms", share: "copy-fraction"}}},
	{"restrict_mle, M31 by QM31, out of place; mle_fold", "`mle/prover.Fold` of words", []string{"mle_fold_base"}, "12 (4 read, 8 written)",
		[]figure{{bench: "fold-ext-2^25", time: "ms", share: "copy-fraction"}}},
	{"restrict_mle, QM31, in place", "`mle/prover.Fold` of elements", []string{"mle_fold_ext"}, "24 (16 read, 8 written)",
		[]figure{{bench: "fold-qm31-2^25", time: "ms", share: "copy-fraction"}}},
	{"restrict_rows", "`mle/prover.Restrict`, side Rows: weights are made in passing, padding is not stored", []string{"mle_restrict_rows_words", "mle_restrict_rows_bytes", "mle_restrict_sum"}, "4, or 1 for bytes, read",
		[]figure{{bench: "restrict-rows-m31-5120x17408", time: "ms", share: "read-fraction"}, {bench: "restrict-rows-int8-5120x17408", time: "ms", share: "read-fraction"}}},
	{"restrict_cols", "`mle/prover.Restrict`, side Columns", []string{"mle_restrict_cols_words", "mle_restrict_cols_bytes", "mle_restrict_sum"}, "4, or 1 for bytes, read",
		[]figure{{bench: "restrict-cols-m31-5120x17408", time: "ms", share: "read-fraction"}, {bench: "restrict-cols-int8-5120x17408", time: "ms", share: "read-fraction"}}},
	{"compute_lagrange_basis", "`mle/prover.Eq`, `EqTables`", []string{"mle_eq", "mle_eq_tables"}, "16 written",
		[]figure{{bench: "lagrange-2^25", time: "ms", share: "copy-fraction"}}},
	{"evaluate_mle", "`mle/prover.Evaluate`, `Evaluations`: no table of eq", []string{"mle_dot_eq", "mle_sum"}, "4 read",
		[]figure{{bench: "evaluate-m31-2^25", time: "ms", share: "read-fraction"}}},
	{"combine_blocks", "`mle/prover.RestrictRows` with weights of one's own; in a proof `zkml_combine`", []string{"mle_restrict_rows_words", "mle_rows_ext", "zkml_combine"}, "4, or 16 for elements, read", nil},
	{"gemv", "`matrix/prover.Mul` with one row", []string{"matrix_row", "matrix_row_i8", "matrix_row_transposed", "matrix_row_transposed_i8", "matrix_sum"}, "4, or 1 for bytes, read",
		[]figure{{bench: "gemv-2^28", time: "ms", share: "read-fraction"}, {bench: "gemv-int8-2^28", time: "ms", share: "read-fraction"}}},
	{"gemm", "`matrix/prover.Mul`: residues to small moduli, products of bytes on tensor cores", []string{"matrix_pack_lines", "matrix_pack_steps", "matrix_pack_lines_i8", "matrix_pack_steps_i8", "matrix_gemm_wide", "matrix_gemm_slim", "matrix_bytes_wide", "matrix_bytes_slim", "matrix_recover"}, "bound by products",
		[]figure{{bench: "gemm-8192", time: "ms"}, {bench: "gemm-8192", time: "plain-ms"}}},
	{"add", "`matrix/prover.Add`", []string{"matrix_add"}, "12 (8 read, 4 written)", []figure{{bench: "each-2^28", time: "add-ms", share: "add-copy-fraction"}}},
	{"mul", "`matrix/prover.Multiply`", []string{"matrix_multiply"}, "12 (8 read, 4 written)", []figure{{bench: "each-2^28", time: "mul-ms", share: "mul-copy-fraction"}}},
	{"relu", "`matrix/prover.ReLU`", []string{"matrix_relu"}, "8 (4 read, 4 written)", []figure{{bench: "each-2^28", time: "relu-ms", share: "relu-copy-fraction"}}},
	{"logup_denominator", "`logup/prover.Denominators`", []string{"logup_denominators"}, "4 a column read, 16 written", nil},
	{"logup_3way_round, logup_3way_fold", "`logup/prover.Prove`: a launch folds by the challenge before and sums the next round", []string{"logup_first_base", "logup_first_ext", "logup_next_base", "logup_next_ext"},
		"64 a pair read (40 with numerators of words), then 64 read and 32 written", []figure{{bench: "logup-2^24", time: "ms"}}},
	{"logup_4way_reduce", "the same launch, the block that comes last; the tree and the small layers apart", []string{"logup_tree_base", "logup_tree_ext", "logup_tail"}, "tree: 32 a node read and 32 for each two written, three levels a launch", nil},
	{"ntt, of words, pairs and extensions", "`ntt/prover.Encode`, `Forward`: all passes but the last over columns, the last over rows ([ntt.md](ntt.md))", []string{"ntt_columns_babybear", "ntt_rows_babybear", "ntt_columns_koalabear", "ntt_rows_koalabear", "ntt_columns_cm31", "ntt_rows_cm31", "ntt_columns_babybear_five", "ntt_rows_babybear_five", "ntt_columns_koalabear_five", "ntt_rows_koalabear_five"},
		"a word: 8 a pass (4 read, 4 written); missing coefficients are not read", nil},
	{"ntt over scalar fields", "`ntt/scalar`: layers by decimation in frequency or in time, several a pass; tables of twiddles; orders",
		[]string{"scalar_down_*", "scalar_up_*", "scalar_down_up_*", "scalar_single_*", "scalar_powers_*", "scalar_frequencies_*", "scalar_reverse_*"}, "twice an element a pass", nil},
	{"Poseidon2-Merkle over M31, leaves", "`merkle/prover.Build`, `Root`", []string{"merkle_leaves_m31"}, "4 a word read, 32 a row written",
		[]figure{{bench: "merkle-rows8-2^25", time: "ms", permutations: 2*table - 1}}},
	{"Poseidon2-Merkle over M31, levels", "`merkle/prover.Build`, `Root`, `RootOfDigests`: a launch a level", []string{"merkle_level2_m31", "merkle_level_m31"}, "arity 2: 64 a node read, 32 written",
		[]figure{{bench: "merkle-2^25", time: "ms", permutations: table - 1}}},
	{"Poseidon2-Merkle over M31, top", "all levels above 2^15 digests in one launch", []string{"merkle_top_m31"}, "the same",
		[]figure{{bench: "merkle-2^16", time: "ms", permutations: 1<<16 - 1}, {bench: "merkle-2^10", time: "ms", permutations: 1<<10 - 1}}},
	{"MSM: digits and sort", "`msm`: signed digits of all windows, then points by bucket ([msm.md](msm.md))",
		[]string{"scatter_*"}, "about 30 an entry, 40 in three passes", []figure{{suite: "msm", bench: "bn254-2^24", time: "sort-ms"}}},
	{"MSM: buckets by length", "`msm`: buckets, and pieces of long ones, in order of length for `bucket_accumulate`",
		[]string{"bucket_items_*"}, "offsets read twice, a word written a bucket", nil},
	{"MSM: bucket sums", "`msm`: a bucket, or a piece of a long one, a thread; XYZZ or Edwards form; partial sums joined and merged",
		[]string{"bucket_accumulate_*", "bucket_join_*", "bucket_merge_*"}, "a point read an entry, a sum written a bucket",
		[]figure{{suite: "msm", bench: "bn254-2^24", time: "accumulate-ms"}, {suite: "msm", bench: "bls12-381-2^24", time: "accumulate-ms"}, {suite: "msm", bench: "bls12-377-2^24", time: "accumulate-ms"}, {suite: "msm", bench: "mnt4-753-2^24", time: "accumulate-ms"}}},
	{"MSM: bucket sums, affine", "measurements of `msm/internal/affine`; XYZZ form is faster for every group",
		[]string{"affine_join_*", "affine_sums_*"}, "about 360 an entry for 8 words", nil},
	{"MSM: Edwards form", "`msm`, BLS12-377 in the subgroup",
		[]string{"edwards_*"}, "96 a point read, 144 written", nil},
	{"MSM: reduction", "`msm`: sums over buckets by the bits of their indices",
		[]string{"reduce_*"}, "bound by products",
		[]figure{{suite: "msm", bench: "bn254-2^24", time: "reduce-ms"}, {suite: "msm", bench: "bls12-381-2^24", time: "reduce-ms"}, {suite: "msm", bench: "bls12-377-2^24", time: "reduce-ms"}}},
	{"MSM: few points", "`msm`: runs of points and windows, a block each: digits, buckets and reduction; then blocks joined; two launches",
		[]string{"tiny_*"}, "bound by latency", []figure{{suite: "msm", bench: "tiny-bn254", time: "ms"}, {suite: "msm", bench: "tiny-bls12-381", time: "ms"}, {suite: "msm", bench: "tiny-bls12-377", time: "ms"}}},
	{"MSM: multiples of one point", "`msm/fixedbase`: a scalar's digits as places in a table of multiples; their sums are bucket sums",
		[]string{"fixedbase_*"}, "a scalar read, 4 a window and 4 written", nil},
	{"MSM: bases", "`msm`, `msm/fixedbase`: checks of points, multiples for tables, sums to affine form",
		[]string{"affine_normalize_*", "bases_check_*", "bases_multiply_*"}, "bound by products", nil},
	{"lists by indices", "`msm/pick`: scalars of some places of a list, points put to theirs",
		[]string{"pick_*"}, "an element read and written, an index read", nil},
	{"MSM: measured inputs", "`msm/known`: points with known discrete logarithms (in `msm/fixedbase`, tables), random scalars, their sum's logarithm",
		[]string{"bases_pairs_*", "scalars_*"}, "", nil},
	{"additive NTT", "`ntt/additive/prover.Encoder.Encode`: up to three levels a pass, their twiddle factors as tables; the last five levels in shared memory",
		[]string{"additive_*"}, "32 an element and pass", nil},
	{"FRI-Binius: ring switching", "`fribinius/prover.Committed.Open`: eq at the point, the bits' partial evaluations",
		[]string{"fribinius_eq*", "fribinius_partial", "fribinius_reduce"}, "16 an element written; 32 read", nil},
	{"FRI-Binius: sum-check", "the same: the tables in POLYVAL's basis, a round's sums and the fold before it, and what the transcript makes of them",
		[]string{"fribinius_begin", "fribinius_fold", "fribinius_round", "fribinius_tail", "fribinius_convert"}, "32 a pair of entries read, 32 for two of them written", nil},
	{"transcript of binary towers", "`transcript/tower/prover`: a list absorbed, challenges or indices drawn, a search for work; in protocols' own kernels by `tower.cuh`",
		[]string{"tower_*"}, "bound by latency", nil},
}
