import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '../needs.ts'
import { freePort, listens } from '../ports.ts'
import { other } from './postgres-server.ts'

/** A real PgBouncer in front of a database. */
export interface PgBouncer extends AsyncDisposable {
  /** The address of the database, through it. */
  readonly url: string
}

/** Starts one. @throws when this machine lacks it (see `needs('pgbouncer')`) */
export async function startPgBouncer(database: string, poolMode: 'session' | 'transaction'): Promise<PgBouncer> {
  const binary = needs('pgbouncer')
  if (binary === undefined) throw new Error('there is no pgbouncer on this machine')
  const url = new URL(database)
  const folder = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'))
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')]
  const port = freePort()
  writeFileSync(users, `"${url.username}" "${url.password}"\n`)
  writeFileSync(
    settings,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${url.port}`,
      '[pgbouncer]',
      'listen_addr=127.0.0.1',
      `listen_port=${port}`,
    ]
      .concat('auth_type=scram-sha-256', `auth_file=${users}`, `pool_mode=${poolMode}`, 'unix_socket_dir=')
      .join('\n'),
  )
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const path of [folder, settings, users]) chownSync(path, other.id, other.id)
  const prefix = isRoot ? ['setpriv', `--reuid=${other.name}`, `--regid=${other.group}`, '--clear-groups'] : []
  const child = Bun.spawn([...prefix, binary, settings], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  while (!(await listens(port))) await Bun.sleep(20)
  url.port = String(port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
