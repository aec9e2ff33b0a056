import { isRecord, type JsonObject } from '../base/json-value.ts'

const probeMsMax = 300
const answerBytesMax = 1024 * 1024

/**
 * Returns the models that a server at this port of 127.0.0.1 lists at `/v1/models`; `undefined` without a list within
 * 300 ms. Never rejects. Speaks HTTP/1.0 over its own socket, since `fetch` would use HTTP_PROXY even for 127.0.0.1.
 */
export async function probeModels(port: number): Promise<readonly string[] | undefined> {
  const answer = await ask(
    port,
    `GET /v1/models HTTP/1.0\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\nconnection: close\r\n\r\n`,
  )
  return readModelNames(answer.toString())
}

/** Reads until the response is complete, the connection closes, or the time is up. Empty without a server. */
async function ask(port: number, request: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  let answer = Buffer.alloc(0)
  const timer = setTimeout(() => resolve(answer), probeMsMax)
  const connected = Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        socket.write(request)
      },
      data(_, piece) {
        answer = Buffer.concat([answer, piece])
        if (answer.length > answerBytesMax || isWhole(answer)) resolve(answer)
      },
      close() {
        resolve(answer)
      },
    },
  })
  connected.catch(() => resolve(answer))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    connected.then(
      (socket) => socket.terminate(),
      () => undefined,
    )
  }
}

/** Whether the response is complete. Some servers ignore `connection: close`. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(answer.subarray(0, headEnd).toString('latin1'))?.[1]
  return length !== undefined && answer.length >= headEnd + 4 + Number(length)
}

/**
 * Reads the model names of a response; `undefined` for other responses, and for those of svc itself, whose models have
 * `providers`.
 */
function readModelNames(answer: string): readonly string[] | undefined {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (!/^HTTP\/1\.[01] 200[ \r]/.test(answer) || headEnd === -1) return undefined
  const models = readList(answer.slice(headEnd + 4))
  if (models === undefined || models.some((model) => 'providers' in model)) return undefined
  return models.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
}

function readList(body: string): readonly JsonObject[] | undefined {
  // A chunked body of one chunk has the list between its first and last lines.
  const json = body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // The port belongs to another kind of service.
    return undefined
  }
  return isRecord(value) && Array.isArray(value['data']) ? value['data'].filter(isRecord) : undefined
}
