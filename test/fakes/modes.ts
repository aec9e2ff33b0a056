import type { Script } from './fault-upstream.ts'
import { bodyFaults } from './faults/body.ts'
import { connectionFaults } from './faults/connection.ts'
import { cuts } from './faults/cut.ts'
import { endlessStreams } from './faults/endless.ts'
import type { Fault } from './faults/fault.ts'
import { statusFaults } from './faults/status.ts'
import { streamFaults } from './faults/stream.ts'
import { good } from './good.ts'

/** Every way to fail before the first token, in the order of the rows. */
export const faults: readonly Fault[] = [...connectionFaults, ...statusFaults, ...bodyFaults, ...streamFaults]

/** What an upstream can be told to do by name. */
export const modes: Readonly<Record<string, Script | undefined>> = {
  good: good(),
  paced: good({ pauseMs: 25 }),
  ...endlessStreams,
  ...Object.fromEntries([...faults, ...cuts].map(({ name, script }) => [name, script])),
}

/** Sends a request to the script its path names, `/mode/NAME/v1/…`, or to `fallback`. */
export function byPath(fallback: Script = good()): Script {
  return (exchange) => {
    const name = /^\/mode\/([^/]+)\//.exec(exchange.hit.path)?.[1]
    return (name === undefined ? fallback : (modes[name] ?? fallback))(exchange)
  }
}
