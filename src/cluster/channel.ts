/** Functions of one side by name. Their argument and result are structured clones. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>

/** The argument of a function of {@link Handlers}. */
export type ArgumentOf<Of extends Handlers, Name extends keyof Of> = Parameters<Of[Name]>[0]

/** The result of a function of {@link Handlers}. */
export type ResultOf<Of extends Handlers, Name extends keyof Of> = Awaited<ReturnType<Of[Name]>>

/** The other process has ended, or the channel is closed. Whether the call was executed is unknown. */
export class ChannelClosed extends Error {
  override readonly name = 'ChannelClosed'
}

/** One end of a channel between two processes of this program. Messages arrive in the order of sending. */
export interface Channel<Theirs extends Handlers> {
  /**
   * Calls a function of the other side and waits for its result, without a timeout.
   *
   * @throws {ChannelClosed}
   * @throws {Error} with the message of the error that the function threw
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
  ): Promise<ResultOf<Theirs, Name>>
  /** Calls a function without waiting. The message is lost when the channel is closed. */
  notify<Name extends keyof Theirs & string>(name: Name, argument: ArgumentOf<Theirs, Name>): void
  /** Takes a message from the other process. Anything else is ignored. */
  receive(message: unknown): void
  /** Closes this end. Pending calls reject. */
  close(): void
}

type ChannelMessage<Value> =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: Value }
  | { readonly kind: 'notify'; readonly name: string; readonly argument: Value }
  | { readonly kind: 'result'; readonly id: number; readonly value: Value }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }

/** A call whose result is to come. */
interface PendingCall {
  resolve(value: never): void
  reject(error: Error): void
}

/**
 * Opens one end of a channel.
 *
 * @param send sends a message; may throw once the other process has ended
 * @param ours the functions of this side
 * @param onError gets the errors of functions called by `notify`
 */
export function channel<Theirs extends Handlers>(
  send: (message: unknown) => void,
  ours: Handlers,
  onError: (error: unknown) => void,
): Channel<Theirs> {
  const pending = new Map<number, PendingCall>()
  let count = 0
  let isClosed = false

  function post(message: ChannelMessage<unknown>): boolean {
    if (isClosed) return false
    try {
      send(message)
      return true
    } catch {
      // The other process has just ended; its exit is handled elsewhere.
      return false
    }
  }

  async function run(name: string, argument: never): Promise<unknown> {
    const handler = Object.hasOwn(ours, name) ? ours[name] : undefined
    if (handler === undefined) throw new Error(`no handler for ${name}`)
    return await handler(argument)
  }

  function reply(id: number, name: string, argument: never): void {
    run(name, argument).then(
      (value) => post({ kind: 'result', id, value }),
      (error: unknown) => post({ kind: 'error', id, message: error instanceof Error ? error.message : String(error) }),
    )
  }

  function settle(id: number): PendingCall | undefined {
    const call = pending.get(id)
    pending.delete(id)
    return call
  }

  return {
    call(name, argument) {
      const id = count++
      const call = Promise.withResolvers<ResultOf<Theirs, typeof name>>()
      pending.set(id, call)
      if (!post({ kind: 'call', id, name, argument }))
        settle(id)?.reject(new ChannelClosed('the other process has ended'))
      return call.promise
    },
    notify: (name, argument) => void post({ kind: 'notify', name, argument }),
    receive(message) {
      if (isClosed || !isMessage(message)) return
      switch (message.kind) {
        case 'call':
          return reply(message.id, message.name, message.argument)
        case 'notify':
          return void run(message.name, message.argument).catch(onError)
        case 'result':
          return settle(message.id)?.resolve(message.value)
        case 'error':
          return settle(message.id)?.reject(new Error(message.message))
      }
    },
    close() {
      isClosed = true
      for (const call of pending.values()) call.reject(new ChannelClosed('the other process has ended'))
      pending.clear()
    },
  }
}

const kinds: ReadonlySet<unknown> = new Set(['call', 'notify', 'result', 'error'])

/**
 * Whether this is a message of a channel: the runtime's own messages between parent and child have another form. Both
 * ends are the same program, so arguments and results have the types that the names ask for. `never` fits all of them.
 */
function isMessage(message: unknown): message is ChannelMessage<never> {
  return typeof message === 'object' && message !== null && 'kind' in message && kinds.has(message.kind)
}
