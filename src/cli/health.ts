import { booleanFlag, runningUrlFlag } from '../base/command-line/arguments.ts'
import type { Command } from '../base/command-line/command.ts'
import { ServiceRefusal, serviceRoot, serviceUrl } from '../base/command-line/running-service.ts'
import { askService } from './running-service.ts'

const flags = {
  url: runningUrlFlag,
  alive: booleanFlag('only ask whether it answers, not whether it can serve requests'),
}

const answerMs = 5_000

/** `svc health` (docs/commands.md): for health checks in containers without curl. */
export const healthCommand: Command<typeof flags> = {
  name: 'health',
  summary: 'ask a running service whether it can serve requests',
  flags,
  examples: [
    { command: 'svc health', does: 'asks http://127.0.0.1:8000/ready' },
    { command: 'svc health --alive', does: 'is also content while it stops, or has no provider' },
  ],
  exitCodes: { 1: 'it is not ready, or does not answer' },
  async run({ flags, stdout, stderr, signal }) {
    const { httpClient } = await import('../transport/http-client.ts')
    const transport = httpClient()
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      const base = new URL(serviceRoot(serviceUrl(flags.url)))
      await askService(base, { path: flags.alive ? '/health' : '/ready' }, transport, limit)
      stdout.write(flags.alive ? 'alive\n' : 'ready\n')
      return 0
    } catch (error) {
      if (!(error instanceof ServiceRefusal)) throw error
      stderr.write(`svc: ${error.message}\n`)
      return 1
    } finally {
      transport.close()
    }
  },
}
