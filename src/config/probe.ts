import { connect } from 'node:net'

const probeMsMax = 300
const answerBytesMax = 1024 * 1024

/**
 * The models a server at this port of 127.0.0.1 lists at `/v1/models`, `undefined` when it does not answer so within 300 ms. Never rejects.
 * Speaks HTTP/1.0 over a socket of its own: `fetch` obeys HTTP_PROXY for 127.0.0.1 too, and would ask the proxy.
 */
export function probeModels(port: number): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const socket = connect({ host: '127.0.0.1', port })
    const timer = setTimeout(() => socket.destroy(), probeMsMax)
    socket.on('connect', () => socket.write(`GET /v1/models HTTP/1.0\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\nconnection: close\r\n\r\n`))
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > answerBytesMax || isWhole(Buffer.concat(pieces))) socket.destroy()
    })
    // Nobody listens there, or it left: `close` follows.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(readModelNames(Buffer.concat(pieces).toString()))
    })
  })
}

/** Some servers keep the connection open although asked not to. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(answer.subarray(0, headEnd).toString('latin1'))?.[1]
  return length !== undefined && answer.length >= headEnd + 4 + Number(length)
}

/** The names in an answer; `undefined` for anything that is no list of models, and for another instance of this service, which lists providers with each model. */
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
