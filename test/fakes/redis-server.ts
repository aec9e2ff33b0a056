import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLines } from '../lines.ts'
import { needs } from '../needs.ts'
import { freePort } from '../ports.ts'
import type { Certificate } from './certificates.ts'
import { ownedProcess } from './owned-process.ts'

/** A real Redis or Valkey server without persistence. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** `redis://127.0.0.1:PORT`, or `rediss:` */
  readonly url: string
  readonly pid: number
  /** Stops its process, which keeps its connections and answers nothing. */
  pause(): void
  resume(): void
  /** Kills its process. */
  kill(): Promise<void>
}

/** Options of {@link startRedisServer}. */
export interface RedisServerOptions {
  /** Default: a free port. */
  readonly port?: number
  /** Settings of `redis.conf`: `['--requirepass', 'word']`. */
  readonly flags?: readonly string[]
  /** Accepts only TLS. */
  readonly tls?: Certificate
}

/**
 * Starts a server, and waits until it accepts connections. @throws when it does not start, or when this machine lacks
 * it (see `needs('redis-server')`)
 */
export async function startRedisServer({ port, flags = [], tls }: RedisServerOptions = {}): Promise<RedisServer> {
  // Another process may take the free port first.
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
  const kill = ownedProcess(child, folder)

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
