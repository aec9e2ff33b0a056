/**
 * Receives the outcome of one read, without a promise: chunks come one by one, and each promise costs more than the
 * work on a chunk. Its methods must not throw.
 */
export interface Receiver<Value> {
  /** @param value `undefined` at the end */
  receive(value: Value | undefined): void
  fail(error: unknown): void
}

/** Gives values one by one. */
export interface Source<Value> {
  /** Resolves with the next value; `undefined` at the end. */
  read(): Promise<Value | undefined>
  /** As `read`, with a receiver that is called once, and never before this method returns. Absent: `read` only. */
  readTo?(receiver: Receiver<Value>): void
}

/** Reads the next value of a source. `receiver` is called once, and never before this function returns. */
export function readTo<Value>(source: Source<Value>, receiver: Receiver<Value>): void {
  if (source.readTo !== undefined) return source.readTo(receiver)
  source.read().then(
    (value) => receiver.receive(value),
    (error: unknown) => receiver.fail(error),
  )
}

/** Makes the `read` of a source from its `readTo`. */
export function promised<Value>(readTo: (receiver: Receiver<Value>) => void): () => Promise<Value | undefined> {
  return () => new Promise((resolve, reject) => readTo({ receive: resolve, fail: reject }))
}
