/** `npm run agents`: what coding agents need, under cuts and kills. See `--help`. */
import { runLoadCommand } from '../load/load-options.ts'
import { billedOnce } from './billed-once.ts'

const usage = {
  name: 'agents',
  does: 'clients that are killed and come back: what they get, and what is billed',
  numbers: {
    requests: { fallback: 10_000, min: 1, max: 100_000, does: 'requests with an Idempotency-Key' },
    workers: { fallback: 2, min: 1, max: 16, does: 'workers of the service' },
  },
} as const

// Children end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

await runLoadCommand(usage, (options) =>
  billedOnce({ requests: options.number('requests'), workers: options.number('workers') }),
)
