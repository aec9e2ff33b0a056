import { clockUs } from '../../bench/upstream-protocol.ts'
import { chatRequest, openConnection, type LoadConnection } from './load-connection.ts'
import type { LoadTally } from './load-tally.ts'
import { orderBody, plainBody } from './token-format.ts'

/** Connections kept alive between plain requests. */
export interface PlainConnections {
  take(): Promise<LoadConnection>
}

/** Pool of connections to a port of 127.0.0.1, without a limit. */
export function plainConnections(port: number): PlainConnections {
  const idle: LoadConnection[] = []
  function forget(gone: LoadConnection): void {
    const at = idle.indexOf(gone)
    if (at !== -1) idle.splice(at, 1)
  }
  // Oldest first, so that every connection is used and learns when its worker drains.
  return { take: async () => idle.shift() ?? (await openConnection(port, (free) => void idle.push(free), forget)) }
}

/** Parameters of one plain request. */
export interface PlainRun {
  readonly port: number
  /** Name of its order. */
  readonly name: string
  readonly model?: string
  readonly tally: LoadTally
}

/** Sends one plain request, and adds its result to the tally. */
export async function runPlain(connections: PlainConnections, { port, name, model, tally }: PlainRun): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const beganUs = clockUs()
  let status = 0,
    body = ''

  function end(fault: string | undefined): void {
    if (fault === undefined) {
      tally.plain.right++
      tally.latencies.add(clockUs() - beganUs)
    } else {
      tally.plain.failed++
      tally.complain(`plain ${name} ${fault}; status ${status} ${body.slice(0, 300)}`)
    }
    resolve()
  }

  try {
    const connection = await connections.take()
    connection.ask(chatRequest(port, orderBody({ name, stream: false, tokens: 1, paceMs: 0, holdMs: 0 }, model)), {
      onHead: (answered) => {
        status = answered
      },
      onEvent: (event) => {
        body += event
      },
      onEnd: () => end(status === 200 && body === plainBody(name) ? undefined : 'is wrong'),
      onCut: (reason) => end(`was cut (${reason})`),
    })
  } catch (error) {
    end(`found no connection (${String(error)})`)
  }
  await promise
}
