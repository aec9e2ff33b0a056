const probeMsMax = 300
const answerBytesMax = 1024 * 1024

/**
 * The models a server at this port of 127.0.0.1 lists at `/v1/models`, `undefined` when it does not answer so within
 * 300 ms. Never rejects. Speaks HTTP/1.0 over a socket of its own: `fetch` obeys HTTP_PROXY for 127.0.0.1 too, and
 * would ask the proxy.
 */
export async function probeModels(port: number): Promise<readonly string[] | undefined> {
  const answer = await ask(
    port,
    `GET /v1/models HTTP/1.0\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\nconnection: close\r\n\r\n`,
  )
  return readModelNames(answer.toString())
}

/** What comes back until the server hangs up, the answer is whole, or time is up. Nothing when nobody listens. */
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

/** Some servers keep the connection open although asked not to. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(answer.subarray(0, headEnd).toString('latin1'))?.[1]
  return length !== undefined && answer.length >= headEnd + 4 + Number(length)
}

/**
 * The names in an answer; `undefined` for anything that is no list of models, and for another instance of this service,
 * which lists providers with each model.
 */
function readModelNames(answer: string): readonly string[] | undefined {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (!/^HTTP\/1\.[01] 200[ \r]/.test(answer) || headEnd === -1) return undefined
  const models = readList(answer.slice(headEnd + 4))
  if (models === undefined || models.some((model) => 'providers' in model)) return undefined
  return models.flatMap((model) => ('id' in model && typeof model.id === 'string' ? [model.id] : []))
}

function readList(body: string): readonly object[] | undefined {
  // A chunked body's first and last lines are lengths; the list stands between them when it came in one chunk.
  const json = body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    // Some other service lives at this port.
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('data' in value) || !Array.isArray(value.data)) return undefined
  return value.data.filter((model): model is object => typeof model === 'object' && model !== null)
}
