/** `npm run agents`: what coding agents need, under cuts and kills. See `--help`. */
import { runLoadCommand } from '../load/load-options.ts'
import { together, type Findings } from '../load/load-report.ts'
import { billedOnce } from './billed-once.ts'
import { cutSessions } from './cut-sessions.ts'
import { heldCalls } from './held-calls.ts'
import { tokenCosts } from './token-costs.ts'

const usage = {
  name: 'agents',
  does: 'clients that are killed and come back, sessions that are cut at every event, and costs of tokens',
  numbers: {
    requests: { fallback: 10_000, min: 0, max: 100_000, does: 'requests with an Idempotency-Key; 0: none' },
    workers: { fallback: 2, min: 1, max: 16, does: 'workers of the service' },
    sessions: { fallback: 40, min: 0, max: 1_000, does: 'sessions that are cut; 0: none, and no held calls' },
  },
} as const

// Children end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

await runLoadCommand(usage, async (options): Promise<Findings> => {
  const [requests, sessions] = [options.number('requests'), options.number('sessions')]
  const found: Findings[] = [await tokenCosts()]
  if (requests > 0) found.push(await billedOnce({ requests, workers: options.number('workers') }))
  if (sessions > 0) found.push(await cutSessions(sessions), await heldCalls())
  return together(found)
})
