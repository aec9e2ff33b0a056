import { parseJson } from '../client.ts'
import type { Person, Tab } from '../fakes/chromium.ts'
import { faultUpstream, type Exchange, type FaultUpstream, type Script } from '../fakes/fault-upstream.ts'
import { isStream } from '../fakes/good.ts'
import { chunk, completion, done, errorReply, event, framed, lastChunk, reply, streamHead } from '../fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'
import { complaintsOf } from './complaints.ts'
import { hostileNames } from './hostile.ts'

/**
 * A service whose providers are hostile, and a server of another origin that nobody has a reason to ask. `await using`
 * stops it all.
 */
export interface HostileRig extends AsyncDisposable {
  readonly service: ServiceUnderTest
  /** Provider `a`: lists model `m` and others with hostile names. */
  readonly upstream: FaultUpstream
  /** The origin that is not to be asked. */
  readonly decoy: string
  /** What a hostile text has brought about in a tab. {@link noHarm}, when all is well. */
  harm(person: Person, tab: Tab): Promise<unknown>
}

/**
 * Nothing has run, nothing was loaded or asked from elsewhere, nobody has left the page, and no policy had to forbid
 * anything.
 */
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

/** What provider `b`, which serves model `broken`, says whenever it is asked. */
export const hostileError =
  'Failed <img src=x onerror="window.hostileRan=1"> \u202Edesrever [link](javascript:alert(1))'

/** Starts it. */
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
  elements: [...document.body.querySelectorAll('script, style, link, meta, base, iframe, object, embed, math, foreignObject, video, audio, source')].map(({ outerHTML }) => outerHTML.slice(0, 200)),
  pictures: [...document.images].map(({ src }) => src).filter((source) => !source.startsWith('data:image/png;base64,')),
  handlers: [...document.querySelectorAll('*')].flatMap(({ attributes }) => [...attributes].map(({ name }) => name).filter((name) => name.startsWith('on'))),
  links: [...document.links].filter(({ protocol, origin, rel }) => !/^https?:$/.test(protocol) || (origin !== location.origin && rel !== 'noreferrer noopener')).map(({ href }) => href),
  origins: performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !name.startsWith(location.origin + '/')),
}`

/** What {@link saying} may be told. */
export interface SayingOptions {
  readonly decoy: string
  /** Added to the message. */
  readonly more?: object
  /** Characters of an event of a stream. Default 13. */
  readonly pieceLength?: number
}

/** Answers every question with this, streamed in pieces or whole as it is asked. */
export function saying(text: string, { decoy, more = {}, pieceLength = 13 }: SayingOptions): Script {
  return async (exchange) => {
    if (exchange.hit.method === 'GET') return listModels(exchange, decoy)
    if (!isStream(exchange)) return exchange.write(reply(200, JSON.stringify(completion(text, { message: more }))))
    const pieces = Array.from({ length: Math.ceil(text.length / pieceLength) }, (_, index) =>
      text.slice(index * pieceLength, (index + 1) * pieceLength),
    )
    return streamAll(exchange, [
      event(chunk({ role: 'assistant', ...more })),
      ...pieces.map((content) => event(chunk({ content }))),
      event(chunk({}, 'stop')) + done,
    ])
  }
}

/** Answers every question with these events. */
export function streaming(events: readonly string[], decoy: string): Script {
  return (exchange) => (exchange.hit.method === 'GET' ? listModels(exchange, decoy) : streamAll(exchange, events))
}

async function streamAll(exchange: Exchange, events: readonly string[]): Promise<void> {
  await exchange.write(streamHead)
  for (const each of events) await exchange.write(framed(each))
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

/** An expression: whether words of an element stand from left to right, whatever stands around them. */
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
