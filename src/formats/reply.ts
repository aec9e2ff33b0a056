import type { Part } from './part.ts'
import { readOne, readTo, type Receiver, type Source } from './receiver.ts'
import type { Usage } from './usage.ts'

/** A complete answer in the caller's format. */
export interface WholeReply {
  readonly kind: 'whole'
  /** JSON: the upstream's own bytes if it speaks the same format, repaired. With a `contentType`: other bytes. */
  readonly body: Uint8Array
  readonly contentType?: string
  readonly usage: Usage | undefined
  /** Well-formed but without content, finish `stop`: another candidate is tried first (failover.md row 27). */
  readonly isEmpty: boolean
  /** It has no content, however it ended, and may have 0 tokens. Default: it has some. */
  readonly isBlank?: boolean
  /** The model that the answer names. Absent: none. */
  readonly model?: string | undefined
}

/** The parts of a stream. Each read gives at least one; it fails with an UpstreamFailure when the stream fails. */
export interface PartStream extends Source<readonly Part[]> {
  readonly kind: 'stream'
  /** The data of its parts is bytes of this type, not events. */
  readonly contentType?: string | undefined
  /** As for a whole reply; `false` until it is known. */
  readonly isEmpty: boolean
  /** As for a whole reply; `undefined` until it was read. */
  readonly model?: string | undefined
  /** Settles when no further provider is asked to go on with it, also after a cancel. Absent: none was asked. */
  readonly resuming?: Promise<unknown> | undefined
  /** Its parts may wait while the upstream sends: the client gets keep-alives. Absent: they do not. */
  readonly mayWait?: boolean
  /** Aborts the upstream's work. May be called at any time, more than once. */
  cancel(): void
}

/** A streamed answer. */
export interface StreamReply extends PartStream {
  /**
   * Calls `listener` once, at the end of the stream: when it was read to its end (`undefined`), failed (its error) or
   * was cancelled ({@link Cancelled}). After that, at once: an empty stream was read before it is given.
   */
  onEnd(listener: EndListener): void
}

/** @param usage the last one of its parts */
export type EndListener = (failure: unknown, usage: Usage | undefined) => void

/** The answer of a provider. Its kind may differ from the request; the gateway converts it. */
export type Reply = WholeReply | StreamReply

/** Reads parts on to a receiver, as {@link readTo} does. */
export type ReadParts = (receiver: Receiver<readonly Part[]>) => void

/** A stream as a wrapper finds it: an ended answer of the gateway, or one that a provider gives. */
type WrappedStream = PartStream & Partial<Pick<StreamReply, 'onEnd'>>

/** The stream, with its parts read by `readParts`. @param isEmpty absent: as the stream says, at any time */
export function readBy(stream: StreamReply, readParts: ReadParts, isEmpty?: boolean): StreamReply {
  return new ReadStream(stream, readParts, isEmpty)
}

/** The stream. `onParts` is called with the parts of each read before its reader gets them, and must not throw. */
export function throughParts(stream: StreamReply, onParts: (parts: readonly Part[]) => void): StreamReply
export function throughParts(stream: PartStream, onParts: (parts: readonly Part[]) => void): PartStream
export function throughParts(stream: WrappedStream, onParts: (parts: readonly Part[]) => void): PartStream {
  return new ReadStream(stream, (receiver) =>
    readTo(stream, {
      receive(parts) {
        if (parts !== undefined) onParts(parts)
        return receiver.receive(parts)
      },
      fail: (error) => receiver.fail(error),
    }),
  )
}

class ReadStream implements StreamReply {
  readonly kind = 'stream'
  readonly contentType: string | undefined
  readonly readTo: ReadParts
  readonly #stream: WrappedStream
  readonly #isEmpty: boolean | undefined

  constructor(stream: WrappedStream, readParts: ReadParts, isEmpty?: boolean) {
    this.contentType = stream.contentType
    this.readTo = readParts
    this.#stream = stream
    this.#isEmpty = isEmpty
  }

  get isEmpty(): boolean {
    return this.#isEmpty ?? this.#stream.isEmpty
  }

  get model(): string | undefined {
    return this.#stream.model
  }

  get resuming(): Promise<unknown> | undefined {
    return this.#stream.resuming
  }

  get mayWait(): boolean {
    return this.#stream.mayWait === true
  }

  onEnd(listener: EndListener): void {
    this.#stream.onEnd?.(listener)
  }

  read(): Promise<readonly Part[] | undefined> {
    return readOne(this.readTo)
  }

  cancel(): void {
    this.#stream.cancel()
  }
}

/** A reply was cancelled. Not a failure of its provider. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Calls `listener` at the end of a reply: at once for a whole one. */
export function onEnd(reply: Reply, listener: EndListener): void {
  if (reply.kind === 'whole') listener(undefined, reply.usage)
  else reply.onEnd(listener)
}

/** The end of one stream. */
export interface StreamEnd {
  /** As {@link StreamReply.onEnd}. */
  onEnd(listener: EndListener): void
  /** Calls all listeners. Later calls do nothing. */
  settle(failure: unknown, usage: Usage | undefined): void
}

/** Keeps the listeners of one stream. */
export function streamEnd(): StreamEnd {
  let listeners: readonly EndListener[] = []
  let outcome: Parameters<EndListener> | undefined
  return {
    onEnd(listener) {
      if (outcome === undefined) listeners = [...listeners, listener]
      else listener(...outcome)
    },
    settle(failure, usage) {
      if (outcome !== undefined) return
      outcome = [failure, usage]
      for (const listener of listeners) listener(failure, usage)
      listeners = []
    },
  }
}

/** Adds `onEnd` to a stream, at the cost of a promise for each read. */
export function watchable(stream: PartStream): StreamReply {
  const end = streamEnd()
  let usage: Usage | undefined
  return {
    kind: 'stream',
    isEmpty: stream.isEmpty,
    model: stream.model,
    onEnd: end.onEnd,
    async read() {
      try {
        const parts = await stream.read()
        if (parts === undefined) end.settle(undefined, usage)
        else for (const part of parts) usage = part.usage ?? usage
        return parts
      } catch (error) {
        end.settle(error, usage)
        throw error
      }
    },
    cancel() {
      stream.cancel()
      end.settle(new Cancelled(), usage)
    },
  }
}

/** The parts with data that the client has of a stream. Undefined: it has none. */
export interface Delivered {
  /** The first one that has a place in the answer. */
  readonly first: Part | undefined
  /** The last one that has a place in the answer: the rest of a stream begins behind it. */
  readonly place: Part | undefined
  readonly last: Part | undefined
  /** Those that are no plain text, if they were kept. */
  readonly others?: readonly Part[]
}

/** Notes the parts of one stream. A class, since every stream has two: closures would take more memory. */
export class DeliveredParts {
  #first: Part | undefined
  #place: Part | undefined
  #last: Part | undefined

  add(part: Part): void {
    if (part.data.length === 0) return
    this.#last = part
    if (part.isAside === true) return
    this.#first ??= part
    this.#place = part
  }

  soFar(): Delivered {
    return { first: this.#first, place: this.#place, last: this.#last }
  }
}

/** Starts noting the parts of one stream. */
export function deliveredParts(): DeliveredParts {
  return new DeliveredParts()
}

const bytesMax = 16

/** The end marker of a stream, `[DONE]`, with white space around it. */
export function isDone(data: Uint8Array): boolean {
  return data.length < bytesMax && new TextDecoder().decode(data).trim() === '[DONE]'
}
