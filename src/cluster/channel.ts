/** What one side may be asked: name → a function from a structured-cloneable argument to an answer of that kind. */
export type Answers = Readonly<Record<string, (argument: never) => unknown>>

/** What a function of {@link Answers} is given. */
export type ArgumentOf<Of extends Answers, Name extends keyof Of> = Parameters<Of[Name]>[0]

/** What it gives in the end. */
export type AnswerOf<Of extends Answers, Name extends keyof Of> = Awaited<ReturnType<Of[Name]>>

/** The other process has ended, or its channel is closed: nobody knows whether what was asked was done. */
export class ChannelClosed extends Error {
  override readonly name = 'ChannelClosed'
}

/** One end of a channel between two processes of this program. Messages arrive in the order they were sent in. */
export interface Channel<Theirs extends Answers> {
  /**
   * Asks, and waits for the answer, however long it takes. @throws {ChannelClosed} @throws what the other side threw,
   * as an `Error` with its message
   */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    argument: ArgumentOf<Theirs, Name>,
  ): Promise<AnswerOf<Theirs, Name>>
  /** Says, and waits for nothing. What cannot be said any more is lost. */
  tell<Name extends keyof Theirs & string>(name: Name, argument: ArgumentOf<Theirs, Name>): void
  /** Takes a message that has arrived. */
  take(message: unknown): void
  /** Ends it: whoever waits for an answer learns of it. */
  close(): void
}

type Message =
  | { readonly kind: 'ask'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'tell'; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly message: string }

/**
 * Makes one end.
 *
 * @param send hands a message over; may throw when nobody takes it
 * @param ours what this side answers. What throws after `tell` goes to `onFault`
 */
export function channel<Theirs extends Answers>(
  send: (message: unknown) => void,
  ours: Answers,
  onFault: (error: unknown) => void,
): Channel<Theirs> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let count = 0
  let isClosed = false

  function post(message: Message): boolean {
    if (isClosed) return false
    try {
      send(message)
      return true
    } catch {
      // The other process has just ended; that it has is told by its exit.
      return false
    }
  }

  async function run(name: string, argument: unknown): Promise<unknown> {
    const answer = Object.hasOwn(ours, name) ? ours[name] : undefined
    if (answer === undefined) throw new Error(`nobody answers to ${name}`)
    // Both ends are this program: what arrives under a name is what was sent under it.
    return await answer(argument as never)
  }

  function answerTo(id: number, name: string, argument: unknown): void {
    run(name, argument).then(
      (value) => post({ kind: 'answer', id, value }),
      (error: unknown) => post({ kind: 'fault', id, message: error instanceof Error ? error.message : String(error) }),
    )
  }

  function settle(id: number): PromiseWithResolvers<unknown> | undefined {
    const call = waiting.get(id)
    waiting.delete(id)
    return call
  }

  return {
    ask(name, argument) {
      const id = count++
      const call = Promise.withResolvers<unknown>()
      waiting.set(id, call)
      if (!post({ kind: 'ask', id, name, argument }))
        settle(id)?.reject(new ChannelClosed('the other process has ended'))
      return call.promise as Promise<AnswerOf<Theirs, typeof name>>
    },
    tell: (name, argument) => void post({ kind: 'tell', name, argument }),
    take(message) {
      if (isClosed || !isMessage(message)) return
      switch (message.kind) {
        case 'ask':
          return answerTo(message.id, message.name, message.argument)
        case 'tell':
          return void run(message.name, message.argument).catch(onFault)
        case 'answer':
          return settle(message.id)?.resolve(message.value)
        case 'fault':
          return settle(message.id)?.reject(new Error(message.message))
      }
    },
    close() {
      isClosed = true
      for (const call of waiting.values()) call.reject(new ChannelClosed('the other process has ended'))
      waiting.clear()
    },
  }
}

const kinds: ReadonlySet<unknown> = new Set(['ask', 'tell', 'answer', 'fault'])

/** The runtime's own messages between parent and child are of another form. */
function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message && kinds.has(message.kind)
}
