import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, errorOf, isDone, question, trailOf, type Answer } from '../client.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { authority } from '../fakes/faults/connection.ts'
import { kindsOf, startFault, type Fault, type Origin } from '../fakes/faults/fault.ts'
import { good, goodText } from '../fakes/good.ts'
import { provider, quick, startService, type ServiceUnderTest } from '../harness.ts'

/** A fault and a kind of request, with its own pair of providers. */
interface Case {
  readonly fault: Fault
  readonly stream: boolean
  readonly a: Origin
  readonly b: FaultUpstream
  readonly model: string
}

/** Failures after which the provider may have done the work, although no answer arrived. */
const ambiguousRows: ReadonlySet<number> = new Set([4, 6, 7, 8])

/** Limit for upstreams with endless bodies: the limit of an answer plus buffers of sockets. */
const bytesWrittenMax = 64 * 1024 * 1024

/**
 * Defines a test for each fault and kind of request. The first provider fails; the client gets only the answer of the
 * second. Each gets the promised number of requests. The next request goes to the first again (failover.md, rule 2).
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
        expect([first?.['name'], second?.['name'], second?.['class']]).toEqual([`a-${model}`, `b-${model}`, undefined])
        expect([fault.failure, fault.orElse].map(String)).toContain(String(first?.['class']))
        // From row 22 on it depends on the received part of the answer.
        if (fault.row < 22)
          expect(Object.keys(first ?? {}).includes('ambiguous')).toBe(
            ambiguousRows.has(fault.row) && first?.['class'] !== 'connect',
          )
        if (fault.status !== undefined) expect(first?.['status']).toBe(String(fault.status))
        expect({ A: a.hits.length, B: b.hits.length }).toEqual({ A: fault.hits ?? 1, B: 1 })
        const leftAt = a.hits[0]?.leftAt
        // Both upstreams are in this process, which may see the two events in either order.
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

    test('sends requests that a strict server accepts', () => {
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
