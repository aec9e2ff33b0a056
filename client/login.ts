import { hostname } from 'node:os'
import { booleanFlag, textFlag } from '../src/base/command-line/arguments.ts'
import type { Command, CommandContext } from '../src/base/command-line/command.ts'
import { UsageError } from '../src/base/start-errors.ts'
import type { ClientHost } from './host.ts'
import { AgentSignIn, serviceOrigin, SignInOver, type KnownTokens } from './login/agent-tokens.ts'
import { KeptTokens } from './login/kept-tokens.ts'

const interrupted = 130
/** A token is renewed when it ends within this time. */
const renewMs = 300_000
const slowerMs = 5_000

const loginFlags = { end: booleanFlag('sign this machine out') }

/** `svc login` (docs/commands.md). */
export function loginCommand(host: ClientHost): Command<typeof loginFlags> {
  return {
    name: 'login',
    summary: 'sign this machine in at a service with your account',
    flags: loginFlags,
    arguments: { usage: 'URL', summary: 'address of the service, such as https://svc.example.org', maximum: 1 },
    examples: [
      { command: 'svc login https://svc.example.org', does: 'shows a code to enter in the browser' },
      { command: 'svc login https://svc.example.org --end', does: 'signs this machine out' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    async run(context) {
      const [url] = context.positionals
      if (url === undefined) throw new UsageError('the address is missing: svc login https://svc.example.org')
      const root = serviceOrigin(url)
      return await untilStopped(context, () =>
        context.flags.end ? signOut(host, root, context) : signIn(host, root, context),
      )
    },
  }
}

async function signIn(host: ClientHost, root: string, { environment, stdout, signal }: CommandContext): Promise<void> {
  const service = new AgentSignIn(host, root)
  const { deviceCode, userCode, page, completePage, expiresMs, intervalMs } = await service.begin(hostname(), signal)
  stdout.write(`Open ${completePage}\nor ${page}, and enter ${userCode}\n`)
  const end = Date.now() + expiresMs
  let waitMs = intervalMs
  while (Date.now() < end) {
    await host.wait(waitMs, signal)
    const answer = await service.poll(deviceCode, signal)
    if (answer === 'slower') waitMs += slowerMs
    else if (answer !== undefined) {
      const kept = keptTokens(host, environment)
      await kept.locked(() => kept.set(root, answer), signal)
      stdout.write(`This machine is signed in at ${root}. 'svc token' prints a token.\n`)
      return
    }
  }
  throw new SignInOver('the code is older than ten minutes: start again')
}

async function signOut(host: ClientHost, root: string, { environment, stdout, signal }: CommandContext): Promise<void> {
  const kept = keptTokens(host, environment)
  await kept.locked(async () => {
    const tokens = await kept.get(root)
    await kept.set(root, undefined)
    if (tokens !== undefined) await new AgentSignIn(host, root).revoke(tokens, signal)
  }, signal)
  stdout.write(`This machine is signed out at ${root}.\n`)
}

const tokenFlags = {
  url: textFlag('service where this machine is signed in', 'URL', {
    environment: 'SVC_URL',
    otherwise: 'the only one',
  }),
}

/** `svc token` (docs/commands.md). */
export function tokenCommand(host: ClientHost): Command<typeof tokenFlags> {
  return {
    name: 'token',
    summary: 'print a valid token of svc login, for programs that run a command for it',
    flags: tokenFlags,
    examples: [
      { command: 'svc token --url https://svc.example.org', does: 'prints a token, and renews it first if it ends' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: (context) =>
      untilStopped(context, async () => {
        const { flags, environment, stdout, signal } = context
        const kept = keptTokens(host, environment)
        const root = flags.url === undefined ? onlyOf(await kept.services()) : serviceOrigin(flags.url)
        stdout.write(`${(await lastingTokens(host, kept, root, signal)).access}\n`)
      }),
  }
}

/** The tokens at a service, renewed if they end soon. @throws when this machine is not signed in there any more */
export async function lastingTokens(
  host: ClientHost,
  kept: KeptTokens,
  root: string,
  signal: AbortSignal,
): Promise<KnownTokens> {
  const tokens = await kept.get(root)
  return tokens !== undefined && isLasting(tokens) ? tokens : await renewed(host, kept, root, signal)
}

/** One process renews; others wait for it, and find its token. */
function renewed(host: ClientHost, kept: KeptTokens, root: string, signal: AbortSignal): Promise<KnownTokens> {
  return kept.locked(async () => {
    const tokens = await kept.get(root)
    if (tokens === undefined) throw new Error(`this machine is not signed in at ${root}: svc login ${root}`)
    if (isLasting(tokens)) return tokens
    try {
      const fresh = await new AgentSignIn(host, root).refresh(tokens, signal)
      await kept.set(root, fresh)
      return fresh
    } catch (error) {
      if (error instanceof SignInOver) await kept.set(root, undefined)
      // Without an answer, the token is good for its last minutes.
      else if (tokens.expires > Date.now()) return tokens
      throw error
    }
  }, signal)
}

function isLasting({ expires }: KnownTokens): boolean {
  return expires - Date.now() > renewMs
}

function onlyOf(services: readonly string[]): string {
  const [only, ...others] = services
  if (only === undefined) throw new Error('this machine is signed in nowhere: svc login https://svc.example.org')
  if (others.length > 0) throw new UsageError(`--url is missing: this machine is signed in at ${services.join(', ')}`)
  return only
}

/** The tokens of this user. */
export function keptTokens(host: ClientHost, environment: CommandContext['environment']): KeptTokens {
  return new KeptTokens(host, host.loginFile(environment))
}

async function untilStopped({ signal }: Pick<CommandContext, 'signal'>, work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return 0
  } catch (error) {
    if (signal.aborted) return interrupted
    throw error
  }
}
