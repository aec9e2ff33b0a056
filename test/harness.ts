import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleService } from '../scripts/bundle-service.ts'
import type { Certificate } from './fakes/certificates.ts'
import { readLines } from './lines.ts'

/** An entry of `providers` (docs/configuration.md). */
export interface ProviderEntry {
  readonly id: string
  readonly base_url?: string
  readonly models?: readonly (string | { readonly name: string; readonly upstream?: string })[]
  readonly timeouts?: Readonly<Partial<Record<'connect_ms' | 'first_token_ms' | 'idle_ms' | 'attempt_ms', number>>>
  readonly [field: string]: unknown
}

/** The contents of providers.json. */
export interface ServiceConfig {
  readonly providers: readonly ProviderEntry[]
  readonly limits?: {
    readonly body_bytes?: number
    readonly deadline_ms?: number
    readonly max_concurrent?: number
    readonly body_budget_bytes?: number
  }
  readonly failover?: {
    readonly on_content_policy?: 'stop' | 'next'
    readonly on_cut?: 'resume' | 'error'
    readonly hold?: 'calls' | 'none'
    readonly retry_billed?: boolean
  }
  readonly titles?: { readonly model: string }
  readonly aliases?: Readonly<Record<string, string>>
  readonly owners?: readonly string[]
  readonly auth?: readonly string[]
  readonly history?: 'browser' | 'server' | { readonly days: number }
}

export interface ServiceOptions {
  /** Variables in addition to a scrubbed environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** Limit of descriptors (`ulimit -n`). */
  readonly descriptors?: number
  /** Certificate authority that the service trusts. */
  readonly trusts?: Certificate
  /** Files in its home before it starts: path → text, or text and permissions. */
  readonly files?: Readonly<Record<string, HomeFile>>
  /** Default 0: a free port. */
  readonly port?: number
  /** The script to start. Default in tests: a bundle of this project. Elsewhere: `bin/svc`. */
  readonly program?: string
}

/** Content of a file in the home of a service. */
export type HomeFile = string | { readonly text: string; readonly mode: number }

/** A listening process of the service. `await using` stops it. */
export interface ServiceUnderTest extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly pid: number
  /** Its `SVC_HOME`. */
  readonly home: string
  /** Path of its providers.json. */
  readonly file: string
  /** Log lines so far that are JSON objects. */
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  /** Output to stdout and stderr so far. */
  readonly output: string
  /** Resolves with the exit code. */
  readonly exited: Promise<number>
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL' | 'SIGUSR2'): void
  /** Replaces providers.json by rename, as editors do. */
  configure(config: ServiceConfig | string): Promise<void>
  /** Replaces or creates a file of its home, by rename; `undefined` removes it. */
  write(path: string, file: HomeFile | undefined): Promise<void>
  /** Ends it with SIGTERM. @throws when it does not exit with 0 */
  stop(): Promise<void>
}

/**
 * Short timers, for providers that fail by waiting. The connect timer is shorter than that of the attempt, so that a
 * test can distinguish them.
 */
export const quick = { timeouts: { connect_ms: 200, first_token_ms: 300, idle_ms: 300, attempt_ms: 300 } } as const

/** A provider entry for the models given; `more` adds fields. */
export function provider(
  id: string,
  baseUrl: string,
  models: readonly string[] = ['m'],
  more: Readonly<Record<string, unknown>> = {},
): ProviderEntry {
  return { id, base_url: baseUrl, models, ...more }
}

const ownProgram = join(import.meta.dir, '..', 'bin', 'svc')
let bundled: Promise<string> | undefined

/** Path of `svc` in a bundle of this project, for tests; measures of bench/ and lab/ run `bin/svc` itself. */
function defaultProgram(): Promise<string> {
  return (bundled ??= process.env['NODE_ENV'] === 'test' ? bundleService() : Promise.resolve(ownProgram))
}

const startMs = 60_000

/** Result of a command: its exit code and output. */
export interface CommandOutput {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command of `svc` as a process of its own, on the files of a home folder. */
export function runSvc(home: string, ...argv: readonly string[]): Promise<CommandOutput> {
  return runSvcWith({}, home, ...argv)
}

/** The same with more variables. */
export async function runSvcWith(
  environment: Readonly<Record<string, string>>,
  home: string,
  ...argv: readonly string[]
): Promise<CommandOutput> {
  const child = Bun.spawn(['sh', await defaultProgram(), ...argv], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, SVC_HOME: home, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

/**
 * Starts `svc` with this configuration in a new home, and waits until it prints its address.
 *
 * @param config `undefined`: no file; the service detects providers of this machine
 * @throws when it exits first, with its output
 */
export async function startService(
  config: ServiceConfig | string | undefined,
  options: ServiceOptions = {},
): Promise<ServiceUnderTest> {
  const home = await mkdtemp(join(tmpdir(), 'svc-test-'))
  const file = join(home, 'providers.json')
  if (config !== undefined) await writeConfig(file, config)
  for (const [path, text] of Object.entries(options.files ?? {})) await writeHomeFile(join(home, path), text)
  const child = await spawnService(home, config === undefined ? undefined : file, options)
  const written = listen(child)
  const ended = written.read.then(() => rm(home, { recursive: true, force: true }))
  const port = await written.port.catch(async (error: unknown) => {
    child.kill('SIGKILL')
    await ended
    throw error
  })

  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    const code = await child.exited
    await ended
    if (code !== 0) throw new Error(`svc exited with ${code} on SIGTERM:\n${written.output}`)
  }

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    home,
    file,
    logs: written.logs,
    get output() {
      return written.output
    },
    exited: child.exited,
    signal: (name) => child.kill(name),
    configure: (config) => writeConfig(file, config),
    write: (path, text) => (text === undefined ? rm(join(home, path)) : writeHomeFile(join(home, path), text)),
    stop,
    async [Symbol.asyncDispose]() {
      // A test that has ended the service itself checks its exit code.
      if (child.exitCode === null && child.signalCode === null) await stop()
      else await ended
    },
  }
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

async function spawnService(
  home: string,
  file: string | undefined,
  { environment, flags = [], descriptors, trusts, port = 0, program }: ServiceOptions,
): Promise<Child> {
  const script = program ?? (await defaultProgram())
  const start = ['sh', script, '--port', String(port), ...(file === undefined ? [] : ['--config', file]), ...flags]
  const authority = join(home, 'authority.pem')
  if (trusts !== undefined) await Bun.write(authority, trusts.cert)
  const child = Bun.spawn(
    descriptors === undefined ? start : ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh', ...start],
    {
      env: {
        ...scrubbed(),
        SVC_HOME: home,
        SVC_DRAIN_WINDOW_MS: '0',
        SVC_LATE_REFUSAL_MS: '0',
        ...(trusts === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }),
        ...environment,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  // An interrupted test run leaves no service behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  void child.exited.then(() => process.removeListener('exit', kill))
  return child
}

/** Output of a service, and its port. */
interface Written {
  readonly logs: readonly Record<string, unknown>[]
  readonly output: string
  readonly port: Promise<number>
  /** Settles when it has exited and all its output has been read. */
  readonly read: Promise<void>
}

function listen(child: Child): Written {
  const logs: Record<string, unknown>[] = []
  const address = Promise.withResolvers<number>()
  let output = ''

  function noteLine(line: string): void {
    output += `${line}\n`
    const port = /^svc is ready on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line)?.[1]
    if (port !== undefined) address.resolve(Number(port))
    if (line.startsWith('{')) logs.push(...parsedObject(line))
  }

  async function readAll(): Promise<void> {
    const [code] = await Promise.all([
      child.exited,
      readLines(child.stdout, noteLine),
      readLines(child.stderr, noteLine),
    ])
    address.reject(new Error(`svc exited with ${code} before it listened:\n${output}`))
  }

  const timer = setTimeout(
    () => address.reject(new Error(`svc did not listen within ${startMs} ms:\n${output}`)),
    startMs,
  )
  return {
    logs,
    get output() {
      return output
    },
    port: address.promise.finally(() => clearTimeout(timer)),
    read: readAll(),
  }
}

async function writeConfig(file: string, config: ServiceConfig | string): Promise<void> {
  await Bun.write(`${file}.new`, typeof config === 'string' ? config : JSON.stringify(config, undefined, 2))
  await rename(`${file}.new`, file)
}

async function writeHomeFile(path: string, file: HomeFile): Promise<void> {
  const { text, mode } = typeof file === 'string' ? { text: file, mode: 0o600 } : file
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, text)
  await chmod(`${path}.new`, mode)
  await rename(`${path}.new`, path)
}

/** The environment without keys, proxies and settings of svc, so that no provider of this machine is found. */
function scrubbed(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/_API_KEY$|_TOKEN$|_proxy$|^SVC_/i.test(name))
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

function parsedObject(line: string): readonly Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? [{ ...value }] : []
  } catch {
    // Some other lines begin with a brace, too.
    return []
  }
}
