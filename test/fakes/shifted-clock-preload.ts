// Preloaded into a service under test: shifts `Date` by the milliseconds in the file SVC_TEST_CLOCK, a number of eight
// bytes that test and service share as memory.

const shared = new Float64Array(Bun.mmap(process.env['SVC_TEST_CLOCK'] ?? '').buffer)
const realNow = Date.now
const now = (): number => realNow() + Math.round(shared[0] ?? 0)

globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) => Reflect.construct(target, values.length === 0 ? [now()] : values, made),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})

globalThis.Worker = new Proxy(Worker, {
  construct: (target, [url, options], made) =>
    Reflect.construct(target, [url, { ...options, preload: import.meta.path }], made),
})
