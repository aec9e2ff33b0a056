import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLines } from '../lines.ts'
import { needs } from '../needs.ts'
import type { Certificate } from './certificates.ts'

/** A real Redis or Valkey server in a process of its own, which keeps nothing on disk. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** `redis://127.0.0.1:PORT`, or `rediss:` */
  readonly url: string
  readonly pid: number
  /** As when its machine is cut off: it keeps its connections and answers nothing. */
  pause(): void
  resume(): void
  /** Ends it at once. */
  kill(): Promise<void>
}

/** How {@link startRedisServer} starts it. */
export interface RedisServerOptions {
  /** Default: one that is free. */
  readonly port?: number
  /** As in `redis.conf`: `['--requirepass', 'word']`. */
  readonly flags?: readonly string[]
  /** With TLS, and without it no longer. */
  readonly tls?: Certificate
}

/**
 * Starts it, and waits until it takes connections. @throws when this machine has none (see `needs('redis-server')`), or
 * it does not start
 */
export async function startRedisServer({ port, flags = [], tls }: RedisServerOptions = {}): Promise<RedisServer> {
  // Between finding a free port and taking it, somebody else may.
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(port ?? freePort(), flags, tls)
    } catch (error) {
      if (attempt === 3 || port !== undefined) throw error
    }
  }
}

async function startOn(port: number, flags: readonly string[], tls: Certificate | undefined): Promise<RedisServer> {
  const binary = needs('redis-server')
  if (binary === undefined) throw new Error('there is no redis-server on this machine')
  const folder = mkdtempSync(join(tmpdir(), 'svc-redis-'))
  const listening = tls === undefined ? ['--port', String(port)] : listenWithTls(port, tls, folder)
  const command = [
    binary,
    ...listening,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
    ...flags,
  ]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  const end = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)

  async function kill(): Promise<void> {
    process.removeListener('exit', end)
    end()
    await child.exited
  }

  const ready = Promise.withResolvers<void>()
  let output = ''
  void readLines(child.stdout, (line) => {
    output += `${line}\n`
    if (/Ready to accept connections/.test(line)) ready.resolve()
  }).then(() => ready.reject(new Error(`redis-server did not start: ${output}`)))
  try {
    await ready.promise
  } catch (error) {
    await kill()
    throw error
  }
  return {
    port,
    url: `${tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    pid: child.pid,
    kill,
    [Symbol.asyncDispose]: kill,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
  }
}

function listenWithTls(port: number, { key, cert }: Certificate, folder: string): readonly string[] {
  const keyFile = join(folder, 'key.pem'),
    certFile = join(folder, 'cert.pem')
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
  return [
    '--port',
    '0',
    '--tls-port',
    String(port),
    '--tls-key-file',
    keyFile,
    '--tls-cert-file',
    certFile,
    '--tls-auth-clients',
    'no',
  ]
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}
