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

/** One end of a channel between two processes of this program. Messages arrive in the order of sending. */
export class Channel<Theirs extends Handlers> {
  readonly #send: (message: unknown) => void
  readonly #ours: Handlers
  readonly #onError: (error: unknown) => void
  readonly #pending = new Map<number, PendingCall>()
  #count = 0
  #isClosed = false

  /**
   * @param send sends a message; may throw once the other process has ended
   * @param ours the functions of this side
   * @param onError gets the errors of functions called by `notify`
   */
  constructor(send: (message: unknown) => void, ours: Handlers, onError: (error: unknown) => void) {
    this.#send = send
    this.#ours = ours
    this.#onError = onError
  }

  /**
   * Calls a function of the other side and waits for its result, without a timeout.
   *
   * @throws {ChannelClosed}
   * @throws {Error} with the message of the error that the function threw
   */
  call<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
  ): Promise<ResultOf<Theirs, Name>> {
    const id = this.#count++
    const call = Promise.withResolvers<ResultOf<Theirs, Name>>()
    this.#pending.set(id, call)
    if (!this.#post({ kind: 'call', id, name, argument }))
      this.#settle(id)?.reject(new ChannelClosed('the other process has ended'))
    return call.promise
  }

  /** Calls a function without waiting. The message is lost when the channel is closed. */
  notify<Name extends keyof Theirs & string>(name: Name, argument: ArgumentOf<Theirs, Name>): void {
    this.#post({ kind: 'notify', name, argument })
  }

  /** Takes a message from the other process. Anything else is ignored. */
  receive(message: unknown): void {
    if (this.#isClosed || !isMessage(message)) return
    switch (message.kind) {
      case 'call':
        return this.#reply(message.id, message.name, message.argument)
      case 'notify':
        return void this.#run(message.name, message.argument).catch(this.#onError)
      case 'result':
        return this.#settle(message.id)?.resolve(message.value)
      case 'error':
        return this.#settle(message.id)?.reject(new Error(message.message))
    }
  }

  /** Closes this end. Pending calls reject. */
  close(): void {
    this.#isClosed = true
    for (const call of this.#pending.values()) call.reject(new ChannelClosed('the other process has ended'))
    this.#pending.clear()
  }

  #post(message: ChannelMessage<unknown>): boolean {
    if (this.#isClosed) return false
    try {
      this.#send(message)
      return true
    } catch {
      // The other process has just ended; its exit is handled elsewhere.
      return false
    }
  }

  async #run(name: string, argument: never): Promise<unknown> {
    const handler = Object.hasOwn(this.#ours, name) ? this.#ours[name] : undefined
    if (handler === undefined) throw new Error(`no handler for ${name}`)
    return await handler(argument)
  }

  #reply(id: number, name: string, argument: never): void {
    this.#run(name, argument).then(
      (value) => this.#post({ kind: 'result', id, value }),
      (error: unknown) =>
        this.#post({ kind: 'error', id, message: error instanceof Error ? error.message : String(error) }),
    )
  }

  #settle(id: number): PendingCall | undefined {
    const call = this.#pending.get(id)
    this.#pending.delete(id)
    return call
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
