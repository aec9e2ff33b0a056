import { afterAll, beforeAll } from 'bun:test'
import OpenAI from 'openai'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from './harness.ts'

/** One model with its own providers: health of one row cannot change another. */
export interface RelayRow {
  readonly model: string
  /** Its first and second provider. The second has another name for the model, a price, and overrides. */
  readonly upstreams: readonly [FaultUpstream, FaultUpstream]
  /** Number of requests at each. */
  hits(): readonly number[]
}

/** An answer of the service. */
export interface Relayed {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly bytes: Uint8Array
  /** The provider that answered: `a` or `b`. */
  readonly by: string | undefined
}

/** One service with many {@link RelayRow}s, and the built-in echo. */
export interface RelayRig {
  readonly service: ServiceUnderTest
  readonly client: OpenAI
  /** The next unused row, with these scripts. */
  row(first: Script, second?: Script): RelayRow
  /** Posts text, JSON, or a form. */
  post(path: string, body: string | object, headers?: Readonly<Record<string, string>>): Promise<Relayed>
  /** The record that the service keeps of a request. */
  recordOf(answer: { readonly headers: Headers }): Promise<unknown>
}

/** Starts a rig before the tests of a file, and stops it after them. */
export function relayRig(
  rowCount: number,
  fields: Readonly<Record<string, unknown>> = {},
  more: Omit<ServiceConfig, 'providers'> = {},
): RelayRig {
  let service: ServiceUnderTest | undefined
  const left = Array.from({ length: rowCount }, (_, index): RelayRow => {
    const upstreams = [faultUpstream(), faultUpstream()] as const
    return { model: `m${index}`, upstreams, hits: () => upstreams.map(({ hits }) => hits.length) }
  })
  const all = left.flatMap(({ upstreams }) => upstreams)

  beforeAll(async () => {
    service = await startService({
      providers: [
        ...left.flatMap(({ model, upstreams: [first, second] }) => [
          provider(`a-${model}`, first.url, [model], fields),
          provider(`b-${model}`, `${second.url}/deep`, [], {
            models: [{ name: model, upstream: `vendor/${model}`, price: { input: 1, output: 2 } }],
            overrides: { temperature: 0.5, user: 'svc' },
            ...fields,
          }),
        ]),
        { id: 'echo', protocol: 'echo', models: ['echo'] },
      ],
      ...more,
    })
  })
  afterAll(async () => {
    for (const upstream of all) upstream.stop()
    await service?.stop()
  })

  function started(): ServiceUnderTest {
    if (service === undefined) throw new Error('the service is not started')
    return service
  }

  return {
    get service() {
      return started()
    },
    get client() {
      return new OpenAI({ baseURL: `${started().url}/v1`, apiKey: 'any', maxRetries: 0 })
    },
    row(first, second = status(500)) {
      const next = left.pop()
      if (next === undefined) throw new Error('no row is left')
      next.upstreams[0].use(first)
      next.upstreams[1].use(second)
      return next
    },
    post: (path, body, headers) => postTo(`${started().url}${path}`, body, headers),
    recordOf: async ({ headers }) =>
      (await fetch(`${started().url}/api/requests/${headers.get('x-request-id')}`)).json(),
  }
}

/** Posts text, JSON, bytes or a form. */
export async function postTo(
  url: string,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Relayed> {
  const isReady = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
  const response = await fetch(url, { method: 'POST', body: isReady ? body : JSON.stringify(body), headers })
  const by = response.headers.get('x-svc-provider')?.charAt(0)
  const bytes = await response.bytes()
  return { status: response.status, headers: response.headers, text: new TextDecoder().decode(bytes), bytes, by }
}

/** The code of an error. */
export function codeOf(answer: { readonly text: string }): unknown {
  return pick(parseJson(answer.text), 'error', 'code')
}

/** Header names of the last request at an upstream. */
export function headerNames({ hits }: FaultUpstream): readonly string[] {
  return [...(hits.at(-1)?.headers.keys() ?? [])].toSorted()
}

/** Answers with this text, or JSON, in a whole. */
export function answers(value: unknown): Script {
  return (exchange) => exchange.write(reply(200, typeof value === 'string' ? value : JSON.stringify(value)))
}

/** Answers with these pieces of an event stream. */
export function streams(...pieces: readonly string[]): Script {
  return (exchange) =>
    exchange.write(Buffer.concat([Buffer.from(streamHead), ...pieces.map((each) => framed(each)), lastChunk]))
}
