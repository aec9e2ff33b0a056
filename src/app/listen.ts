import { errorCode } from '../base/error-code.ts'
import { ResourceUnavailable, UsageError } from '../base/start-errors.ts'
import { isAppOrigin } from '../http/origin-policy.ts'
import { startServer, type Server, type ServerOptions } from '../http/server.ts'

/**
 * Starts the server.
 *
 * @throws {UsageError} for an unusable address
 * @throws {ResourceUnavailable} when the port is in use
 */
export function listen(options: ServerOptions, flag = '--port'): Server {
  const { host, port } = options
  return withAdvice(host, port, () => startServer(options), flag)
}

/**
 * Reserves a port for the workers: checks that it is free, and on Linux keeps other services with workers from sharing
 * it.
 *
 * @returns releases the port
 * @throws as {@link listen} does
 */
export function reservePort(host: string, port: number): () => void {
  if (port === 0) return () => undefined
  const release = withAdvice(host, port, () => reserveName(`svc ${host} ${port}`))
  void withAdvice(host, port, () =>
    Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: () => new Response() }),
  ).stop(true)
  return release
}

/**
 * Binds an abstract socket name (unix(7)), which one process can hold and the system frees.
 *
 * @throws `EADDRINUSE` when another process holds it
 */
function reserveName(name: string): () => void {
  if (process.platform !== 'linux') return () => undefined
  try {
    const held = Bun.listen({ unix: `\0${name}`, socket: { data: () => undefined } })
    held.unref()
    return () => held.stop(true)
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') throw error
    return () => undefined // A sandbox without such names.
  }
}

function withAdvice<Value>(host: string, port: number, take: () => Value, flag = '--port'): Value {
  try {
    return take()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const orFree = flag === '--port' ? ', or 0 for a free one' : ''
    if (code === 'EADDRINUSE')
      throw new ResourceUnavailable(`port ${port} of ${host} is in use: choose another with ${flag}${orFree}`, {
        cause: error,
      })
    if (code === 'EACCES')
      throw new UsageError(`port ${port} needs more rights than this user has: choose one from 1024 with ${flag}`, {
        cause: error,
      })
    throw new UsageError(
      `cannot listen on ${host} port ${port}${code && ` (${code})`}: --host takes an address of this machine`,
      { cause: error },
    )
  }
}

/**
 * `SVC_CORS_ORIGINS`: origins, separated by commas or spaces, whose pages may call the API; `*` stands for all.
 *
 * @throws {UsageError} for an entry that is not an origin
 */
export function readCorsOrigins(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const origins = (environment['SVC_CORS_ORIGINS'] ?? '').split(/[,\s]+/).filter((origin) => origin !== '')
  const faulty = origins.findIndex((origin) => origin !== '*' && !isAppOrigin(origin) && !isWebOrigin(origin))
  if (faulty !== -1)
    throw new UsageError(
      `SVC_CORS_ORIGINS: entry ${faulty + 1} is not an origin such as https://app.example.org (lower case, no path)`,
    )
  return origins
}

function isWebOrigin(origin: string): boolean {
  return /^https?:\/\/[^*]*$/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin
}
