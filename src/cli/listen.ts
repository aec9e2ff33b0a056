import { errorCode } from '../config/error-code.ts'
import { startServer, type Server, type ServerOptions } from '../http/server.ts'
import { UsageError } from './arguments.ts'
import { NotNow } from './not-now.ts'

/**
 * Listens, and answers. @throws {UsageError} when the address can never be had, {NotNow} when another has it; both with
 * what to do
 */
export function listen(options: ServerOptions): Server {
  const { host, port } = options
  return withAdvice(host, port, () => startServer(options))
}

/**
 * Makes sure that nobody listens there, and on Linux that no other service begins to: those who share a port cannot
 * tell by themselves whether it is one of theirs.
 *
 * @returns lets others begin
 * @throws as {@link listen} does
 */
export function holdPort(host: string, port: number): () => void {
  if (port === 0) return () => undefined
  const letGo = withAdvice(host, port, () => holdName(`svc ${host} ${port}`))
  withAdvice(host, port, () =>
    Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: () => new Response() }),
  ).stop(true)
  return letGo
}

/**
 * Takes an abstract name (unix(7)): one process has it, and the system gives it back. @throws `EADDRINUSE` when another
 * has it
 */
function holdName(name: string): () => void {
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

function withAdvice<Value>(host: string, port: number, take: () => Value): Value {
  try {
    return take()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EADDRINUSE')
      throw new NotNow(`port ${port} of ${host} is in use: choose another with --port, or 0 for a free one`, {
        cause: error,
      })
    if (code === 'EACCES')
      throw new UsageError(`port ${port} needs more rights than this user has: choose one from 1024 with --port`, {
        cause: error,
      })
    throw new UsageError(
      `cannot listen on ${host} port ${port}${code === '' ? '' : ` (${code})`}: --host takes an address of this machine`,
      { cause: error },
    )
  }
}
