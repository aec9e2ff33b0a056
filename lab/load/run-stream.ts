import { clockUs } from '../../bench/upstream-protocol.ts'
import { chatRequest, openConnection, type LoadConnection, type LoadExchange } from './load-connection.ts'
import type { LoadTally } from './load-tally.ts'
import { streamCheck } from './stream-check.ts'
import { orderBody, type Order } from './token-format.ts'

/** Parameters of one stream. */
export interface StreamRun {
  readonly port: number
  readonly order: Order
  readonly tally: LoadTally
  /** Time after which the client leaves; `undefined`: it stays. */
  readonly leaveAfterMs: number | undefined
  /** Called immediately before the client leaves. */
  readonly onLeave: (name: string) => void
}

/** Requests one stream on its own connection, reads it to its end, and adds its result to the tally. */
export async function runStream({ port, order, tally, leaveAfterMs, onLeave }: StreamRun): Promise<void> {
  const { streams } = tally
  const check = streamCheck(order.name, order.tokens, tally.faults)
  const over = Promise.withResolvers<void>()
  let leaving: Timer | undefined
  let status = 0

  function end(why: string): void {
    clearTimeout(leaving)
    const isComplete = check.end() && status === 200
    streams.tokensExpected += order.tokens
    if (check.tokens > 0) streams.open--
    if (isComplete) streams.complete++
    else {
      streams.broken++
      const error = check.error === undefined ? '' : `; ${check.error.slice(0, 300)}`
      tally.complain(
        `stream ${order.name} ${why} after ${check.tokens} of ${order.tokens} tokens; status ${status}${error}`,
      )
    }
    over.resolve()
  }

  function leave(connection: LoadConnection): void {
    if (check.tokens > 0) streams.open--
    streams.left++
    onLeave(order.name)
    connection.leave(streams.left % 2 === 0 ? 'reset' : 'close')
    over.resolve()
  }

  const exchange: LoadExchange = {
    onHead: (answered) => {
      status = answered
    },
    onEvent(event) {
      const sentUs = check.take(event)
      if (sentUs === undefined) return
      tally.delays.add(clockUs() - sentUs)
      if (check.tokens === 1) streams.openMax = Math.max(streams.openMax, ++streams.open)
    },
    onEnd: () => end('ended'),
    onCut: (reason) => end(`was cut (${reason})`),
  }

  try {
    const connection = await openConnection(
      port,
      (idle) => idle.leave('close'),
      () => undefined,
    )
    if (leaveAfterMs !== undefined) leaving = setTimeout(leave, leaveAfterMs, connection)
    connection.ask(chatRequest(port, orderBody(order)), exchange)
  } catch (error) {
    end(`found no connection (${String(error)})`)
  }
  await over.promise
}
