import { show, runningUrlFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { member, tryParseJson, ServiceRefusal, serviceUrl, sessionToken } from '../base/command-line/running-service.ts'
import { UsageError } from '../base/start-errors.ts'
import { askService } from './running-service.ts'

const flags = {
  url: runningUrlFlag,
}

type Context = CommandContext<typeof flags>

const answerMs = 30_000
const interrupted = 130

/** `svc sessions` (docs/commands.md). */
export const sessionsCommand: Command<typeof flags> = {
  name: 'sessions',
  summary: 'end all sessions of a user at a running service',
  flags,
  arguments: { usage: 'end NAME', summary: 'user name, or id:VALUE for a user id', maximum: 2 },
  examples: [
    {
      command: 'SVC_TOKEN=… svc sessions end ada',
      does: "signs ada out everywhere; the token is an owner's session token",
    },
    {
      command: 'svc sessions end id:583231 --url https://svc.example.org',
      does: 'signs out by user id, on another machine; SVC_TOKEN is already set',
    },
  ],
  exitCodes: { 130: 'stopped by Ctrl-C' },
  run,
}

async function run(context: Context): Promise<number> {
  const { flags, environment, stdout, signal } = context
  const person = personOf(context)
  const base = new URL(serviceUrl(flags.url))
  const token = tokenOf(environment)
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    const request = { path: '/api/sessions/end', body: JSON.stringify({ user: person }), token }
    const response = await askService(
      base,
      request,
      transport,
      AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    )
    const ended = member(tryParseJson(await response.body.readAll()), 'ended')
    if (typeof ended !== 'number') throw new Error(`the answer of ${base.href} contains no number of sessions`)
    stdout.write(`${ended === 0 ? 'no session' : ended === 1 ? '1 session' : `${ended} sessions`} of ${person} ended\n`)
    return 0
  } catch (error) {
    if (signal.aborted) return interrupted
    throw error instanceof ServiceRefusal ? explained(error, base) : error
  } finally {
    transport.close()
  }
}

function personOf({ positionals: [word, person] }: Context): string {
  if (word !== 'end')
    throw new UsageError(`found ${word === undefined ? 'nothing' : show(word)}, allowed: svc sessions end NAME`)
  if (person === undefined || person.trim() === '')
    throw new UsageError('the user name is missing: svc sessions end NAME')
  return person
}

function tokenOf(environment: Context['environment']): string {
  const advice = `set it to an owner's session token, which GET /auth/session shows in the owner's browser`
  const token = sessionToken(environment, advice)
  if (token === undefined) throw new UsageError(`SVC_TOKEN is not set: ${advice}`)
  return token
}

function explained({ status, message }: ServiceRefusal, base: URL): Error {
  if (status === 401) return new Error(`${message}: SVC_TOKEN is not the token of a session at ${base.href}`)
  if (status === 404)
    return new Error(`${base.href} has no sessions: it runs without --auth provider_auth, or is not svc`)
  return new Error(message)
}
