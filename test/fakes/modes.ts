import type { Script } from './fault-upstream.ts'
import { bodyFaults } from './faults/body.ts'
import { connectionFaults } from './faults/connection.ts'
import { cuts } from './faults/cut.ts'
import { endlessStreams } from './faults/endless.ts'
import type { Fault } from './faults/fault.ts'
import { statusFaults } from './faults/status.ts'
import { streamFaults } from './faults/stream.ts'
import { good } from './good.ts'

/** All faults before the first token, in the order of the rows. */
export const faults: readonly Fault[] = [...connectionFaults, ...statusFaults, ...bodyFaults, ...streamFaults]

/** Named scripts of the fault upstream. */
export const modes: Readonly<Record<string, Script | undefined>> = {
  good: good(),
  paced: good({ pauseMs: 25 }),
  ...endlessStreams,
  ...Object.fromEntries([...faults, ...cuts].map(({ name, script }) => [name, script])),
}

/** Runs the script that the path of a request names, `/mode/NAME/v1/…`, or `fallback`. */
export function byPath(fallback: Script = good()): Script {
  return (exchange) => {
    const name = /^\/mode\/([^/]+)\//.exec(exchange.hit.path)?.[1]
    return (name === undefined ? fallback : (modes[name] ?? fallback))(exchange)
  }
}
