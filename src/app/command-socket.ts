import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../base/error-code.ts'
import type { SignedInPeople } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import { readBodyBy } from '../formats/parse-json-object.ts'
import { endedUser } from '../http/page/people-api.ts'
import { errorFields, type Logger } from '../observe/log.ts'
import { objectShape } from '../shapes/containers.ts'

const bodyBytesMax = 4_096
const endShape = objectShape({ user: endedUser }, { required: ['user'] })

export interface CommandSocketOptions {
  readonly people: () => Pick<SignedInPeople, 'endAll'> | undefined
  readonly log: Logger
}

/**
 * Listens for `svc sessions end` of the user that the home folder belongs to: a Unix socket in a folder that only this
 * user may enter. A service that cannot listen goes on without it.
 */
export class CommandSocket {
  readonly #options: CommandSocketOptions
  #close: (() => Promise<void>) | undefined

  constructor(options: CommandSocketOptions) {
    this.#options = options
  }

  /** Listens, unless it does already. @param folder `run` in the home folder */
  open(folder: string): void {
    this.#close ??= listenIn(folder, this.#options)
  }

  async close(): Promise<void> {
    await this.#close?.()
  }
}

/** @returns stops listening */
function listenIn(folder: string, { people, log }: CommandSocketOptions): () => Promise<void> {
  // Several services may have one home, in containers with the same process id.
  const path = join(folder, `${crypto.randomUUID().slice(0, 8)}.sock`)
  try {
    makePrivate(folder)
    const server = Bun.serve({ unix: path, maxRequestBodySize: bodyBytesMax, fetch: (request) => answer(request) })
    chmodSync(path, 0o600)
    return () => server.stop(true)
  } catch (error) {
    log.warn('svc sessions end needs SVC_TOKEN: the socket for it cannot be made', {
      socket: path,
      reason: errorCode(error) ?? String(error),
    })
    return async () => undefined
  }

  async function answer(request: Request): Promise<Response> {
    try {
      const signedIn = people()
      if (signedIn === undefined || new URL(request.url).pathname !== '/sessions/end' || request.method !== 'POST')
        throw new WireError(404, 'invalid_request_error', 'no_sign_in', 'The service runs without sign-in')
      const { user } = readBodyBy(await request.bytes(), endShape)
      const ended = await signedIn.endAll(user)
      log.info('sessions ended by an owner', { user, by: 'command line', sessions: ended })
      return Response.json({ ended })
    } catch (error) {
      if (error instanceof WireError)
        return Response.json({ error: { message: error.message } }, { status: error.status })
      log.error('internal error', errorFields(error))
      return Response.json({ error: { message: 'Internal error; see the log of the service' } }, { status: 500 })
    }
  }
}

/** @throws unless the folder is one that only this user may enter */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) throw new Error('the folder belongs to another user')
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}
