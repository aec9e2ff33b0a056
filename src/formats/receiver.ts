/**
 * Receives values without a promise for each: chunks of a stream come one by one, and a promise costs more than the
 * work on a chunk. Its methods must not throw.
 */
export interface Receiver<Value> {
  /**
   * @param value `undefined` at the end
   * @returns whether it takes the next value too. Not after the end
   */
  receive(value: Value | undefined): boolean
  fail(error: unknown): void
}

/** Gives values one by one. */
export interface Source<Value> {
  /** Resolves with the next value; `undefined` at the end. */
  read(): Promise<Value | undefined>
  /** Reads on until the receiver takes no more. Never calls it before this method returns. Absent: `read` only. */
  readTo?(receiver: Receiver<Value>): void
}

/** Reads on until the receiver takes no more. Never calls it before this function returns. */
export function readTo<Value>(source: Source<Value>, receiver: Receiver<Value>): void {
  if (source.readTo !== undefined) return source.readTo(receiver)
  source.read().then(
    (value) => {
      if (receiver.receive(value)) readTo(source, receiver)
    },
    (error: unknown) => receiver.fail(error),
  )
}

/** Reads one value by the `readTo` of a source. */
export function readOne<Value>(readTo: (receiver: Receiver<Value>) => void): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    readTo({
      receive(value) {
        resolve(value)
        return false
      },
      fail: reject,
    })
  })
}
