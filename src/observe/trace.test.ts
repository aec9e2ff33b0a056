import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isInShare, parseTrace, Traces } from './trace.ts'

const id = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const traceparent = `00-${id}-${parentId}-01`
const target = { system: 'openai', address: 'api.openai.com', port: 443 }

function headersOf(given: Readonly<Record<string, string>>): Headers {
  return new Headers(given)
}

describe('the trace of a caller', () => {
  test('is read with its flag and state', () => {
    const tracestate = 'congo=t61rcWkgMzE , rojo@vendor=00f067aa0ba902b7,'
    expect(parseTrace(headersOf({ traceparent, tracestate }))).toEqual({
      ...{ id, parentId, isSampled: true },
      state: 'congo=t61rcWkgMzE,rojo@vendor=00f067aa0ba902b7',
    })
    expect(parseTrace(headersOf({ traceparent: traceparent.replace(/01$/, '02') }))?.isSampled).toBe(false)
  })

  test.each([
    '',
    traceparent.toUpperCase(),
    traceparent.replace(/^00/, '01'),
    traceparent.replace(/^00/, 'ff'),
    `${traceparent}-00`,
    `${traceparent}, ${traceparent}`,
    traceparent.slice(0, -1),
    traceparent.replace(id, '0'.repeat(32)),
    traceparent.replace(parentId, '0'.repeat(16)),
    traceparent.replace('b7', 'g7'),
  ])('is none with the traceparent %p', (faulty) => {
    expect(parseTrace(headersOf({ traceparent: faulty, tracestate: 'a=1' }))).toBeUndefined()
  })

  test.each(['a', 'a=1,a=2', 'A=1', 'a=1=2', 'a= ', `a=${'x'.repeat(257)}`, 'a=ü', Array(33).fill('x=1').join()])(
    'is kept without the tracestate %p',
    (tracestate) => {
      expect(parseTrace({ get: (name) => (name === 'traceparent' ? traceparent : tracestate) })?.state).toBeUndefined()
    },
  )

  test('has ids and a state of their form, or is none, for headers of every kind', () => {
    const header = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9a-f-]{50,60}$/))
    fc.assert(
      fc.property(header, header, fc.boolean(), (parent, state, isWhole) => {
        const trace = parseTrace({ get: (name) => (name === 'tracestate' ? state : isWhole ? traceparent : parent) })
        if (trace === undefined) return
        expect(`${trace.id} ${trace.parentId}`).toMatch(/^[0-9a-f]{32} [0-9a-f]{16}$/)
        expect(trace.state ?? 'a').toMatch(/^[\x20-\x7e]{1,512}$/)
      }),
    )
  })
})

describe('traces', () => {
  const always = { followsCaller: true, share: 1 }

  test('have ids of their own without a caller’s, and tell upstreams of the attempt', () => {
    const trace = new Traces({ sampler: always, hasOwn: true }).begin(headersOf({}), 0, true)
    expect(trace?.facts).toMatchObject({ isSampled: true, id: expect.stringMatching(/^[0-9a-f]{32}$/) })
    const { id: span = '' } = trace?.begin(target) ?? {}
    expect(trace?.headers).toBe(`traceparent: 00-${trace?.facts.id}-${span}-01\r\n`)
    expect(trace?.begin(target).id).not.toBe(span)
  })

  test('follow the flag of a trusted caller only', () => {
    const headers = headersOf({ traceparent: traceparent.replace(/01$/, '00') })
    const traces = new Traces({ sampler: always, hasOwn: true })
    expect(traces.begin(headers, 0, true)?.facts.isSampled).toBe(false)
    expect(traces.begin(headers, 0, false)?.facts.isSampled).toBe(true)
    const never = new Traces({ sampler: { followsCaller: false, share: 0 }, hasOwn: true })
    expect(never.begin(headersOf({ traceparent }), 0, true)?.facts.isSampled).toBe(false)
  })

  test('without an exporter pass on those of callers, and are none without one', () => {
    const traces = new Traces({ hasOwn: false })
    const trace = traces.begin(headersOf({ traceparent, tracestate: 'a=1' }), 0, true)
    trace?.begin(target)
    expect(trace?.headers).toBe(`traceparent: ${traceparent}\r\ntracestate: a=1\r\n`)
    expect(trace?.facts).toEqual({ id, isSampled: false })
    expect(traces.begin(headersOf({}), 0, true)).toBeUndefined()
  })

  test('of a share are about that share of all, and the same for every program', () => {
    const ids = Array.from({ length: 4_000 }, () => crypto.randomUUID().replaceAll('-', ''))
    const chosen = ids.filter((each) => isInShare(each, 0.25))
    expect(chosen.length / ids.length).toBeCloseTo(0.25, 1)
    expect(chosen.every((each) => isInShare(each, 0.5))).toBe(true)
    expect(isInShare(`${'0'.repeat(18)}${'f'.repeat(14)}`, 0.000001)).toBe(true)
    expect(ids.some((each) => isInShare(each, 0))).toBe(false)
  })
})
