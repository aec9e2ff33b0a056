import { describe, expect, test } from 'bun:test'
import { requestRecord } from './request-record.ts'
import { apiError } from './testing.ts'

const record = { time: 0, id: 'r', model: 'm', api: 'chat', stream: true, status: 200, trail: [], totalMs: 1 }

/** A client that fails with these errors in order, then returns the record. Also returns the waits between. */
function ask(moment: 'afterEnd' | 'afterStop', ...errors: readonly Error[]) {
  const left = [...errors]
  const waits: number[] = []
  const found = requestRecord(
    {
      get: <Answer>(): Promise<Answer> => {
        const error = left.shift()
        return error === undefined ? new Response(JSON.stringify(record)).json() : Promise.reject(error)
      },
    },
    'r',
    moment,
    async (ms) => void waits.push(ms),
  )
  return { found, waits }
}

const missing = (): Error => apiError(404, 'not_found')

describe('requestRecord', () => {
  test('asks at once after an end, and again later if there is no record yet', async () => {
    const { found, waits } = ask('afterEnd', missing(), missing())
    expect(await found).toEqual(record)
    expect(waits).toEqual([300, 1_500])
  })

  test('waits first after a stop', async () => {
    const { found, waits } = ask('afterStop')
    expect(await found).toEqual(record)
    expect(waits).toEqual([300])
  })

  test('gives up after the last attempt', async () => {
    expect(await ask('afterEnd', missing(), missing(), missing()).found).toBeUndefined()
  })

  test('does not ask again when that would not help', async () => {
    const { found, waits } = ask('afterEnd', apiError(403, 'host_not_allowed'))
    expect(await found).toBeUndefined()
    expect(waits).toEqual([])
  })
})
