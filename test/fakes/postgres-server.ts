import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { readLines } from '../lines.ts'
import { needs } from '../needs.ts'
import { freePort } from '../ports.ts'
import { childrenOf } from '../process-tree.ts'
import type { Certificate } from './certificates.ts'

/** A real PostgreSQL server in a temporary folder. */
export interface PostgresServer {
  readonly port: number
  /** Address of a new, empty database. */
  newDatabase(): Promise<string>
  /** Runs a statement as the owner of the server. @param url default: of the database `postgres` */
  query(statement: string, url?: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Kills all its processes with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again at the same port, with the same data. */
  start(): Promise<void>
  /** Stops its processes, which keep their connections and answer nothing. */
  pause(): void
  resume(): void
}

const user = 'tester'
/** initdb refuses root. This user is on every Debian. */
export const other = { name: 'nobody', group: 'nogroup', id: 65_534 }
let shared: Promise<PostgresServer> | undefined

/** The server of all test files that one process runs, which ends with the process. Nothing may kill or pause it. */
export function sharedPostgres(): Promise<PostgresServer> {
  return (shared ??= startPostgres())
}

/** Options of {@link startPostgres}. */
export interface PostgresOptions {
  /** It accepts TLS, too. */
  readonly tls?: Certificate
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[]
  /** Lines of pg_hba.conf, before those for all users. */
  readonly hba?: readonly string[]
}

/** Starts a server of its own. @throws when this machine lacks it (see `needs('postgres')`) */
export async function startPostgres({ tls, settings = [], hba }: PostgresOptions = {}): Promise<PostgresServer> {
  const binary = needs('postgres')
  if (binary === undefined) throw new Error('there is no postgres on this machine')
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'))
  const password = crypto.randomUUID()
  const isRoot = process.getuid?.() === 0
  const prefix = isRoot ? ['setpriv', `--reuid=${other.name}`, `--regid=${other.group}`, '--clear-groups'] : []
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password)
  if (isRoot) for (const path of [folder, passwordFile]) chownSync(path, other.id, other.id)
  await run([
    ...prefix,
    join(dirname(binary), 'initdb'),
    ...['-D', data, '-N', '-A', 'scram-sha-256', '-U', user, '--pwfile', passwordFile, '--locale=C', '-E', 'UTF8'],
  ])
  if (tls !== undefined)
    for (const [file, text] of Object.entries({ 'server.key': tls.key, 'server.crt': tls.cert })) {
      writeFileSync(join(data, file), text, { mode: 0o600 })
      if (isRoot) chownSync(join(data, file), other.id, other.id)
    }
  appendFileSync(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`)
  // Only the owner of the server may enter by other lines than those given.
  if (hba !== undefined)
    writeFileSync(join(data, 'pg_hba.conf'), [...hba, `host all ${user} 127.0.0.1/32 scram-sha-256`, ''].join('\n'))
  const port = freePort()
  const urlOf = (database: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
  let child: Bun.Subprocess | undefined
  let databases = 0
  endWithThisProcess(folder, data)

  /** The server, and the processes of its connections. */
  function signalAll(signal: NodeJS.Signals): void {
    for (const pid of child === undefined ? [] : [child.pid, ...childrenOf(child.pid)])
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended.
      }
  }

  async function start(): Promise<void> {
    child = Bun.spawn(
      [
        ...prefix,
        binary ?? '',
        ...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
        // A server that is killed loses what was not written: only its process dies here, not the machine.
        ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=60', '-c', 'shared_buffers=16MB'],
        // Its shared memory is in the folder, and is removed with it when the server is killed.
        ...['-c', 'dynamic_shared_memory_type=mmap'],
        ...['-c', `ssl=${tls === undefined ? 'off' : 'on'}`],
      ],
      { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    )
    const ready = Promise.withResolvers<void>()
    let output = ''
    const { stderr } = child
    if (!(stderr instanceof ReadableStream)) throw new Error('the server has no output')
    void readLines(stderr, (line) => {
      output = `${output}${line}\n`.slice(-10_000)
      if (/database system is ready to accept connections/.test(line)) ready.resolve()
    }).then(() => ready.reject(new Error(`postgres did not start: ${output}`)))
    await ready.promise
  }

  async function query(statement: string, url = urlOf('postgres')) {
    const sql = new SQL(url, { max: 1 })
    try {
      return (await sql.unsafe(statement)) as readonly Readonly<Record<string, unknown>>[]
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  await start()
  return {
    port,
    query,
    async newDatabase() {
      databases += 1
      await query(`CREATE DATABASE test_${databases} STRATEGY file_copy`)
      return urlOf(`test_${databases}`)
    },
    async kill() {
      signalAll('SIGKILL')
      await child?.exited
      rmSync(join(data, 'postmaster.pid'), { force: true })
    },
    start,
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
  }
}

/** A test process may be killed, or end without an event: a process whose input ends with it removes the server. */
function endWithThisProcess(folder: string, data: string): void {
  const script = 'cat >/dev/null; kill -QUIT "$(head -n 1 "$1/postmaster.pid")"; rm -rf "$0"'
  Bun.spawn(['sh', '-c', script, folder, data], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' }).unref()
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const [code, errors] = await Promise.all([child.exited, child.stderr.text()])
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${errors}`)
}
