import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '../needs.ts'
import { freePort, listens } from '../ports.ts'
import { ownedProcess } from './owned-process.ts'

/** A real proxy that wants a name and a password. */
export interface ProxyServer extends AsyncDisposable {
  readonly port: number
  /** `http://NAME:PASSWORD@127.0.0.1:PORT` */
  readonly url: string
  kill(): Promise<void>
}

/** What one program needs: its files, and its arguments. */
interface Recipe {
  readonly files: Readonly<Record<string, string>>
  readonly argv: readonly string[]
}

export const proxyNames = ['squid', 'tinyproxy'] as const

const recipes: Readonly<Record<(typeof proxyNames)[number], (port: number, password: string) => Recipe>> = {
  squid: (port, password) => ({
    argv: ['-N', '-f', 'proxy.conf'],
    files: {
      passwords: `svc:${Bun.spawnSync(['openssl', 'passwd', '-apr1', password]).stdout.toString()}`,
      'proxy.conf': [
        `http_port 127.0.0.1:${port}`,
        'visible_hostname tests',
        'pid_filename none',
        'cache_log ./cache.log',
        'access_log none',
        'cache deny all',
        'cache_mem 8 MB',
        'coredump_dir .',
        'netdb_filename none',
        'pinger_enable off',
        'shutdown_lifetime 1 seconds',
        'auth_param basic program /usr/lib/squid/basic_ncsa_auth ./passwords',
        'auth_param basic children 1',
        'acl known proxy_auth REQUIRED',
        'http_access allow known',
        'http_access deny all',
      ].join('\n'),
    },
  }),
  // With its usual port for CONNECT left out, it connects to any.
  tinyproxy: (port, password) => ({
    argv: ['-d', '-c', 'proxy.conf'],
    files: { 'proxy.conf': `Port ${port}\nListen 127.0.0.1\nBasicAuth svc ${password}\nTimeout 60\nMaxClients 50\n` },
  }),
}

/** Starts a proxy, and waits until it accepts connections. @throws if this machine lacks it, or it does not start */
export async function startProxy(name: (typeof proxyNames)[number], password: string): Promise<ProxyServer> {
  const binary = needs(name)
  if (binary === undefined) throw new Error(`there is no ${name} on this machine`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  const port = freePort()
  const { files, argv } = recipes[name](port, password)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), `${text}\n`)
  // Started by root, it becomes a user of its own.
  chmodSync(folder, 0o777)
  const child = Bun.spawn([binary, ...argv], { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  const kill = ownedProcess(child, folder)

  for (const deadline = performance.now() + 15_000; !(await listens(port)); await Bun.sleep(20)) {
    if (performance.now() < deadline && child.exitCode === null) continue
    await kill()
    throw new Error(`${name} did not start`)
  }
  return { port, url: `http://svc:${password}@127.0.0.1:${port}`, kill, [Symbol.asyncDispose]: kill }
}
