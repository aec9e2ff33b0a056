import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { show, runningUrlFlag, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import {
  errorMessage,
  member,
  ServiceRefusal,
  serviceUrl,
  sessionToken,
  tryParseJson,
} from '../base/command-line/running-service.ts'
import { errorCode, isMissing } from '../base/error-code.ts'
import { UsageError } from '../base/start-errors.ts'
import { findHome } from '../config/home.ts'
import { askService } from './running-service.ts'

const flags = {
  url: textFlag('running service, such as https://svc.example.org; SVC_TOKEN has the token of an owner', 'URL', {
    environment: 'SVC_URL',
    otherwise: 'those of the home folder',
  }),
}

type Context = CommandContext<typeof flags>

const answerMs = 30_000
const interrupted = 130
const tokenAdvice = `set it to an owner's session token, which GET /auth/session shows in the owner's browser`
const otherUser = 'run the command as the user of the service'

/** `svc sessions` (docs/commands.md). */
export const sessionsCommand: Command<typeof flags> = {
  name: 'sessions',
  summary: 'end all sessions of a user at a running service',
  flags,
  arguments: { usage: 'end NAME', summary: 'user name, or id:VALUE for a user id', maximum: 2 },
  examples: [
    { command: 'svc sessions end ada', does: 'signs ada out everywhere, on the machine of the service' },
    {
      command: 'SVC_TOKEN=… svc sessions end id:583231 --url https://svc.example.org',
      does: "signs out by user id, on another machine; the token is an owner's session token",
    },
  ],
  exitCodes: { 130: 'stopped by Ctrl-C' },
  run,
}

async function run(context: Context): Promise<number> {
  const { flags, environment, stdout, signal } = context
  const person = personOf(context)
  try {
    const isHere = flags.url === undefined && sessionToken(environment, tokenAdvice) === undefined
    const ended = await (isHere
      ? endHere(person, context)
      : endAt(flags.url ?? runningUrlFlag.fallback, person, context))
    stdout.write(`${ended === 0 ? 'no session' : ended === 1 ? '1 session' : `${ended} sessions`} of ${person} ended\n`)
    return 0
  } catch (error) {
    if (signal.aborted) return interrupted
    throw error
  }
}

/** Ends sessions by the token of an owner. @returns their number */
async function endAt(url: string, person: string, { environment, signal }: Context): Promise<number> {
  const base = new URL(serviceUrl(url))
  const token = tokenOf(environment)
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    const request = { path: '/api/people/end', body: JSON.stringify({ user: person }), token }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const response = await askService(base, request, transport, limit)
    return endedOf(await response.body.readAll(), base.href)
  } catch (error) {
    throw error instanceof ServiceRefusal ? explained(error, base) : error
  } finally {
    transport.close()
  }
}

/** Ends sessions at the services that listen in the home folder (`app/command-socket.ts`). @returns their number */
async function endHere(person: string, { environment, signal }: Context): Promise<number> {
  const { folder, sockets } = findHome(environment)
  const names = await readdir(sockets).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw new Error(`${sockets} cannot be read (${errorCode(error) ?? 'error'}): ${otherUser}`, { cause: error })
  })
  const open = names.filter((name) => name.endsWith('.sock'))
  const ended = await Promise.all(open.map((name) => endBy(join(sockets, name), person, signal)))
  const numbers = ended.filter((number) => number !== undefined)
  if (numbers.length === 0)
    throw new Error(
      `no service with sign-in runs on the home folder ${folder}: ` +
        'set SVC_HOME to the folder of the service, or --url and SVC_TOKEN for another machine',
    )
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** @returns `undefined`: the service of the socket has ended */
async function endBy(unix: string, person: string, signal: AbortSignal): Promise<number | undefined> {
  const response = await fetch('http://svc/sessions/end', {
    unix,
    method: 'POST',
    body: JSON.stringify({ user: person }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
  }).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    if (errorCode(error) === 'ECONNREFUSED') return rm(unix, { force: true })
    throw new Error(`no answer from ${unix} (${errorCode(error) ?? String(error)}): ${otherUser}`, { cause: error })
  })
  if (response === undefined) return undefined
  const bytes = await response.bytes()
  if (response.status !== 200)
    throw new Error(errorMessage(tryParseJson(bytes)) ?? `${unix} answered ${response.status}`)
  return endedOf(bytes, unix)
}

function endedOf(answer: Uint8Array, service: string): number {
  const ended = member(tryParseJson(answer), 'ended')
  if (typeof ended === 'number') return ended
  throw new Error(`the answer of ${service} contains no number of sessions`)
}

function personOf({ positionals: [word, person] }: Context): string {
  if (word !== 'end')
    throw new UsageError(`found ${word === undefined ? 'nothing' : show(word)}, allowed: svc sessions end NAME`)
  if (person === undefined || person.trim() === '')
    throw new UsageError('the user name is missing: svc sessions end NAME')
  return person
}

function tokenOf(environment: Context['environment']): string {
  const token = sessionToken(environment, tokenAdvice)
  if (token === undefined) throw new UsageError(`SVC_TOKEN is not set: ${tokenAdvice}`)
  return token
}

function explained({ status, message }: ServiceRefusal, base: URL): Error {
  if (status === 401) return new Error(`${message}: SVC_TOKEN is not the token of a session at ${base.href}`)
  if (status === 404)
    return new Error(`${base.href} has no sessions: it runs without --auth provider_auth, or is not svc`)
  return new Error(message)
}
