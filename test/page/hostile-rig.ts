import { parseJson } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { isStream } from '../fakes/good.ts'
import { chunk, completion, done, errorReply, event, framed, lastChunk, reply, streamHead } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { hostileNames } from './hostile.ts'

/**
 * A service with hostile providers, and a server of another origin that must get no request. `await using` stops all of
 * it.
 */
export interface HostileRig extends AsyncDisposable {
  readonly service: ServiceUnderTest
  /** Provider `a`: lists model `m` and others with hostile names. */
  readonly upstream: FaultUpstream
  /** The origin that must get no request. */
  readonly decoy: string
  /** Effects of a hostile text in a tab. Expected: {@link noHarm}. */
  harm(person: Person, tab: Tab): Promise<unknown>
}

/** No script has run, no request went to another origin, the page is the same, and no policy was violated. */
export const noHarm = {
  ran: 0,
  elements: [],
  pictures: [],
  handlers: [],
  links: [],
  origins: [],
  asked: [],
  complaints: [],
  connections: 0,
  isThere: true,
}

/** Error message of provider `b`, which serves model `broken`. */
export const hostileError =
  'Failed <img src=x onerror="window.hostileRan=1"> \u202Edesrever [link](javascript:alert(1))'

/** Starts the service, its providers and the other origin. */
export async function startHostile(): Promise<HostileRig> {
  let connections = 0
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open() {
        connections++
      },
      data(socket) {
        socket.end()
      },
    },
  })
  const decoy = `http://127.0.0.1:${listener.port}`
  const upstream = faultUpstream(saying('Nothing yet', { decoy }))
  const broken = faultUpstream((exchange) =>
    exchange.write(
      errorReply(500, { message: hostileError }, { 'x-request-id': '<img src=x onerror=window.hostileRan=1>' }),
    ),
  )
  const service = await startService({
    providers: [provider('a', upstream.url, [], { models: '*' }), provider('b', broken.url, ['broken'])],
  })
  const isOwn = (address: string): boolean => address.startsWith(`${service.url}/`)

  return {
    service,
    upstream,
    decoy,
    async harm(person, tab) {
      const found = parseJson(String(await tab.evaluate(`JSON.stringify(${inPage})`)))
      return {
        ...(typeof found === 'object' ? found : { found }),
        asked: (await person.asked()).filter((address) => !isOwn(address)),
        complaints: await complaintsOf(tab),
        connections,
        isThere: /^\/(?:#\/|$)/.test((await tab.url()).slice(service.url.length)),
      }
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      for (const each of [upstream, broken]) each.stop()
      listener.stop(true)
    },
  }
}

const inPage = `{
  ran: window.hostileRan ?? 0,
  elements: [...document.body.querySelectorAll(
    'script, style, link, meta, base, iframe, object, embed, foreignObject, video, audio, source, ' +
    'math :is(a, img, maction, semantics, annotation-xml, [href], [src], [id], [style*="url"], [style*="position"])',
  )].map(({ outerHTML }) => outerHTML.slice(0, 200)),
  pictures: [...document.images].map(({ src }) => src).filter((source) => !source.startsWith('data:image/png;base64,')),
  handlers: [...document.querySelectorAll('*')].flatMap(({ attributes }) =>
    [...attributes].map(({ name }) => name).filter((name) => name.startsWith('on'))),
  links: [...document.links].filter(({ protocol, origin, rel }) =>
    !/^https?:$/.test(protocol) || (origin !== location.origin && rel !== 'noreferrer noopener'),
  ).map(({ href }) => href),
  origins: performance.getEntriesByType('resource').map(({ name }) => name)
    .filter((name) => !name.startsWith(location.origin + '/')),
}`

/** Options of {@link saying}. */
export interface SayingOptions {
  readonly decoy: string
  /** Additional members of the message. */
  readonly more?: object
  /** Characters of an event of a stream. Default 13. */
  readonly pieceLength?: number
  /** Events of a stream instead of the text; a promise delays those after it. */
  readonly pieces?: readonly (string | Promise<void> | undefined)[]
}

/** Answers every request with this text, streamed in pieces or plain. */
export function saying(text: string, { decoy, more = {}, pieceLength = 13, pieces }: SayingOptions): Script {
  return async (exchange) => {
    if (exchange.hit.method === 'GET') return listModels(exchange, decoy)
    if (!isStream(exchange)) return exchange.write(reply(200, JSON.stringify(completion(text, { message: more }))))
    const parts =
      pieces ??
      Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, index) =>
        text.slice(index * pieceLength, (index + 1) * pieceLength),
      )
    return streamAll(exchange, [
      event(chunk({ role: 'assistant', ...more })),
      ...parts.map((part) => (typeof part === 'string' ? event(chunk({ content: part })) : part)),
      event(chunk({}, 'stop')) + done,
    ])
  }
}

/** Answers every request with these events. */
export function streaming(events: readonly string[], decoy: string): Script {
  return (exchange) => (exchange.hit.method === 'GET' ? listModels(exchange, decoy) : streamAll(exchange, events))
}

async function streamAll(exchange: Exchange, events: readonly (string | Promise<void> | undefined)[]): Promise<void> {
  await exchange.write(streamHead)
  for (const each of events) {
    if (typeof each === 'string') await exchange.write(framed(each))
    else await each
  }
  await exchange.write(lastChunk)
}

function listModels(exchange: Exchange, decoy: string): Promise<void> {
  return exchange.write(
    reply(
      200,
      JSON.stringify({ object: 'list', data: ['m', ...hostileNames(decoy)].map((id) => ({ id, object: 'model' })) }),
    ),
  )
}

/** Expression: whether words of an element are laid out from left to right, with any text around them. */
export function standsInOrder(selector: string, words: string): string {
  return `(() => {
    const walker = document.createTreeWalker(document.querySelector(${JSON.stringify(selector)}), NodeFilter.SHOW_TEXT)
    const leftOf = (node, offset) => {
      const range = new Range()
      range.setStart(node, offset)
      range.setEnd(node, offset + 1)
      return range.getBoundingClientRect().left
    }
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const at = node.data.indexOf(${JSON.stringify(words)})
      if (at !== -1) return leftOf(node, at) < leftOf(node, at + ${words.length - 1})
    }
    return 'not found'
  })()`
}
