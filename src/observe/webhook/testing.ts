import { createHmac } from 'node:crypto'
import { isRecord } from '../../base/json-value.ts'

/** A secret for tests: 32 bytes in base64. */
export const testedSecret = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')

export interface TestedReceiver {
  readonly messages: Record<string, unknown>[]
  readonly ids: string[]
  readonly times: number[]
  /** Checks a message as Standard Webhooks say. @throws {Error} for one that a receiver must refuse */
  take(headers: Headers, body: string): void
}

/** A strict receiver of webhooks. */
export function testedReceiver(secret = testedSecret): TestedReceiver {
  const key = Buffer.from(secret, 'base64')
  const messages: Record<string, unknown>[] = []
  const ids: string[] = []
  const times: number[] = []
  return {
    messages,
    ids,
    times,
    take(headers, body) {
      const id = headers.get('webhook-id') ?? ''
      const time = headers.get('webhook-timestamp') ?? ''
      if (!/^[\w-]{1,64}$/.test(id)) throw new Error(`a bad webhook-id: ${id}`)
      if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1_000 - Number(time)) > 300) throw new Error('a bad time')
      const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
      if (headers.get('webhook-signature') !== `v1,${signature}`) throw new Error('a bad signature')
      if (headers.get('content-type') !== 'application/json' || body.length > 4_096) throw new Error('a bad body')
      const message: unknown = JSON.parse(body)
      if (!isRecord(message)) throw new Error('no object')
      messages.push(message)
      ids.push(id)
      times.push(Number(time))
    },
  }
}
