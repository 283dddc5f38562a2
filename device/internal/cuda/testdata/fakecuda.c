// A CUDA driver without a GPU, for tests of the binding. It is stricter than
// the real one: enqueued work runs only when somebody waits for it, so that
// memory reused too early is seen; and every call checks the current context, and
// that what it is about belongs to it. GPUs 0 and 2 are alike, 1 is too old.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

typedef int R;
typedef uint64_t P;

enum { COPY, FILL, KERNEL, EVENT, WAIT };
struct function { void *context; char name[64]; uint32_t static_shared, most; };
struct recording { int reached; double at; }; // what waits for an event is about one of these, kept for good
struct event { int timing; void *context; struct recording *last; };
struct op {
	int kind;
	char *dst; const char *src; size_t n; uint32_t word;
	uint32_t dims[7]; uint64_t args[256]; struct function *f;
	struct recording *e;
	struct op *next;
};
struct stream { void *context; int waits; struct op *first, **last; struct graph *recording; };
struct graph { struct op *first, **last; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread void *current;
#define DEVICES 3
static int contexts[DEVICES];
static double now;
static size_t used;
struct block { void *context; char *at; size_t n; struct block *next; };
static struct block *blocks; // device memory
#define MAX_STREAMS 64
static struct stream *all[MAX_STREAMS];

// What tests set and read.
static int init_result, fail_code, fail_after = -1;
static size_t total = 64 << 20;
static int64_t calls_alloc, calls_free, calls_pinned, most_pinned = INT64_MAX, live_events, live_streams, live_graphs;

void fake_reset(void) {
	init_result = 0; fail_code = 0; fail_after = -1; total = 64 << 20;
	calls_alloc = calls_free = calls_pinned = live_streams = live_graphs = 0;
	most_pinned = INT64_MAX;
	memset(all, 0, sizeof all); // what a test with a fault left
}
void fake_init_result(int r) { init_result = r; }
void fake_total(size_t n) { total = n; }
void fake_most_pinned(int64_t n) { most_pinned = n; }
// The operation after `after` others that a stream runs fails with code.
void fake_fail(int code, int after) { fail_code = code; fail_after = after; }
int64_t fake_count(int what) {
	switch (what) {
	case 0: return calls_alloc;
	case 1: return calls_free;
	case 2: return calls_pinned;
	case 3: return live_streams;
	case 4: return live_events;
	case 6: return live_graphs;
	}
	return (int64_t)used;
}

#define NEED_CONTEXT if (!current) return 201
#define NEED(object) if (!(object) || (object)->context != current) return 400

R cuInit(unsigned flags) { return flags ? 1 : init_result; }
R cuDriverGetVersion(int *v) { *v = 13000; return 0; }
R cuGetErrorName(R r, const char **out) {
	*out = r == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : r == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : NULL;
	return *out ? 0 : 1;
}
R cuGetErrorString(R r, const char **out) {
	*out = r == 2 ? "out of memory" : r == 700 ? "an illegal memory access was encountered" : NULL;
	return *out ? 0 : 1;
}
R cuDeviceGetCount(int *n) { *n = DEVICES; return 0; }
R cuDeviceGet(int *d, int n) { *d = n; return n < 0 || n >= DEVICES ? 101 : 0; }
R cuDeviceGetName(char *name, int len, int d) {
	strncpy(name, d == 1 ? "Fake GPU of old" : "Fake GPU", len);
	return 0;
}
R cuDeviceTotalMem_v2(size_t *n, int d) { *n = total; return 0; }
R cuDeviceGetAttribute(int *v, int a, int d) {
	switch (a) {
	case 16: *v = 132; return 0;
	case 75: *v = d == 1 ? 7 : 9; return 0;
	case 76: *v = d == 1 ? 5 : 0; return 0;
	case 97: *v = 232448; return 0;
	}
	return 1;
}
R cuDevicePrimaryCtxRetain(void **c, int d) { *c = &contexts[d]; return 0; }
R cuCtxSetCurrent(void *c) { current = c; return 0; }
R cuMemGetInfo_v2(size_t *f, size_t *t) { NEED_CONTEXT; *f = total - used; *t = total; return 0; }

// owned says whether all n bytes from p lie in one piece of the context's memory.
static int owned(P p, size_t n) {
	for (struct block *b = blocks; b; b = b->next)
		if (b->context == current && (P)(uintptr_t)b->at <= p && p - (P)(uintptr_t)b->at <= b->n && n <= b->n - (p - (P)(uintptr_t)b->at)) return 1;
	return 0;
}

// Device memory comes filled with garbage.
R cuMemAlloc_v2(P *p, size_t n) {
	NEED_CONTEXT;
	if (n == 0) return 1;
	pthread_mutex_lock(&lock);
	R r = 2;
	if (used + n <= total) {
		struct block *b = malloc(sizeof *b);
		*b = (struct block){current, malloc(n), n, blocks};
		blocks = b;
		memset(b->at, 0xEE, n);
		used += n;
		calls_alloc++;
		*p = (P)(uintptr_t)b->at;
		r = 0;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static R run_all(struct recording *until);

static R run(struct stream *s, struct recording *until) {
	while (s->first) {
		struct op *o = s->first;
		if (o->kind == WAIT && !o->e->reached) {
			s->waits = 1;
			R r = run_all(o->e);
			s->waits = 0;
			if (r || !o->e->reached) return r;
			continue;
		}
		if (fail_after == 0) return fail_code; // sticky: it stays in the way
		if (fail_after > 0) fail_after--;
		now += 1.5;
		switch (o->kind) {
		case COPY: memmove(o->dst, o->src, o->n); break;
		case FILL: for (size_t i = 0; i < o->n; i++) ((uint32_t *)o->dst)[i] = o->word; break;
		case KERNEL:
			if (!strcmp(o->f->name, "fake_store")) { // (u32* out, u32 v, u64 w)
				uint32_t *out = (uint32_t *)(uintptr_t)o->args[0];
				memcpy(out, o->dims, sizeof o->dims);
				out[7] = (uint32_t)o->args[1];
				memcpy(out + 8, &o->args[2], 8);
			} else if (!strcmp(o->f->name, "fake_increment")) { // (u32* x, u32 n)
				uint32_t *x = (uint32_t *)(uintptr_t)o->args[0];
				for (uint32_t i = 0; i < (uint32_t)o->args[1]; i++) x[i]++;
			}
			break;
		case EVENT: o->e->reached = 1; o->e->at = now; break;
		}
		int reached = o->kind == EVENT && o->e == until;
		s->first = o->next;
		if (!s->first) s->last = &s->first;
		free(o);
		if (reached) break;
	}
	return 0;
}

static R run_all(struct recording *until) {
	for (int i = 0; i < MAX_STREAMS; i++) {
		if (!all[i] || all[i]->waits) continue;
		if (until && until->reached) return 0;
		R r = run(all[i], until);
		if (r) return r;
	}
	return 0;
}

R cuMemFree_v2(P p) {
	NEED_CONTEXT;
	pthread_mutex_lock(&lock);
	R r = run_all(NULL); // the real one waits for the device as well
	calls_free++;
	struct block **at = &blocks;
	while (*at && (P)(uintptr_t)(*at)->at != p) at = &(*at)->next;
	struct block *b = *at;
	if (b && b->context == current) {
		*at = b->next;
		used -= b->n;
		memset(b->at, 0xDD, b->n);
		free(b->at);
		free(b);
	} else {
		r = 1;
	}
	pthread_mutex_unlock(&lock);
	return r;
}
R cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	NEED_CONTEXT;
	if (flags != 1) return 1;
	if (calls_pinned >= most_pinned) return 2;
	calls_pinned++;
	*p = malloc(n);
	return 0;
}
R cuMemFreeHost(void *p) { NEED_CONTEXT; calls_pinned--; free(p); return 0; }

static struct op *enqueue(struct stream *s, int kind) {
	struct op *o = calloc(1, sizeof *o);
	o->kind = kind;
	struct op ***last = s->recording ? &s->recording->last : &s->last;
	**last = o;
	*last = &o->next;
	return o;
}
static R copy(void *dst, const void *src, size_t n, struct stream *s, int to, int from) {
	NEED_CONTEXT;
	NEED(s);
	if (!dst || !src) return 1;
	pthread_mutex_lock(&lock);
	R r = (to && !owned((P)(uintptr_t)dst, n)) || (from && !owned((P)(uintptr_t)src, n));
	if (!r) {
		struct op *o = enqueue(s, COPY);
		o->dst = dst, o->src = src, o->n = n;
	}
	pthread_mutex_unlock(&lock);
	return r;
}
R cuMemcpyHtoDAsync_v2(P d, const void *h, size_t n, struct stream *s) { return copy((void *)(uintptr_t)d, h, n, s, 1, 0); }
R cuMemcpyDtoHAsync_v2(void *h, P d, size_t n, struct stream *s) { return copy(h, (void *)(uintptr_t)d, n, s, 0, 1); }
R cuMemcpyDtoDAsync_v2(P a, P b, size_t n, struct stream *s) { return copy((void *)(uintptr_t)a, (void *)(uintptr_t)b, n, s, 1, 1); }
R cuMemsetD32Async(P d, unsigned word, size_t n, struct stream *s) {
	NEED_CONTEXT;
	NEED(s);
	pthread_mutex_lock(&lock);
	R r = !owned(d, 4 * n);
	if (!r) {
		struct op *o = enqueue(s, FILL);
		o->dst = (char *)(uintptr_t)d, o->word = word, o->n = n;
	}
	pthread_mutex_unlock(&lock);
	return r;
}
R cuStreamCreate(struct stream **s, unsigned flags) {
	NEED_CONTEXT;
	if (flags != 1) return 1;
	pthread_mutex_lock(&lock);
	*s = calloc(1, sizeof **s);
	(*s)->last = &(*s)->first;
	(*s)->context = current;
	R r = 2;
	for (int i = 0; i < MAX_STREAMS; i++) if (!all[i]) { all[i] = *s; r = 0; break; }
	live_streams++;
	pthread_mutex_unlock(&lock);
	return r;
}
R cuStreamDestroy_v2(struct stream *s) {
	NEED_CONTEXT;
	NEED(s);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MAX_STREAMS; i++) if (all[i] == s) all[i] = NULL;
	R r = s->first ? 400 : 0; // the binding waits first
	free(s);
	live_streams--;
	pthread_mutex_unlock(&lock);
	return r;
}
R cuStreamSynchronize(struct stream *s) {
	NEED_CONTEXT;
	NEED(s);
	if (s->recording) return 900;
	pthread_mutex_lock(&lock);
	R r = run(s, NULL);
	pthread_mutex_unlock(&lock);
	return r;
}
R cuEventCreate(struct event **e, unsigned flags) {
	NEED_CONTEXT;
	if (flags != 0 && flags != 2) return 1;
	*e = calloc(1, sizeof **e);
	(*e)->timing = flags == 0;
	(*e)->context = current;
	live_events++;
	return 0;
}
R cuEventDestroy_v2(struct event *e) { NEED_CONTEXT; NEED(e); free(e); live_events--; return 0; }
R cuEventRecord(struct event *e, struct stream *s) {
	NEED_CONTEXT;
	NEED(e);
	NEED(s);
	pthread_mutex_lock(&lock);
	e->last = calloc(1, sizeof *e->last);
	enqueue(s, EVENT)->e = e->last;
	pthread_mutex_unlock(&lock);
	return 0;
}
static int pending(struct event *e) { return e->last && !e->last->reached; }
R cuStreamWaitEvent(struct stream *s, struct event *e, unsigned flags) {
	NEED_CONTEXT;
	NEED(s);
	if (flags) return 1;
	pthread_mutex_lock(&lock);
	if (pending(e)) enqueue(s, WAIT)->e = e->last;
	pthread_mutex_unlock(&lock);
	return 0;
}
R cuEventQuery(struct event *e) {
	NEED_CONTEXT;
	NEED(e);
	pthread_mutex_lock(&lock);
	R r = pending(e) ? 600 : 0;
	pthread_mutex_unlock(&lock);
	return r;
}
R cuEventSynchronize(struct event *e) {
	NEED_CONTEXT;
	NEED(e);
	pthread_mutex_lock(&lock);
	R r = pending(e) ? run_all(e->last) : 0;
	pthread_mutex_unlock(&lock);
	return r;
}
R cuEventElapsedTime(float *ms, struct event *a, struct event *b) {
	NEED_CONTEXT;
	if (!a->timing || !b->timing) return 400;
	if (!a->last || !b->last || pending(a) || pending(b)) return 600;
	*ms = (float)(b->last->at - a->last->at);
	return 0;
}
R cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *options, void **values) {
	NEED_CONTEXT;
	const char *text = image;
	if (n != 2 || options[0] != 5 || options[1] != 6 || (uintptr_t)values[1] < 64) return 1;
	if (!strncmp(text, "PTX bad", 7)) {
		strcpy(values[0], "ptxas fatal: line 7");
		return 218;
	}
	if (strncmp(text, "\177ELF good", 9) && strncmp(text, "PTX good", 8)) return 200;
	*m = (void *)(uintptr_t)0x1234;
	return 0;
}
R cuModuleUnload(void *m) { NEED_CONTEXT; return 0; }
R cuModuleGetFunction(struct function **f, void *m, const char *name) {
	NEED_CONTEXT;
	if (m != (void *)(uintptr_t)0x1234) return 400;
	if (strncmp(name, "fake_", 5)) return 500;
	*f = calloc(1, sizeof **f);
	(*f)->context = current;
	strncpy((*f)->name, name, 63);
	(*f)->static_shared = 1024;
	(*f)->most = 48 * 1024 - 1024;
	return 0;
}
R cuFuncGetAttribute(int *v, int a, struct function *f) {
	NEED_CONTEXT;
	if (a != 1) return 1;
	*v = f->static_shared;
	return 0;
}
R cuFuncSetAttribute(struct function *f, int a, int v) {
	NEED_CONTEXT;
	if (a != 8 || v < 0 || v + f->static_shared > 232448) return 1;
	f->most = v;
	return 0;
}
R cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		unsigned shared, struct stream *s, void **params, void **extra) {
	NEED_CONTEXT;
	NEED(s);
	NEED(f);
	if (extra || !params) return 1;
	if (shared > f->most) return 1;
	pthread_mutex_lock(&lock);
	struct op *o = enqueue(s, KERNEL);
	uint32_t dims[7] = {gx, gy, gz, bx, by, bz, shared};
	memcpy(o->dims, dims, sizeof dims);
	o->f = f;
	// The parameters are read before the call returns, as the real one does.
	int n = !strcmp(f->name, "fake_store") ? 3 : !strcmp(f->name, "fake_increment") ? 2 : 256;
	for (int i = 0; i < n; i++) memcpy(&o->args[i], params[i], 8);
	pthread_mutex_unlock(&lock);
	return 0;
}

// A graph is a list of launches; an executable one is a copy of it.
static struct graph *new_graph(void) {
	struct graph *g = calloc(1, sizeof *g);
	g->last = &g->first;
	live_graphs++;
	return g;
}
static void append(struct op ***last, const struct op *from) {
	for (; from; from = from->next) {
		struct op *o = malloc(sizeof *o);
		*o = *from, o->next = NULL;
		**last = o;
		*last = &o->next;
	}
}
R cuStreamBeginCapture_v2(struct stream *s, int mode) {
	NEED_CONTEXT;
	if (s->recording || mode != 2) return 1;
	s->recording = new_graph();
	return 0;
}
R cuStreamEndCapture(struct stream *s, struct graph **g) {
	NEED_CONTEXT;
	if (!s->recording) return 1;
	*g = s->recording;
	s->recording = NULL;
	return 0;
}
R cuGraphInstantiateWithFlags(struct graph **exec, struct graph *g, uint64_t flags) {
	NEED_CONTEXT;
	if (flags) return 1;
	*exec = new_graph();
	append(&(*exec)->last, g->first);
	return 0;
}
R cuGraphLaunch(struct graph *exec, struct stream *s) {
	NEED_CONTEXT;
	pthread_mutex_lock(&lock);
	append(&s->last, exec->first);
	pthread_mutex_unlock(&lock);
	return 0;
}
R cuGraphDestroy(struct graph *g) {
	NEED_CONTEXT;
	for (struct op *o = g->first, *next; o; o = next) next = o->next, free(o);
	free(g);
	live_graphs--;
	return 0;
}
R cuGraphExecDestroy(struct graph *g) { return cuGraphDestroy(g); }
