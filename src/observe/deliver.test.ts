import { describe, expect, test } from 'bun:test'
import { deliver, type PostAnswer } from './deliver.ts'

describe('a delivery', () => {
  const body = [new Uint8Array(3)]
  const ending = new AbortController().signal
  const isTransient = (status: number) => [429, 502, 503].includes(status)

  /** Sends once, to a receiver that gives these answers, then 200. */
  async function delivered(...answers: readonly (PostAnswer | Error)[]) {
    const waits: number[] = []
    let tries = 0
    const post = async (): Promise<PostAnswer> => {
      const answer = answers[tries++] ?? { status: 200 }
      if (answer instanceof Error) throw answer
      return answer
    }
    const wait = async (ms: number) => void waits.push(ms)
    return { ...(await deliver(body, { post, isTransient, ending, wait, random: () => 0.5 })), waits, tries }
  }

  test('is repeated after transient statuses and lost connections, with waits that double', async () => {
    const lost = new Error('reset')
    const found = await delivered({ status: 503 }, { status: 429 }, lost, { status: 502 })
    expect(found).toEqual({ taken: { status: 200 }, waits: [1_000, 2_000, 4_000, 8_000], tries: 5 })
    expect(await delivered(lost, lost, lost, lost, lost)).toMatchObject({
      reason: 'reset',
      tries: 5,
    })
  })

  test('waits as long as the receiver asks for, up to two minutes', async () => {
    const found = await delivered({ status: 429, waitMs: 7_000 }, { status: 503, waitMs: 86_400_000 })
    expect(found.waits).toEqual([7_000, 120_000])
  })

  test.each([400, 401, 404, 413, 500, 501])('is not repeated after status %d', async (status) => {
    expect(await delivered({ status })).toEqual({ reason: `status ${status}`, waits: [], tries: 1 })
  })
})
