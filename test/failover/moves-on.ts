import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, errorOf, isDone, question, trailOf } from '../client.ts'
import type { Answer } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { authority } from '../fakes/faults/connection.ts'
import { kindsOf, startFault } from '../fakes/faults/fault.ts'
import type { Fault, Origin } from '../fakes/faults/fault.ts'
import { good, goodText } from '../fakes/good.ts'
import { provider, quick, startService } from '../harness.ts'
import type { ServiceUnderTest } from '../harness.ts'

/** A fault, asked for in one way, with a pair of providers of its own. */
interface Case {
  readonly fault: Fault
  readonly stream: boolean
  readonly a: Origin
  readonly b: FaultUpstream
  readonly model: string
}

/** Failures after which the provider may have done the work, although no answer arrived. */
const ambiguousRows: ReadonlySet<number> = new Set([4, 6, 7, 8])

/** Upstreams with endless bodies must not get rid of more than the limit and what sockets buffer. */
const bytesWrittenMax = 64 * 1024 * 1024

/**
 * One test a fault and kind of request: the first provider fails, the client gets the second one's answer and nothing
 * of the first, each was asked as often as promised, and the next request goes to the first again, for order is a
 * promise (failover.md, rule 2).
 */
export function describeMovingOn(title: string, faults: readonly Fault[]): void {
  const cases: Case[] = faults.flatMap((fault) =>
    kindsOf(fault).map((stream) => ({
      fault,
      stream,
      a: startFault(fault),
      b: faultUpstream(good()),
      model: `m-${fault.name}-${stream ? 'stream' : 'plain'}`.toLowerCase(),
    })),
  )
  let service: ServiceUnderTest | undefined

  beforeAll(async () => {
    const providers = cases.flatMap(({ fault, a, b, model }) => [
      provider(`a-${model}`, a.url, [model], { ...quick, ...fault.entry }),
      provider(`b-${model}`, b.url, [model]),
    ])
    service = await startService({ providers }, { trusts: authority })
  })

  afterAll(async () => {
    for (const { a, b } of cases) {
      a.stop()
      b.stop()
    }
    await service?.stop()
  })

  function ask({ model, stream }: Case): Promise<Answer> {
    return chat(service?.url ?? '', question({ model, ...(stream ? { stream } : {}) }))
  }

  describe(title, () => {
    for (const each of cases) {
      const { fault, stream, a, b, model } = each
      test(`row ${fault.row} › ${fault.words} › moves on, ${stream ? 'streaming' : 'plain'}`, async () => {
        const answer = await ask(each)
        expect({
          status: answer.status,
          content: answer.content,
          error: errorOf(answer),
          done: isDone(answer),
        }).toEqual({ status: 200, content: goodText(), error: undefined, done: stream })
        expect(answer.text).not.toContain('never')
        expect(answer.headers.get('x-svc-provider')).toBe(`b-${model}`)
        expect(answer.headers.get('x-svc-attempts')).toBe('2')
        const [first, second] = trailOf(answer)
        expect([first?.name, second?.name, second?.class]).toEqual([`a-${model}`, `b-${model}`, undefined])
        expect([fault.failure, fault.orElse].map(String)).toContain(String(first?.class))
        // Of an answer that could not be used (from row 22 on) it depends on how much of it came.
        if (fault.row < 22)
          expect(Object.keys(first ?? {}).includes('ambiguous')).toBe(
            ambiguousRows.has(fault.row) && first?.class !== 'connect',
          )
        if (fault.status !== undefined) expect(first?.status).toBe(String(fault.status))
        expect({ A: a.hits.length, B: b.hits.length }).toEqual({ A: fault.hits ?? 1, B: 1 })
        const leftAt = a.hits[0]?.leftAt
        // Both upstreams live in this process: it may notice the two events in either order, but not far apart.
        if (leftAt !== undefined) expect(leftAt - (b.hits[0]?.at ?? 0)).toBeLessThan(50)
        if ('bytesWritten' in a) expect(a.bytesWritten).toBeLessThan(bytesWrittenMax)

        a.use?.(good({ name: 'healed' }))
        const next = await ask(each)
        expect([next.status, next.content]).toEqual([
          200,
          a.use === undefined ? goodText() : goodText({ name: 'healed' }),
        ])
      })
    }

    test('sends requests that a strict server has nothing to say against', () => {
      expect(cases.flatMap(({ b }) => b.faults)).toEqual([])
      expect(
        cases
          .flatMap(({ b }) => b.hits)
          .map((hit) => `${hit.method} ${hit.path}`)
          .filter((line) => line !== 'POST /v1/chat/completions'),
      ).toEqual([])
    })
  })
}
